/** Sends the form of a row to the API, and shows each issue at its field and what somebody else has changed meanwhile. */
import { pickedElement, settle } from './combobox.js'
import { guard, load } from './navigate.js'
import { batchBody, element, hasToken, newKey, notify, offerUndo, send, setToken, tokenMessages } from './write.js'

const done = { POST: 'created', PATCH: 'saved', DELETE: 'deleted' }

const literal = /^(true|false|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)$/

/** Numbers are sent as typed, so that no digit is lost, and times in UTC; the API refuses what is neither. */
const contentJson = ({ type, dataset: { json } }, content) => {
  const text = content.trim()
  if (type === 'checkbox') return content
  if (content === '') return 'null'
  if (json === 'time' && text) return JSON.stringify(`${text.padEnd(19, ':00')}Z`)
  if (json === 'json') return text
  return json === 'literal' && literal.test(text) ? text : JSON.stringify(content)
}

/** What a browser cannot read is sent as what it has, which is nothing. */
export const inputJson = (input) => {
  const { text } = readContent(input)
  return input.validity.badInput ? '""' : contentJson(input, text)
}

/** Whether the steps of a status lead back, and the old value is known. */
const canGoBack = (input, before, after) => {
  const { steps, redacted } = input.dataset
  return redacted === undefined && (!steps || before === after || JSON.parse(steps)[after]?.includes(before))
}

/** What a control has: its value, and the label of a reference. What a browser cannot read is not empty. */
const readContent = (input) => {
  const { type, checked, value, validity, dataset } = input
  if (type === 'checkbox') return { text: String(checked), label: '' }
  if (validity.badInput) return { text: 'unreadable', label: '' }
  return dataset.id === undefined ? { text: value, label: '' } : { text: dataset.id, label: value }
}

const setContent = (input, { text, label }) => {
  if (input.type === 'checkbox') input.checked = text === 'true'
  else input.value = label || text
  if (label) input.dataset.id = text
  else delete input.dataset.id
  if (pickedElement(input)) pickedElement(input).textContent = label && `#${text}`
  input.dispatchEvent(new Event('change', { bubbles: true }))
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
  form.querySelector('.form-error').hidden = true
}

export const showMessage = (form, message) => {
  const box = form.querySelector('.form-error')
  box.textContent = message
  box.hidden = false
  return box
}

/** What is wrong with a text that must be JSON; undefined if it is. */
const jsonError = ({ value, dataset: { json } }) => {
  try {
    if (json === 'json' && value !== '') JSON.parse(value)
  } catch (error) {
    return error.message
  }
}

const tokenInput = (form) => form.querySelector('.token input')

/** The name that the form has for a field. */
const titleOf = (input) => input.closest('.control').querySelector('label').firstChild.textContent.trim()

/** Shows every required field that is empty, what is no JSON, and then a token that is missing. Returns whether the form can be sent. */
export const isComplete = (form, inputs) => {
  const isMissing = ({ type, value, validity, ariaRequired }) =>
    ariaRequired === 'true' && type !== 'checkbox' && value === '' && !validity.badInput
  const shown = inputs.filter(isMissing).map((input) => show(input, `${titleOf(input)} is required.`))
  const wrong = inputs
    .filter(jsonError)
    .map((input) => show(input, `${titleOf(input)} is not valid JSON: ${jsonError(input)}.`))
  shown.push(...wrong)
  if (tokenInput(form) && !hasToken()) shown.push(show(tokenInput(form), tokenMessages.noToken))
  shown[0]?.focus()
  return shown.length === 0
}

/** A message of the API in the words of the form: with the titles of its fields, and an example instead of an expression. */
const inFormWords = (inputs, { row, ...issue }) => `${row === undefined ? '' : `${row}: `}${issueWords(inputs, issue)}`

const issueWords = (inputs, { type, loc, msg }) => {
  const own = inputs.find(({ name }) => name === loc.at(-1))
  const like = own?.dataset.like
  if (type === 'string_pattern_mismatch' && like)
    return `${titleOf(own)} must look like ${like}; “${own.value}” does not.`
  return inputs.reduce((text, input) => {
    const name = input.name.includes('_') ? `\\b${input.name}\\b` : `^${input.name}\\b`
    return text.replaceAll(new RegExp(name, 'g'), () => titleOf(input))
  }, msg)
}

/** Takes the token that was typed, if one was. */
export const takeToken = (form) => {
  const typed = tokenInput(form)?.value.trim()
  if (typed) setToken(typed)
}

/** Shows that a request was sent with a wrong token, or that its session has ended. */
export const showRefusedToken = (form) => {
  if (!tokenInput(form)) return showMessage(form, tokenMessages.signedOut).focus()
  setToken('')
  form.querySelector('.token').hidden = false
  show(tokenInput(form), tokenMessages.wrongToken).focus()
}

/** Shows an error response; the first field with an issue gets the focus. */
const showError = (form, inputs, method, status, error) => {
  if (status === 401) return showRefusedToken(form)
  const issues = error?.details?.issues ?? []
  const findInput = ({ loc }) => inputs.find(({ name }) => name === loc.at(-1))
  const unplaced = issues.filter((issue) => !findInput(issue))
  const shown = issues.filter(findInput).map((issue) => show(findInput(issue), inFormWords(inputs, issue)))
  const head = `Not ${done[method]}: ${issues.length === 1 ? '1 error' : `${issues.length} errors`}.`
  const all = [head, ...unplaced.map((issue) => inFormWords(inputs, issue))].join(' ')
  const other = error?.message ?? `The service answered with status ${status}.`
  const places = [...shown, showMessage(form, issues.length > 0 ? all : other)]
  places[0].focus()
}

const shortened = (text) => (text.length > 40 ? `${text.slice(0, 40)}…` : text)

/** A value as a button names it. */
const valueName = (input, { text, label }) => {
  if (input.type === 'checkbox') return text === 'true' ? 'Yes' : 'No'
  const option = [...(input.options ?? [])].find(({ value }) => value === text)?.textContent
  return shortened(label || option || text) || 'nothing'
}

/** Says what somebody else has done to a field, with buttons that name the values to choose from. */
const showOther = (input, words, choices) => {
  const note = element('p', { className: 'other' }, words, ' ')
  for (const [verb, content] of choices) {
    const name = element('bdi', { textContent: valueName(input, content) })
    const button = element('button', { type: 'button' }, `${verb} `, name)
    button.addEventListener('click', () => {
      setContent(input, content)
      note.remove()
      input.focus()
    })
    note.append(button, ' ')
  }
  input.closest('.control').append(note)
}

const changedMeanwhile = 'Somebody else has changed this row since you opened it.'

/** Reads the row again. Fields that were not touched follow it; where both sides have changed one, the person decides. */
const merge = async (form, url, read) => {
  const response = await fetch(url, { headers: { Accept: 'text/html' } })
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const fresh = page.querySelector('form[data-path]')
  if (!fresh) return showMessage(form, page.querySelector('.lead')?.textContent ?? page.title).focus()
  for (const name of ['data-tag', 'data-curl']) form.setAttribute(name, fresh.getAttribute(name))
  for (const [input, before] of read) {
    const [mine, theirs] = [readContent(input), readContent(fresh.querySelector(`[name="${CSS.escape(input.name)}"]`))]
    read.set(input, theirs)
    if (theirs.text === before.text || theirs.text === mine.text) continue
    if (mine.text !== before.text) {
      showOther(input, 'Somebody else has changed this too.', [
        ['Keep', mine],
        ['Take', theirs],
      ])
    } else {
      setContent(input, theirs)
      showOther(input, 'Somebody else has changed this.', [['Back to', before]])
    }
  }
  const message = `${changedMeanwhile} Choose where both of you have changed a value, and save again.`
  return showMessage(form, message).focus()
}

/** The row of a batch that an error is about. */
const rowName = (rows, error) => rows[error?.details?.operation]?.[2] ?? 'a row'

/** An error of a batch says which row it is about. */
const withRow = (rows, error) => {
  if (!rows || !error) return error
  const name = rowName(rows, error)
  const issues = error.details?.issues?.map((issue) => ({ ...issue, row: name }))
  return { ...error, message: `${name}: ${error.message}`, details: { ...error.details, ...(issues && { issues }) } }
}

/** Loads the page again, with the rows as they are now. */
const askAgain = async (message) => {
  if (!(await load(location.href, { history: 'none' }))) return
  const now = document.querySelector('form[data-path]')
  if (now) showMessage(now, message).focus()
}

/** Shows the page that is there again, with the rows as they are now. */
const reload = () => load(location.href, { history: 'none', focus: false })

export const finish = async (url, message, again, undo) => {
  guard(() => false)
  if (!(await load(url, { history: 'replace' }))) return
  const notice = notify(message, ...(again ? [' ', element('a', { href: again, textContent: 'Create another' })] : []))
  if (undo) offerUndo(notice, undo, reload)
}

/** Sends the form of a row. Inside another page, `place.url` is the page of the form, and `place.finish` runs once the row is saved. */
export const bindForm = (form, place) => {
  const inputs = [...form.querySelectorAll('[name]')]
  const method = form.getAttribute('data-method')
  const button = form.querySelector('.primary')
  const tokenBox = form.querySelector('.token')
  /** Of a form for many rows: the id, the tag and the label of each. */
  const rows = JSON.parse(form.getAttribute('data-rows') ?? 'null')
  const code = place ? undefined : document.querySelector('.request code')
  /** What the row has, of a new one nothing: a new row gets a box that is not checked too. */
  const contentRead = (input) =>
    method === 'PATCH' && !rows ? readContent(input) : { text: input.type === 'checkbox' || rows ? null : '' }
  const read = new Map(inputs.map((input) => [input, contentRead(input)]))
  /** The fields that were changed; those of a new row that are left empty get their defaults. */
  const formBody = () => {
    const changed = inputs.filter((input) => readContent(input).text !== read.get(input).text)
    return `{${changed.map((input) => `${JSON.stringify(input.name)}:${inputJson(input)}`).join(',')}}`
  }
  // The key of a write whose outcome is unknown: sent again with the same body, it cannot be made twice.
  let unsettled
  form.hidden = false
  if (tokenBox) tokenBox.hidden = hasToken()
  for (const picker of form.querySelectorAll('[data-picks]')) {
    picker.hidden = false
    const input = inputs.find(({ name }) => name === picker.dataset.picks)
    picker.addEventListener('change', () => {
      const { type, value } = picker
      if (value) setContent(input, { text: type === 'date' ? value : `${value.padEnd(19, ':00')}Z`, label: '' })
    })
  }

  const showRequest = () => {
    const head = form.getAttribute('data-curl').replace(/'https?:\/\/[^/']+/, `'${location.origin}`)
    if (head && code) code.textContent = `${head}'${formBody().replaceAll("'", String.raw`'\''`)}'`
  }
  const untouched = formBody()
  if (!place) guard(() => form.isConnected && formBody() !== untouched)
  form.addEventListener('input', showRequest)
  form.addEventListener('change', showRequest)
  const first = form.querySelector('input:not([hidden]), select, textarea')
  first?.focus({ preventScroll: true })

  const sendForm = (body, key) => {
    const [path, type, tag, isKeyless] = ['path', 'type', 'tag', 'keyless'].map((name) =>
      form.getAttribute(`data-${name}`),
    )
    const own = method === 'PATCH' ? body : undefined
    const all = rows?.map(([id, tag]) => ({ id, tag, body: own }))
    const [sent, verb] = rows ? [batchBody(form, method, all), 'POST'] : [body, method]
    return send(path, { method: verb, type, tag, key: isKeyless ? '' : key, isSession: !tokenBox, body: sent })
  }

  /** What undoes a change: an update with the old values, under the tag that the row has now. */
  const undoOf = (response, result) => {
    if (method !== 'PATCH') return undefined
    const [path, type] = ['path', 'type'].map((name) => form.getAttribute(`data-${name}`))
    const write = (how) => () => send(path, { type, key: '', isSession: !tokenBox, ...how })
    if (rows) {
      const [input] = inputs
      const after = readContent(input).text
      if (!rows.every(([, , , old]) => canGoBack(input, JSON.parse(old), after))) return undefined
      const back = rows.map(([id, , , old], n) => ({
        id,
        tag: result.tags[n],
        body: `{${JSON.stringify(input.name)}:${old}}`,
      }))
      return write({ body: batchBody(form, method, back) })
    }
    const changed = inputs.filter((input) => readContent(input).text !== read.get(input).text)
    if (!changed.every((input) => canGoBack(input, read.get(input).text, readContent(input).text))) return undefined
    const old = changed.map((input) => `${JSON.stringify(input.name)}:${contentJson(input, read.get(input).text)}`)
    const [, tag] = /"([\w-]+?)(?:-gzip|-br)?"/.exec(response.headers.get('ETag') ?? '') ?? []
    return changed.length > 0 && tag && write({ method, tag, body: `{${old.join(',')}}` })
  }

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    clear(form)
    takeToken(form)
    button.disabled = true
    try {
      await settle(inputs)
      if (!isComplete(form, inputs)) return
      const body = formBody()
      const key = unsettled?.body === body ? unsettled.key : newKey()
      try {
        const response = await sendForm(body, key)
        const { status } = response
        const result = status === 204 ? {} : await response.json()
        // A token that is refused tells nothing about an earlier attempt with the same key.
        if (status !== 401) unsettled = status >= 500 ? { key, body } : undefined
        const undo = response.ok && undoOf(response, result)
        if (response.ok && place) await place.finish(result, undo)
        else if (response.ok) {
          const page = `${form.getAttribute('data-done')}${method === 'POST' ? encodeURIComponent(result.id) : ''}`
          await finish(page, form.getAttribute('data-message'), method === 'POST' && location.href, undo)
        } else if (status !== 412) showError(form, inputs, method, status, withRow(rows, result.error))
        else if (rows)
          await askAgain(
            `Somebody else has changed ${rowName(rows, result.error)} meanwhile; nothing was ${done[method]}.`,
          )
        else if (method === 'PATCH') await merge(form, place?.url ?? location.href, read)
        else await askAgain(`${changedMeanwhile} Delete it again if you still want to.`)
      } catch {
        unsettled = { key, body }
        const doubt = `The service did not answer; the row may or may not have been ${done[method]}.`
        showMessage(form, `${doubt} Try again: it is never ${done[method]} twice.`).focus()
      }
    } finally {
      button.disabled = false
      showRequest()
    }
  })
}

export const writeForm = (root) => {
  const form = root.querySelector('main form[data-path], form[data-path]')
  if (form) bindForm(form)
}

let places = 0

/** The form of another page, to be shown within this one: its ids are made its own. Undefined, with a message, if there is none. */
export const fetchForm = async (url) => {
  const response = await fetch(url, { headers: { Accept: 'text/html' } })
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const form = page.querySelector('form[data-path]')
  const title = page.querySelector('h1')?.textContent ?? page.title
  const message = page.querySelector('main .lead, main .notice')?.textContent ?? title
  const prefix = `place-${++places}-`
  for (const one of form?.querySelectorAll('[id], [for], [aria-describedby]') ?? [])
    for (const name of ['id', 'for', 'aria-describedby']) {
      const ids = one.getAttribute(name)?.split(/\s+/).filter(Boolean)
      if (ids) one.setAttribute(name, ids.map((id) => prefix + id).join(' '))
    }
  form?.removeAttribute('id')
  return { form, title, message }
}
