/** Edits a cell of a table in place: its control, with the issues of its field and what somebody else has changed. */
import { changedHere } from './changes.js'
import { formWithin } from './form.js'
import { bindUndo, toast } from './messages.js'
import { cancelLoad, fetchAgain, guard } from './navigate.js'

const cellsIn = (row) => [...row.querySelectorAll('[data-field]')]

/** Only one cell of a table is a stop of the tab key; arrows lead to the others. */
const focusCell = (cell) => {
  for (const other of cell.closest('table').querySelectorAll('[data-field][tabindex="0"]')) other.tabIndex = -1
  cell.tabIndex = 0
  cell.focus()
}

const selectorOf = (cell) => {
  const row = `tr[data-row="${CSS.escape(cell.closest('tr').dataset.row)}"]`
  return { row, cell: `${row} [data-field="${CSS.escape(cell.dataset.field)}"]` }
}

const unsaved = new Set()

/** Shows a row as it is now, apart from cells that are being edited. Resolves with what a person should know of it. */
const refreshRow = async (selector) => {
  const own = document.querySelector(selector)?.dataset.row
  if (own) changedHere(own)
  const page = await fetchAgain()
  const old = document.querySelector(selector)
  if (!old) return ''
  for (const part of ['.summary', 'tfoot']) {
    const now = page.querySelector(`#results ${part}`)
    if (now) document.querySelector(`#results ${part}`)?.replaceWith(now)
  }
  const among = page.querySelector(selector)
  // Beyond the filters or on another page: it stays in sight, as it is stored.
  const fresh = among ?? (await fetchAgain(`${old.dataset.row}/cells${location.search}`)).querySelector(selector)
  old.classList.toggle('unfit', !among)
  if (!fresh) return 'You can no longer see the row.'
  for (const [n, cell] of [...fresh.cells].entries()) {
    const before = old.cells[n]
    if (!before || before.ariaBusy || before.classList.contains('editing') || before.classList.contains('id')) continue
    if (cell.dataset.field) cell.tabIndex = before.tabIndex
    before.replaceWith(cell)
  }
  return among ? '' : 'The row no longer fits what is shown, and stays here until you load the page again.'
}

const onFormKey = (event, form, leave) => {
  event.stopPropagation()
  if (event.defaultPrevented) return
  if (event.key === 'Escape') return leave()
  // Shift and Enter begin a line of a long text.
  const isField = event.target.matches('select, textarea')
  if (event.key !== 'Enter' || event.shiftKey || !isField) return
  event.preventDefault()
  form.requestSubmit()
}

/** Puts the control of a cell in its place. */
const editCell = async (cell) => {
  if (cell.querySelector('form') || cell.ariaBusy) return
  const { row, cell: own } = selectorOf(cell)
  const before = [...cell.childNodes]
  const leave = () => {
    unsaved.delete(cell)
    cell.replaceChildren(...before)
    cell.classList.remove('editing')
    focusCell(cell)
  }
  const show = async () => {
    const isFocused = document.activeElement === document.querySelector(own)
    const note = await refreshRow(row).catch(() => 'Load the page again to see it.')
    const now = document.querySelector(own)
    if (isFocused && now) focusCell(now)
    return note
  }
  cell.ariaBusy = 'true'
  const url = `${cell.closest('tr').dataset.row}/edit?field=${encodeURIComponent(cell.dataset.field)}`
  const reason = await formWithin(url, {
    put(form) {
      form.classList.add('cell-form')
      cell.classList.add('editing')
      cell.replaceChildren(form)
      form.addEventListener('input', () => unsaved.add(cell))
      form.addEventListener('keydown', (event) => onFormKey(event, form, leave))
      form.querySelector('.actions .button')?.addEventListener('click', (event) => {
        event.preventDefault()
        event.stopPropagation()
        leave()
      })
    },
    async finish(done) {
      leave()
      const undo = done.querySelector('.undo') ?? ''
      toast(`Saved. ${await show()}`.trim(), ' ', undo)
      bindUndo(document.querySelector('.toast'), show)
    },
  })
  cell.removeAttribute('aria-busy')
  if (reason) return toast(reason)
  cell.querySelector('select, input:not([type=hidden]), textarea')?.select?.()
  cell.querySelector('form').scrollIntoView({ block: 'nearest', inline: 'nearest' })
  guard(() => [...unsaved].some((one) => one.isConnected))
}

const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }

const neighbour = (cell, [down, right]) => {
  const rows = [...cell.closest('tbody').rows]
  const row = rows[rows.indexOf(cell.closest('tr')) + down]
  return row && cellsIn(row)[cellsIn(cell.closest('tr')).indexOf(cell) + right]
}

document.addEventListener('dblclick', (event) => {
  const cell = event.target.closest('[data-field]')
  if (!cell || event.target.closest('form')) return
  cancelLoad()
  getSelection()?.removeAllRanges()
  editCell(cell)
})

document.addEventListener('keydown', (event) => {
  const cell = event.target
  if (!cell.matches?.('[data-field]') || event.altKey || event.ctrlKey || event.metaKey) return
  if (event.key === 'Enter' || event.key === 'F2') {
    event.preventDefault()
    editCell(cell)
  }
  const next = steps[event.key] && neighbour(cell, steps[event.key])
  if (steps[event.key]) event.preventDefault()
  if (next) focusCell(next)
})

export const editableCells = (root) => {
  for (const hint of root.querySelectorAll('.hint')) hint.hidden = false
  const cells = [...root.querySelectorAll('[data-field]')]
  for (const [n, cell] of cells.entries()) cell.tabIndex = n === 0 && root.localName !== 'tr' ? 0 : -1
}
