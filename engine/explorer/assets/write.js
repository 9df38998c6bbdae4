/** Sends writes, with the write token or as who has signed in. */

/** The write token: in this variable and nowhere else. */
let token = ''

export const hasToken = () => token !== ''

export const setToken = (given) => {
  token = given
}

/** Not crypto.randomUUID(), which pages without HTTPS do not have. */
export const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-')

export const element = (name, properties, ...children) => {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

/** Sends a request; with the token, unless a session counts. */
export const send = (path, { method = 'POST', type, tag, key, isSession, body }) => {
  // Headers take Latin-1; the service reads the bytes of a token as UTF-8.
  const bytes = String.fromCharCode(...new TextEncoder().encode(token))
  const headers = {
    ...(key && { 'Idempotency-Key': key }),
    ...(type && { 'Content-Type': type }),
    ...(tag && { 'If-Match': `"${tag}"` }),
    ...(token && !isSession && { Authorization: `Bearer ${bytes}` }),
  }
  return fetch(path, { method, headers, ...(type && { body }) })
}

/** One operation for each of many rows, with its tag and its body. */
export const batchBody = (form, method, rows) => {
  const operations = rows.map(({ id, tag, body }) => {
    const path = `${form.getAttribute('data-resource')}${encodeURIComponent(id)}`
    const head = JSON.stringify({ method, path, ifMatch: `"${tag}"` })
    return body === undefined ? head : `${head.slice(0, -1)},"body":${body}}`
  })
  return `{"operations":[${operations.join(',')}]}`
}

/** How long a change can be undone, in milliseconds. */
const undoMs = 60_000

/** Adds a button to a message that undoes the change; `done` is called afterwards. */
export const offerUndo = (notice, run, done) => {
  const button = element('button', { type: 'button', className: 'undo', textContent: 'Undo' })
  button.addEventListener('click', async () => {
    button.disabled = true
    try {
      const response = await run()
      if (response.ok) {
        await done()
        return toast('Undone.')
      }
      const { error } = await response.json()
      const reason = error?.details?.issues?.map(({ msg }) => msg).join(' ') ?? error?.message
      const isOther = response.status === 412 || response.status === 404
      return toast(`Not undone. ${isOther ? 'Somebody else has changed it since.' : (reason ?? '')}`)
    } catch {
      button.disabled = false
      return toast('The service did not answer. Try again.')
    } finally {
      if (button.disabled) button.remove()
    }
  })
  notice.append(' ', button)
  setTimeout(() => button.remove(), undoMs)
}

const noToken =
  'Enter the write token: only people who have it may write. The operator of this service knows it (API_TOKEN).'
const wrongToken = 'This is not the write token of this service. Ask its operator, or paste it again without spaces.'
const signedOut = 'You are signed out. Sign in again in another tab, and then send this again.'

export const tokenMessages = { noToken, wrongToken, signedOut }

/** Shows a message at the top of the page, which is read aloud. */
export const notify = (...content) => {
  document.querySelector('.notice.done')?.remove()
  const notice = element('p', { className: 'notice done', role: 'status' }, ...content)
  document.getElementById('main').prepend(notice)
  return notice
}

/** Shows a message over the page for a while; what is on the page does not move. */
export const toast = (...content) => {
  document.querySelector('.toast')?.remove()
  const shown = element('div', { className: 'toast', role: 'status' }, element('span', {}, ...content))
  const close = element('button', { type: 'button', ariaLabel: 'Close', textContent: '×' })
  close.addEventListener('click', () => shown.remove())
  shown.append(close)
  document.body.append(shown)
  setTimeout(() => shown.remove(), 60_000)
  return shown
}
