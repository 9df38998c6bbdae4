/** Keeps what a person has chosen for a table in the browser: its columns, their order and widths, and views by name. */

import { element, toast } from './messages.js'
import { addressRule, load } from './navigate.js'

const nameOf = (path) => `table ${path}`

/** What is kept for a table. */
const readKept = (path) => {
  try {
    return JSON.parse(localStorage.getItem(nameOf(path)) ?? '{}')
  } catch {
    return {}
  }
}

const keep = (change) => {
  const kept = { ...readKept(location.pathname), ...change }
  const entries = Object.entries(kept).filter(([, value]) => value !== undefined && Object.keys(value).length > 0)
  try {
    if (entries.length === 0) localStorage.removeItem(nameOf(location.pathname))
    else localStorage.setItem(nameOf(location.pathname), JSON.stringify(Object.fromEntries(entries)))
  } catch {
    toast('This browser keeps nothing for this site.')
  }
}

/** The address of a table with the columns that are kept for it; an address that has columns wins. */
const withColumns = (address) => {
  const url = new URL(address, location.href)
  const { columns } = readKept(url.pathname)
  if (columns && !url.searchParams.has(columns.parameter))
    url.searchParams.set(columns.parameter, columns.names.join(','))
  return url.href.replaceAll('%2C', ',')
}

addressRule(withColumns)

const sheet = new CSSStyleSheet()
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]

/** Gives the columns of the table their widths. */
const applyWidths = () => {
  const { widths = {} } = readKept(location.pathname)
  const heads = [...document.querySelectorAll('thead th')]
  const rules = heads.flatMap(({ dataset: { column } }, n) => {
    const width = widths[column]
    if (!width) return []
    // A cell of the foot may span several columns.
    const place = `.scroll table > :not(tfoot) > tr > :nth-child(${n + 1}):not(.editing)`
    return [`${place} { min-width: ${width}px; max-width: ${width}px; overflow: hidden; text-overflow: ellipsis; }`]
  })
  // A table that fills its room would widen them again.
  if (rules.length > 0) rules.push('.scroll table { min-width: 0; }')
  sheet.replaceSync(rules.join('\n'))
}

const setWidth = (column, width) => {
  const { widths } = readKept(location.pathname)
  keep({ widths: { ...widths, [column]: width || undefined } })
  applyWidths()
}

const least = 48

/** The edge of a head that is dragged; the menu of the columns does the same without dragging. */
const addEdge = (head) => {
  const edge = element('span', { className: 'edge-of-column', ariaHidden: 'true' })
  edge.addEventListener('pointerdown', (event) => {
    event.preventDefault()
    const [from, width] = [event.clientX, head.getBoundingClientRect().width]
    edge.setPointerCapture(event.pointerId)
    const move = ({ clientX }) => setWidth(head.dataset.column, Math.max(least, Math.round(width + clientX - from)))
    edge.addEventListener('pointermove', move)
    edge.addEventListener('lostpointercapture', () => edge.removeEventListener('pointermove', move), { once: true })
  })
  edge.addEventListener('dblclick', () => setWidth(head.dataset.column, 0))
  head.append(edge)
}

const widthNames = { '': 'Auto', 80: 'Narrow', 160: 'Medium', 280: 'Wide', 420: 'Very wide' }

/** What moves a column, and sets its width, in the menu of the columns. */
const addControls = (item) => {
  const box = item.querySelector('input')
  const title = item.querySelector('label').firstElementChild.nextSibling.textContent.trim()
  const { widths = {} } = readKept(location.pathname)
  const move = (sign, words, by) => {
    const button = element('button', { type: 'button', textContent: sign, ariaLabel: `${words}: ${title}` })
    button.addEventListener('click', () => {
      const other = by < 0 ? item.previousElementSibling : item.nextElementSibling
      if (other && by < 0) other.before(item)
      else if (other) other.after(item)
      button.focus()
    })
    return button
  }
  const own = widths[box.value]
  const options = Object.entries({ ...(own && { [own]: `${own} px` }), ...widthNames }).map(([value, name]) =>
    element('option', { value, textContent: name, selected: String(own ?? '') === value }),
  )
  const width = element('select', { ariaLabel: `Width: ${title}` }, ...options)
  width.addEventListener('change', () => setWidth(box.value, Number(width.value)))
  item.append(element('span', { className: 'arrange' }, move('↑', 'Before', -1), move('↓', 'After', 1), width))
}

/** The views that have a name, and a form that keeps the one that is shown. */
const showViews = (menu) => {
  const list = menu.querySelector('ul')
  const { views = [] } = readKept(location.pathname)
  const items = views.map(({ name, search }, n) => {
    const link = element('a', { href: `${location.pathname}${search}` }, element('bdi', { textContent: name }))
    const properties = { type: 'button', className: 'forget', textContent: '×', ariaLabel: `Forget the view ${name}` }
    const remove = element('button', properties)
    remove.addEventListener('click', () => {
      keep({ views: views.filter((_, other) => other !== n) })
      showViews(menu)
      menu.querySelector('input').focus()
    })
    return element('li', {}, link, ' ', remove)
  })
  list.replaceChildren(...items)
  menu.querySelector('.count').textContent = views.length > 0 ? String(views.length) : ''
}

const bindViews = (menu) => {
  menu.hidden = false
  showViews(menu)
  const form = menu.querySelector('form')
  const input = form.querySelector('input')
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const name = input.value.trim()
    if (name === '') return input.focus()
    const url = new URL(location.href)
    for (const parameter of ['offset', 'after']) url.searchParams.delete(parameter)
    // All columns are a choice too, which the columns that are kept for the table must not change.
    const boxes = [...document.querySelectorAll('.columns-menu [name]:checked')]
    if (boxes[0] && !url.searchParams.has(boxes[0].name))
      url.searchParams.set(boxes[0].name, boxes.map(({ value }) => value).join(','))
    const others = (readKept(location.pathname).views ?? []).filter((view) => view.name !== name)
    keep({ views: [...others, { name, search: url.search.replaceAll('%2C', ',') }] })
    input.value = ''
    showViews(menu)
    toast(`Kept as “${name}”, in this browser.`)
  })
}

// Before the links and forms of the page are followed.
document.addEventListener(
  'click',
  ({ target }) => {
    if (target.closest?.('.all-columns')) keep({ columns: undefined })
  },
  { capture: true },
)
document.addEventListener(
  'submit',
  ({ target }) => {
    if (!target.matches('.columns-menu form')) return
    const boxes = [...target.querySelectorAll('.boxes input')]
    const names = boxes.filter(({ checked }) => checked).map(({ value }) => value)
    const isDefault = names.length === 0 || names.join(' ') === target.querySelector('.boxes').dataset.all
    keep({ columns: isDefault ? undefined : { parameter: boxes[0].name, names } })
  },
  { capture: true },
)

export const keptViews = (root) => {
  const menu = root.querySelector('.columns-menu')
  const views = root.querySelector('.views')
  if (views) bindViews(views)
  if (menu)
    menu.addEventListener('toggle', () => {
      for (const item of menu.querySelectorAll('.boxes li:not(:has(.arrange))')) addControls(item)
    })
  for (const head of root.querySelectorAll('thead th[data-column]')) addEdge(head)
  if (root.querySelector('thead')) applyWidths()
  // The first page was not asked for by this script.
  const address = withColumns(location.href)
  if (root === document && menu && new URL(address).search !== location.search) {
    const { columns } = readKept(location.pathname)
    const known = [...menu.querySelectorAll('.boxes input')].map(({ value }) => value)
    if (columns.names.every((name) => known.includes(name))) load(address, { history: 'replace', live: true })
    else keep({ columns: undefined })
  }
}
