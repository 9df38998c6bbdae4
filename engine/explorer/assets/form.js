/** Sends the form of a row to the API, and shows each issue at its field and what somebody else has changed meanwhile. */
import { guard, load } from './navigate.js'

/** The write token: in this variable and nowhere else. */
let token = ''

const done = { POST: 'created', PATCH: 'saved', DELETE: 'deleted' }

const literal = /^(true|false|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)$/

/** Numbers are sent as typed, so that no digit is lost, and times in UTC; the API refuses what is neither. */
export const inputJson = ({ type, checked, value, validity, dataset: { json } }) => {
  const text = value.trim()
  if (type === 'checkbox') return String(checked)
  if (value === '' && !validity.badInput) return 'null'
  if (json === 'time' && text) return JSON.stringify(`${text.padEnd(19, ':00')}Z`)
  if (json === 'json') return text
  return json === 'literal' && literal.test(text) ? text : JSON.stringify(value)
}

const pickedElement = (input) => input.parentElement.querySelector('.picked')

/** What a control has: its value, and the label of a reference. What a browser cannot read is not empty. */
const readContent = (input) => {
  const { type, checked, value, validity } = input
  const text = type === 'checkbox' ? String(checked) : validity.badInput ? 'unreadable' : value
  return { text, label: pickedElement(input)?.textContent ?? '' }
}

const setContent = (input, { text, label }) => {
  if (input.type === 'checkbox') input.checked = text === 'true'
  else input.value = text
  if (pickedElement(input)) pickedElement(input).textContent = label
  input.dispatchEvent(new Event('change', { bubbles: true }))
}

/** Not crypto.randomUUID(), which pages without HTTPS do not have. */
export const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join('-')

const element = (name, properties, ...children) => {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

export const show = (input, message) => {
  const place = input.closest('.control').querySelector('.issue')
  place.textContent = `${place.textContent} ${message}`.trim()
  input.setAttribute('aria-invalid', 'true')
  return input
}

export const clear = (form) => {
  for (const place of form.querySelectorAll('.issue')) place.textContent = ''
  for (const input of form.querySelectorAll('[aria-invalid]')) input.removeAttribute('aria-invalid')
  for (const note of form.querySelectorAll('.other')) note.remove()
  form.querySelector('#error').hidden = true
}

export const showMessage = (form, message) => {
  const box = form.querySelector('#error')
  box.textContent = message
  box.hidden = false
  return box
}

const noToken =
  'Enter the write token: only people who have it may write. The operator of this service knows it (API_TOKEN).'
const wrongToken = 'This is not the write token of this service. Ask its operator, or paste it again without spaces.'

const signedOut = 'You are signed out. Sign in again in another tab, and then send this form again.'

/** What is wrong with a text that must be JSON; undefined if it is. */
const jsonError = ({ value, dataset: { json } }) => {
  try {
    if (json === 'json' && value !== '') JSON.parse(value)
  } catch (error) {
    return error.message
  }
}

/** Shows every required field that is empty, what is no JSON, and then a token that is missing. Returns whether the form can be sent. */
export const isComplete = (form, inputs) => {
  const isMissing = ({ type, value, validity, ariaRequired }) =>
    ariaRequired === 'true' && type !== 'checkbox' && value === '' && !validity.badInput
  const title = (input) => form.querySelector(`label[for="${CSS.escape(input.id)}"]`).firstChild.textContent.trim()
  const shown = inputs.filter(isMissing).map((input) => show(input, `${title(input)} is required.`))
  const wrong = inputs
    .filter(jsonError)
    .map((input) => show(input, `${title(input)} is not valid JSON: ${jsonError(input)}.`))
  shown.push(...wrong)
  const tokenBox = form.querySelector('#token')
  if (tokenBox && token === '') shown.push(show(tokenBox, noToken))
  shown[0]?.focus()
  return shown.length === 0
}

/** Takes the token that was typed, if one was. */
export const takeToken = (form) => {
  token = form.querySelector('#token')?.value.trim() || token
}

/** The header of a form that asks for the token. Headers take Latin-1; the service reads the bytes of a token as UTF-8. */
export const authorization = (form) =>
  token && form.querySelector('.token')
    ? { Authorization: `Bearer ${String.fromCharCode(...new TextEncoder().encode(token))}` }
    : {}

/** Shows that a request was sent with a wrong token, or that its session has ended. */
export const showRefusedToken = (form) => {
  if (!form.querySelector('.token')) return showMessage(form, signedOut).focus()
  token = ''
  form.querySelector('.token').hidden = false
  show(form.querySelector('#token'), wrongToken).focus()
}

/** Shows an error response; the first field with an issue gets the focus. */
const showError = (form, method, status, error) => {
  if (status === 401) return showRefusedToken(form)
  const issues = error?.details?.issues ?? []
  const findInput = ({ loc }) => form.querySelector(`#field-${CSS.escape(loc.at(-1))}`)
  const unplaced = issues.filter((issue) => !findInput(issue))
  const shown = issues.filter(findInput).map((issue) => show(findInput(issue), issue.msg))
  const head = `Not ${done[method]}: ${issues.length === 1 ? '1 error' : `${issues.length} errors`}.`
  const all = [head, ...unplaced.map(({ msg }) => msg)].join(' ')
  const other = error?.message ?? `The service answered with status ${status}.`
  const places = [...shown, showMessage(form, issues.length > 0 ? all : other)]
  places[0].focus()
}

/** Shows the other value of a field, with a button that takes it. */
const showOther = (input, label, other) => {
  const text = other.label ? `${other.label} (#${other.text})` : other.text || 'nothing'
  const button = element('button', { type: 'button', textContent: 'Use that' })
  button.addEventListener('click', () => {
    setContent(input, other)
    button.parentElement.remove()
    input.focus()
  })
  const value = element('bdi', { textContent: text.length > 200 ? `${text.slice(0, 200)}…` : text })
  input.closest('.control').append(element('p', { className: 'other' }, `${label} `, value, ' ', button))
}

const changedMeanwhile = 'Somebody else has changed this row since you opened it.'

/** Reads the row again. Fields that were not touched follow it; where both sides have changed one, both values are shown. */
const merge = async (form, read) => {
  const response = await fetch(location.href, { headers: { Accept: 'text/html' } })
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const fresh = page.querySelector('form[data-path]')
  if (!fresh) return showMessage(form, page.querySelector('.lead')?.textContent ?? page.title).focus()
  for (const name of ['data-tag', 'data-curl']) form.setAttribute(name, fresh.getAttribute(name))
  for (const [input, before] of read) {
    const [mine, theirs] = [readContent(input), readContent(fresh.querySelector(`#${CSS.escape(input.id)}`))]
    read.set(input, theirs)
    if (theirs.text === before.text || theirs.text === mine.text) continue
    if (mine.text !== before.text) showOther(input, 'Somebody else has set this to', theirs)
    else {
      setContent(input, theirs)
      showOther(input, 'Somebody else has changed this; it was', before)
    }
  }
  const message = `${changedMeanwhile} Both values are shown where they differ. Save again to store what the form has now.`
  return showMessage(form, message).focus()
}

export const finish = async (url, message, again) => {
  guard(() => false)
  if (!(await load(url, { history: 'replace' }))) return
  const notice = element('p', { className: 'notice', role: 'status' }, message)
  if (again) notice.append(' ', element('a', { href: again, textContent: 'Create another' }))
  document.getElementById('main').prepend(notice)
}

const send = (form, body, key) => {
  const attributes = ['path', 'method', 'type', 'tag', 'keyless'].map((name) => form.getAttribute(`data-${name}`))
  const [path, method, type, tag, isKeyless] = attributes
  const headers = {
    ...(!isKeyless && { 'Idempotency-Key': key }),
    ...(type && { 'Content-Type': type }),
    ...(tag && { 'If-Match': `"${tag}"` }),
    ...authorization(form),
  }
  return fetch(path, { method, headers, ...(type && { body }) })
}

export const writeForm = (root) => {
  const form = root.querySelector('form[data-path]')
  if (!form) return
  const inputs = [...form.querySelectorAll('[name]')]
  const method = form.getAttribute('data-method')
  const button = form.querySelector('.primary')
  const tokenBox = form.querySelector('.token')
  const code = document.querySelector('.request code')
  /** What the row has, of a new one nothing: a new row gets a box that is not checked too. */
  const contentRead = (input) =>
    method === 'PATCH' ? readContent(input) : { text: input.type === 'checkbox' ? null : '' }
  const read = new Map(inputs.map((input) => [input, contentRead(input)]))
  /** The fields that were changed; those of a new row that are left empty get their defaults. */
  const formBody = () => {
    const changed = inputs.filter((input) => readContent(input).text !== read.get(input).text)
    return `{${changed.map((input) => `${JSON.stringify(input.name)}:${inputJson(input)}`).join(',')}}`
  }
  // The key of a write whose outcome is unknown: sent again with the same body, it cannot be made twice.
  let unsettled
  form.hidden = false
  if (tokenBox) tokenBox.hidden = token !== ''
  for (const picker of form.querySelectorAll('[data-picks]')) {
    picker.hidden = false
    const input = form.querySelector(`#${CSS.escape(picker.dataset.picks)}`)
    picker.addEventListener('change', () => {
      const { type, value } = picker
      if (value) setContent(input, { text: type === 'date' ? value : `${value.padEnd(19, ':00')}Z`, label: '' })
    })
  }

  const showRequest = () => {
    const head = form.getAttribute('data-curl').replace(/'https?:\/\/[^/']+/, `'${location.origin}`)
    if (head) code.textContent = `${head}'${formBody().replaceAll("'", String.raw`'\''`)}'`
  }
  const untouched = formBody()
  guard(() => form.isConnected && formBody() !== untouched)
  form.addEventListener('input', showRequest)
  form.addEventListener('change', showRequest)

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    clear(form)
    takeToken(form)
    if (!isComplete(form, inputs)) return
    const body = formBody()
    const key = unsettled?.body === body ? unsettled.key : newKey()
    button.disabled = true
    try {
      const response = await send(form, body, key)
      const { status } = response
      const result = status === 204 ? {} : await response.json()
      // A token that is refused tells nothing about an earlier attempt with the same key.
      if (status !== 401) unsettled = status >= 500 ? { key, body } : undefined
      if (response.ok) {
        const page = `${form.getAttribute('data-done')}${method === 'POST' ? encodeURIComponent(result.id) : ''}`
        await finish(page, form.getAttribute('data-message'), method === 'POST' && location.href)
      } else if (status !== 412) showError(form, method, status, result.error)
      else if (method === 'PATCH') await merge(form, read)
      else if (await load(location.href, { history: 'none' })) {
        const now = document.querySelector('form[data-path]')
        if (now) showMessage(now, `${changedMeanwhile} Delete it again if you still want to.`).focus()
      }
    } catch {
      unsettled = { key, body }
      const doubt = `The service did not answer; the row may or may not have been ${done[method]}.`
      showMessage(form, `${doubt} Try again: it is never ${done[method]} twice.`).focus()
    } finally {
      button.disabled = false
      showRequest()
    }
  })
}
