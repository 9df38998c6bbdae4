/** Selects rows of a table: one, a range with shift, all of the page, or all that match. */

const boxesOf = () => [...document.querySelectorAll('tbody input[form="chosen"]')]

const grouped = (count) => String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',')

const show = (form) => {
  const boxes = boxesOf()
  const total = Number(form.getAttribute('data-total'))
  const checked = boxes.filter((box) => box.checked).length
  const all = form.querySelector('.all-matches')
  const isWhole = checked === boxes.length && checked > 0
  all.hidden = !(isWhole && total > boxes.length)
  if (all.hidden) all.querySelector('input').checked = false
  const count = all.querySelector('input').checked ? total : checked
  const rows = `${grouped(count)} ${count === 1 ? 'row' : 'rows'}`
  form.classList.toggle('active', count > 0)
  form.querySelector('.selected-count').textContent = count > 0 ? `${rows} selected` : ''
  for (const button of form.querySelectorAll('[data-verb]')) button.textContent = `${button.dataset.verb} ${rows}`
  form.querySelector('.clear-selection').hidden = count === 0
  for (const box of boxes) box.closest('tr').classList.toggle('selected', box.checked)
  const page = document.querySelector('.all-rows')
  if (page) Object.assign(page, { checked: isWhole, indeterminate: checked > 0 && !isWhole })
}

export const selection = (root) => {
  const form = root.querySelector('#chosen')
  if (!form) return
  const boxes = boxesOf()
  const page = document.querySelector('.all-rows')
  const setAll = (checked) => {
    for (const box of boxesOf()) box.checked = checked
    show(form)
  }
  let last
  if (page) page.hidden = false
  page?.addEventListener('change', () => setAll(page.checked))
  form.querySelector('.clear-selection').addEventListener('click', () => setAll(false))
  form.addEventListener('change', () => show(form))
  for (const box of boxes)
    box.addEventListener('click', (event) => {
      const now = boxesOf()
      const ends = [now.indexOf(last), now.indexOf(box)].sort((a, b) => a - b)
      if (event.shiftKey && last) for (const other of now.slice(ends[0], ends[1] + 1)) other.checked = box.checked
      last = box
      show(form)
    })
  // A browser that comes back to the page has checked them again.
  show(form)
}
