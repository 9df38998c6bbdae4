/** Loads pages without a page reload, so that search runs while typing and what is on a page stays. */

let current
let timer
let shown = location.pathname + location.search
const listeners = []

/** Calls the listener for each page that is shown, and each part of one, including the first page. */
export const onPage = (listener) => {
  listeners.push(listener)
  listener(document)
}

/** Makes a part of a page work. */
export const enhance = (root) => {
  for (const listener of listeners) listener(root)
}

export const pageIn = async (response) => new DOMParser().parseFromString(await response.text(), 'text/html')

export const pageAt = async (url, signal) => pageIn(await fetch(url, { signal, headers: { Accept: 'text/html' } }))

/** Whether the page has something that would be lost. */
let hasUnsaved = () => false

export const guard = (check) => {
  hasUnsaved = check
}

export const mayLeave = () => !hasUnsaved() || confirm('Leave this page? What you have typed is not saved.')

/** Replaces an element by that of another page. Returns whether both pages have it. */
export const replacePart = (id, next) => {
  const [old, fresh] = [document, next].map((one) => one.getElementById(id))
  if (!old || !fresh) return false
  const [before, details] = [old, fresh].map((one) => one.querySelector(':scope > details'))
  old.replaceWith(fresh)
  if (details && before) details.open = before.open
  enhance(fresh)
  return true
}

const fillValues = (target, source) => {
  const sections = [...target.querySelectorAll('.filter')]
  for (const [n, section] of [...source.querySelectorAll('.filter')].entries()) {
    const values = section.querySelector('.values')
    sections[n]?.querySelector('.values')?.remove()
    if (values && !sections[n]?.querySelector('.chosen')) sections[n]?.querySelector('h2').after(values)
  }
}

let counting

/** Asks for the counts of a large table's values, which its page does not wait for. */
const showCounts = async (url) => {
  counting?.abort()
  counting = new AbortController()
  try {
    const response = await fetch(url, { signal: counting.signal })
    const page = await pageIn(response)
    const [panel, counted] = [document, page].map((one) => one.getElementById('filters'))
    await released
    if (!response.ok || panel?.dataset.counts !== url || !panel.isConnected) return
    fillValues(panel, counted)
    replacePart('charts', page)
    const note = counted.querySelector('details > .note')
    if (note) panel.querySelector('details').append(note)
  } catch {
    // The page works without them.
  }
}

/** Filters that follow a search: the values stay until those of the new result are there. */
const replaceFilters = (next) => {
  const [old, fresh] = [document, next].map((one) => one.getElementById('filters'))
  const url = fresh?.dataset.counts
  if (url && old) fillValues(fresh, old)
  replacePart('filters', next)
  if (url) showCounts(url)
  else replacePart('charts', next)
}

/** Shows why a page could not be loaded above what is there: rows stay, and the next page that loads replaces the message. */
const showFailure = (message, url, options) => {
  const notice = document.getElementById('failure') ?? document.createElement('p')
  Object.assign(notice, { id: 'failure', className: 'notice error', role: 'alert', textContent: `${message} ` })
  const again = document.createElement('button')
  Object.assign(again, { type: 'button', textContent: 'Try again' })
  again.addEventListener('click', () => load(url, options))
  notice.append(again)
  const results = document.getElementById('results')
  if (results) results.prepend(notice)
  else document.getElementById('main').prepend(notice)
  notice.scrollIntoView({ block: 'nearest' })
}

/** Resolves when no button of the mouse is pressed: what is under it must not move before the click. */
let released = Promise.resolve()

addEventListener(
  'pointerdown',
  () => {
    released = new Promise((resolve) => {
      // The click follows the release.
      const end = () => setTimeout(resolve)
      for (const name of ['pointerup', 'pointercancel', 'dragend'])
        addEventListener(name, end, { once: true, capture: true })
    })
  },
  { capture: true },
)

const table = () => document.querySelector('.scroll')

/** Stores the scroll positions in the page's entry of the history, for the way back. */
const keepScroll = () => history.replaceState({ page: scrollY, table: table()?.scrollTop }, '')

const restoreScroll = (kept) => {
  if (table()) table().scrollTop = kept?.table ?? 0
  scrollTo(0, kept?.page ?? 0)
}

let addressOf = (url) => url

/** Sets what changes the addresses of pages before they are loaded. */
export const addressRule = (rule) => {
  addressOf = rule
}

/** Loads a page, and aborts earlier requests and searches. Resolves with whether the page is shown. */
export const load = async (given, options = {}) => {
  const url = addressOf(given)
  const { history: mode = 'push', live = false, focus = true, notBefore } = options
  clearTimeout(timer)
  current?.abort()
  const request = new AbortController()
  current = request
  const main = document.getElementById('main')
  main.setAttribute('aria-busy', 'true')
  try {
    const response = await fetch(url, { signal: request.signal, headers: { Accept: 'text/html' } })
    if (!response.headers.get('Content-Type')?.startsWith('text/html')) throw new Error('not a page')
    const next = await pageIn(response)
    await Promise.all([released, notBefore])
    if (request !== current) return false
    const failed = next.querySelector('[data-error]')
    // What fails for a while is tried again; the page that is there is worth more. A late error has the status of its page.
    if (failed && (live || response.ok || response.status >= 500)) {
      showFailure(failed.querySelector('.lead')?.textContent ?? next.title, url, options)
      return false
    }
    const address = response.redirected ? response.url : url
    if (mode === 'push') {
      keepScroll()
      history.pushState(null, '', address)
    }
    if (mode === 'replace') history.replaceState(null, '', address)
    shown = location.pathname + location.search
    document.title = next.title
    if (live && !response.redirected && replacePart('results', next)) replaceFilters(next)
    else {
      guard(() => false)
      replacePart('page', next)
      const main = document.getElementById('main')
      // A form has focused its first field.
      if (focus && !main.contains(document.activeElement)) main.focus({ preventScroll: true })
      if (focus || mode === 'none') restoreScroll(history.state)
    }
    return true
  } catch (error) {
    if (error.name === 'AbortError') return false
    // What is no page is left to the browser.
    if (error.message === 'not a page') location.assign(url)
    else showFailure('The service did not answer. What you see may be out of date.', url, options)
    return false
  } finally {
    if (request === current) document.getElementById('main').removeAttribute('aria-busy')
  }
}

/** How long a link in a cell that can be edited waits for a second click, in milliseconds. */
const doubleClickMs = 250

export const cancelLoad = () => current?.abort()

/** The page that is shown, as it is now, or another one for it. */
export const fetchAgain = async (url = location.href) => {
  const page = await pageAt(url)
  await released
  return page
}

const isOurs = ({ origin, pathname }) => origin === location.origin && /^\/(explore(\/.*)?)?$/.test(pathname)

/**
 * The address that a form leads to; empty inputs are left out.
 * Not form.action: an input hides the property of its form that has the same name, and inputs are named after fields.
 * Only names with a capital, which no field has, are safe.
 */
const formAddress = (form, button) => {
  const url = new URL(button?.getAttribute('formaction') ?? form.getAttribute('action'), location.href)
  const sent = [...new FormData(form)].filter(([, value]) => String(value).trim() !== '')
  url.search = new URLSearchParams(sent).toString()
  return url.href
}

document.addEventListener('click', (event) => {
  const link = event.composedPath().find((node) => node.localName === 'a' && node.hasAttribute('href'))
  if (!link || event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const url = new URL(link.href.baseVal ?? link.href, location.href)
  if (!isOurs(url) || link.hasAttribute('download') || link.target) return
  if (url.hash && url.pathname === location.pathname && url.search === location.search) return
  event.preventDefault()
  // The second click of two edits the cell.
  const isCell = event.detail === 1 && link.closest('[data-field]')
  const notBefore = isCell ? new Promise((resolve) => setTimeout(resolve, doubleClickMs)) : undefined
  if (mayLeave()) load(url.href, { notBefore })
})

document.addEventListener('submit', (event) => {
  const form = event.target
  const isLive = form.hasAttribute('data-live')
  if (!isLive && !form.hasAttribute('data-navigate')) return
  event.preventDefault()
  const isSearch = isLive && document.activeElement?.id === 'q'
  load(formAddress(form, event.submitter), { live: isSearch, focus: !isSearch })
})

/** How long a pause in typing starts a search, in milliseconds. */
const pause = 180

document.addEventListener('input', ({ target: { id, form } }) => {
  if (id !== 'q' || !form?.hasAttribute('data-live')) return
  clearTimeout(timer)
  timer = setTimeout(() => load(formAddress(form), { history: 'replace', live: true }), pause)
})

document.addEventListener('change', ({ target }) => {
  if (target.hasAttribute?.('data-submit')) target.form.requestSubmit()
})

onPage((root) => {
  const url = root.querySelector('#filters')?.dataset.counts
  if (url) showCounts(url)
})

addEventListener('popstate', () => {
  if (location.pathname + location.search !== shown && !mayLeave()) return history.pushState(null, '', shown)
  // Only the fragment has changed, or back was followed by forward before the page was there.
  if (location.pathname + location.search === shown) current?.abort()
  else load(location.href, { history: 'none', focus: false })
})

addEventListener('beforeunload', (event) => {
  if (hasUnsaved()) event.preventDefault()
})
