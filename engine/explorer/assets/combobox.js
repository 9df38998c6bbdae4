/** Suggests rows while the name of a reference is typed, and stored values of a text (the ARIA pattern of a combobox with a list). */

const pause = 150

/** Where a reference shows the id of the row that its name stands for; undefined for other inputs. */
const pickedElement = (input) => input.parentElement.querySelector('.picked')

const fetchOptions = async (input, text, signal) => {
  const url = new URL(input.dataset.choices, location.href)
  url.searchParams.set('q', text)
  const response = await fetch(url, { signal })
  if (!response.ok) return undefined
  const page = new DOMParser().parseFromString(`<ul>${await response.text()}</ul>`, 'text/html')
  return [...page.querySelectorAll('li')]
}

/** Gives a control a value; a reference shows the label of the row. */
export const setValue = (input, value, label) => {
  const picked = pickedElement(input)
  if (input.type === 'checkbox') input.checked = value === 'true'
  else input.value = picked ? (label ?? '') : value
  if (picked) {
    if (label === undefined) delete input.dataset.id
    else input.dataset.id = value
    picked.textContent = label === undefined ? '' : `#${value}`
  }
  input.dispatchEvent(new Event('change', { bubbles: true }))
}

const choose = (input, { value, label }) => setValue(input, value, label)

/** Of rows that were found by a text: the one whose id it is, or the only one. */
const meant = (text, options) => {
  const rows = options.filter(({ dataset }) => dataset.value !== undefined)
  const byId = rows.find(({ dataset }) => dataset.value === text)
  return byId ?? (rows.length === 1 && /\D/.test(text) ? rows[0] : undefined)
}

/** Shows which row a name stands for that was typed and not chosen. */
const settle = async (input, text) => {
  const row = meant(text, (await fetchOptions(input, text).catch(() => undefined)) ?? [])
  if (row && input.value.trim() === text && input.dataset.id === undefined) choose(input, row.dataset)
}

const makeCombobox = (input) => {
  const id = `${input.id}-choices`
  const properties = { id, role: 'listbox', ariaLabel: 'Suggestions', hidden: true }
  const list = Object.assign(document.createElement('ul'), properties)
  input.after(list)
  const picked = pickedElement(input)
  Object.assign(input, { role: 'combobox', ariaAutoComplete: 'list', ariaExpanded: 'false' })
  input.setAttribute('aria-controls', id)
  let request
  let timer
  /** The text that the options were found by. */
  let asked

  const options = () => [...list.querySelectorAll('[data-value], [data-create]')]
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
  const take = ({ dataset }) => {
    close()
    if (dataset.create) {
      const detail = { url: dataset.create, noun: input.dataset.noun }
      input.dispatchEvent(new CustomEvent('createrow', { bubbles: true, detail }))
      return
    }
    choose(input, dataset)
    if (input.dataset.choose === 'submit') input.form.requestSubmit()
  }
  /** The last option, where the person may create a row of the other table. */
  const createOption = () => {
    const { new: url, noun } = input.dataset
    if (!url) return []
    const option = Object.assign(document.createElement('li'), { role: 'option', textContent: `New ${noun} …` })
    option.ariaSelected = 'false'
    option.dataset.create = url
    option.className = 'create'
    return [option]
  }
  const ask = async () => {
    request?.abort()
    request = new AbortController()
    try {
      const text = input.value
      const found = await fetchOptions(input, text, request.signal)
      if (!found) return close()
      list.replaceChildren(...found, ...createOption())
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
    if (picked) {
      picked.textContent = ''
      delete input.dataset.id
    }
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
      take(active())
    } else if (event.key === 'Escape' && !list.hidden) {
      event.stopPropagation()
      event.preventDefault()
      asked = undefined
      close()
    }
  })
  input.addEventListener('blur', () => {
    const text = input.value.trim()
    const row = picked && input.dataset.id === undefined && asked === input.value ? meant(text, options()) : undefined
    close()
    // There is room for the id already: nothing may move under a mouse that is pressed.
    if (row) choose(input, row.dataset)
    else if (picked && text !== '' && input.dataset.id === undefined) settle(input, text)
  })
  // Before the input loses its focus, which closes the list.
  list.addEventListener('mousedown', (event) => {
    event.preventDefault()
    const option = event.target.closest('[data-value], [data-create]')
    if (option) take(option)
  })
}

export const comboboxes = (root) => {
  for (const input of root.querySelectorAll('[data-choices]')) makeCombobox(input)
}
