/** Suggests rows while the name of a reference is typed, and stored values of a text (the ARIA pattern of a combobox with a list). */

const pause = 150

const makeCombobox = (input) => {
  const id = `${input.id}-choices`
  const properties = { id, role: 'listbox', ariaLabel: 'Suggestions', hidden: true }
  const list = Object.assign(document.createElement('ul'), properties)
  input.after(list)
  const picked = input.parentElement.querySelector('.picked')
  Object.assign(input, { role: 'combobox', ariaAutoComplete: 'list', ariaExpanded: 'false' })
  input.setAttribute('aria-controls', id)
  let request
  let timer
  /** The text that the options were found by. */
  let asked

  const options = () => [...list.querySelectorAll('[data-value]')]
  const active = () => list.querySelector('[aria-selected="true"]')
  const close = () => {
    clearTimeout(timer)
    request?.abort()
    list.hidden = true
    input.ariaExpanded = 'false'
    input.removeAttribute('aria-activedescendant')
  }
  const activate = (option) => {
    active()?.setAttribute('aria-selected', 'false')
    option?.setAttribute('aria-selected', 'true')
    option?.scrollIntoView({ block: 'nearest' })
    if (option) input.setAttribute('aria-activedescendant', option.id)
  }
  const choose = (option) => {
    input.value = option.dataset.value
    if (picked) picked.textContent = option.dataset.label
    close()
    input.dispatchEvent(new Event('change', { bubbles: true }))
    if (input.dataset.choose === 'submit') input.form.requestSubmit()
  }
  const ask = async () => {
    request?.abort()
    request = new AbortController()
    try {
      const text = input.value
      const url = new URL(input.dataset.choices, location.href)
      url.searchParams.set('q', text)
      const response = await fetch(url, { signal: request.signal })
      if (!response.ok) return close()
      const page = new DOMParser().parseFromString(`<ul>${await response.text()}</ul>`, 'text/html')
      list.replaceChildren(...page.querySelectorAll('li'))
      asked = text
      for (const [n, option] of options().entries()) option.id = `${id}-${n}`
      list.hidden = list.children.length === 0
      input.ariaExpanded = String(!list.hidden)
    } catch (error) {
      if (error.name !== 'AbortError') close()
    }
  }
  const step = (by) => {
    const all = options()
    const at = all.indexOf(active())
    activate(all[(at + by + all.length) % all.length] ?? all[by > 0 ? 0 : all.length - 1])
  }

  input.addEventListener('input', () => {
    clearTimeout(timer)
    if (picked) picked.textContent = ''
    timer = setTimeout(ask, pause)
  })
  // Values are few, so they are offered before a letter is typed.
  if (!picked && input.dataset.choose !== 'submit') input.addEventListener('focus', ask)
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      if (list.hidden) ask()
      else step(event.key === 'ArrowDown' ? 1 : -1)
    } else if (event.key === 'Enter' && !list.hidden && active()) {
      event.preventDefault()
      choose(active())
    } else if (event.key === 'Escape') {
      asked = undefined
      close()
    }
  })
  input.addEventListener('blur', () => {
    const all = options()
    // A name that only one row has needs no choice; digits are an id.
    if (picked && all.length === 1 && asked === input.value && /\D/.test(asked)) choose(all[0])
    else close()
  })
  // Before the input loses its focus, which closes the list.
  list.addEventListener('mousedown', (event) => {
    event.preventDefault()
    const option = event.target.closest('[data-value]')
    if (option) choose(option)
  })
}

export const comboboxes = (root) => {
  for (const input of root.querySelectorAll('[data-choices]')) makeCombobox(input)
}
