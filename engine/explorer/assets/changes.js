/** Says how many rows of a table have changed since it was loaded, whoever has changed them, and loads it again on a click. */
import { element } from './messages.js'
import { load, mayLeave } from './navigate.js'

/** How long a request waits for a change, in seconds; the pause before the next one, and after a failure, in milliseconds. */
const [waitSeconds, pauseMs, failureMs] = [25, 1_000, 10_000]

/** How long a change of a row is taken for one that was made here, and is shown already, in milliseconds. */
const ownMs = 5_000

const own = new Map()

/** Says that the row at an address was changed on this page. */
export const changedHere = (url) => own.set(decodeURIComponent(url.split('/').at(-1)), performance.now())

const isOwn = (id) => performance.now() - (own.get(String(id)) ?? Number.NEGATIVE_INFINITY) < ownMs

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** The element of the table that is followed, and the request that waits. */
let followed
let request

const update = async () => {
  if (!mayLeave()) return
  const isShown = await load(location.href, { history: 'replace', focus: false })
  if (isShown) document.getElementById('results')?.focus({ preventScroll: true })
}

const say = (notice, text) => {
  if (!notice.firstChild) {
    const button = element('button', { type: 'button', textContent: 'Update' })
    button.addEventListener('click', update)
    notice.append('', button)
  }
  notice.firstChild.data = `${text} `
  notice.hidden = false
}

/** Asks for changes for as long as the page is there and in sight. */
const follow = async (notice) => {
  const changed = new Set()
  let { after } = notice.dataset
  while (notice === followed) {
    if (document.hidden) {
      await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }))
      continue
    }
    request = new AbortController()
    try {
      const query = new URLSearchParams({ after, wait: waitSeconds, limit: 1000 })
      const response = await fetch(`${notice.dataset.changes}?${query}`, { signal: request.signal })
      if (notice !== followed) return
      if (response.status === 410) return say(notice, 'Rows have changed.')
      // Whoever may not read the table any more sees that on the next page.
      if (response.status < 500 && !response.ok) return
      const { data, meta } = await response.json()
      after = meta.next
      for (const { id } of data) if (!isOwn(id)) changed.add(id)
      if (changed.size > 0)
        say(notice, changed.size === 1 ? '1 row has changed.' : `${changed.size} rows have changed.`)
      await sleep(pauseMs)
    } catch {
      if (!document.hidden) await sleep(failureMs)
    }
  }
}

export const followedTable = (root) => {
  if (followed && !followed.isConnected) {
    followed = undefined
    request?.abort()
  }
  const notice = root.querySelector('[data-changes]')
  if (!notice) return
  followed = notice
  follow(notice)
}

document.addEventListener('visibilitychange', () => document.hidden && request?.abort())
