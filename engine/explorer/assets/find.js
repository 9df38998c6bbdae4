/** The keyboard: the search box of a table, a box that finds anything, and the list of all shortcuts. */
import { element } from './messages.js'
import { pageAt } from './navigate.js'

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)
const findKey = isMac ? '⌘K' : 'Ctrl K'

const shortcuts = [
  ['/', 'Search in this table'],
  [findKey, 'Find anything; / twice does the same'],
  ['Enter', 'Edit the cell of a table, save it, or choose'],
  ['?', 'Show these shortcuts'],
  ['↑ ↓', 'Go through cells, suggestions and what was found'],
  ['Esc', 'Leave a cell as it was, or close'],
]

/** A dialog closes by a click beside it, and by Escape. */
const makeDialog = (label, ...children) => {
  const dialog = element('dialog', { ariaLabel: label }, ...children)
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close()
  })
  document.body.append(dialog)
  return dialog
}

/** How long a pause in typing starts a search, in milliseconds. */
const pause = 150

const makeFinder = (url) => {
  const input = element('input', { type: 'search', className: 'find-box', placeholder: 'Find anything' })
  Object.assign(input, { ariaLabel: 'Find anything', autocomplete: 'off', spellcheck: false })
  const status = element('p', { className: 'note', role: 'status' })
  const place = element('div', { className: 'found' })
  const dialog = makeDialog('Find anything', input, place, status)
  let [request, timer, shown] = []

  const links = () => [...place.querySelectorAll('a')]
  const find = async () => {
    clearTimeout(timer)
    request?.abort()
    request = new AbortController()
    const q = input.value.trim()
    try {
      const query = new URLSearchParams(q ? { q } : {})
      const page = await pageAt(`${url}?${query}`, request.signal)
      const found = page.getElementById('found')
      place.replaceChildren(...(found?.childNodes ?? []))
      shown = q
      status.textContent = found ? page.getElementById('found-count').textContent : page.title
    } catch (error) {
      if (error.name !== 'AbortError') status.textContent = 'The service did not answer. Change the text to try again.'
    }
  }
  input.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(find, pause)
  })
  dialog.addEventListener('keydown', async (event) => {
    const all = [input, ...links()]
    const at = all.indexOf(document.activeElement)
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step) {
      event.preventDefault()
      all[(at + step + all.length) % all.length]?.focus()
    } else if (event.key === 'Enter' && at === 0) {
      event.preventDefault()
      if (shown !== input.value.trim()) await find()
      links()[0]?.click()
    } else if (at > 0 && event.key.length === 1 && !event.ctrlKey && !event.metaKey && event.key !== ' ') input.focus()
  })
  place.addEventListener('click', ({ target }) => {
    if (target.closest('a')) dialog.close()
  })
  return () => {
    if (dialog.open) return
    dialog.showModal()
    input.select()
    find()
  }
}

let [openFinder, shortcutList] = []

const find = () => {
  openFinder ??= makeFinder(document.querySelector('[data-find]').getAttribute('href'))
  shortcutList?.close()
  openFinder()
}

const showShortcuts = () => {
  if (!shortcutList) {
    const lines = shortcuts.flatMap(([keys, meaning]) => [
      element('dt', {}, element('kbd', { textContent: keys })),
      element('dd', { textContent: meaning }),
    ])
    const close = element('button', { type: 'button', textContent: 'Close' })
    close.addEventListener('click', () => shortcutList.close())
    const title = element('h2', { textContent: 'Keyboard shortcuts' })
    shortcutList = makeDialog('Keyboard shortcuts', title, element('dl', {}, ...lines), close)
  }
  if (!document.querySelector('dialog[open]')) shortcutList.showModal()
}

/** When a slash was typed last: a second one soon after it finds anything. */
let slashAt = -1e9

const isTyping = ({ target }) => target.closest('input, textarea, select, [contenteditable]') !== null

const onSlash = (event) => {
  const box = document.getElementById('q')
  const isSecond =
    performance.now() - slashAt < 1_000 && (!isTyping(event) || (event.target === box && box.value === ''))
  if (!isSecond && isTyping(event)) return
  event.preventDefault()
  slashAt = isSecond ? -1e9 : performance.now()
  if (isSecond) find()
  else {
    box?.focus()
    box?.select()
  }
}

document.addEventListener('keydown', (event) => {
  const { key, ctrlKey, metaKey, altKey } = event
  if (key.toLowerCase() === 'k' && (ctrlKey || metaKey) && !altKey && !event.shiftKey) {
    event.preventDefault()
    find()
  } else if (ctrlKey || metaKey || altKey || document.querySelector('dialog[open]')) return
  else if (key === '/') onSlash(event)
  else if (key === '?' && !isTyping(event)) showShortcuts()
})

const link = document.querySelector('[data-find]')
if (link) {
  link.title = `Find anything (${findKey})`
  Object.assign(link.querySelector('kbd'), { textContent: findKey, hidden: false })
}
// Before the listener that loads pages.
document.addEventListener(
  'click',
  (event) => {
    if (!event.target.closest('[data-find]') || event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0)
      return
    event.preventDefault()
    find()
  },
  true,
)
