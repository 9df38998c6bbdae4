/** Sends the form of an operation, and shows its response, or each issue at its control. */
import { settle } from './combobox.js'
import { clear, inputJson, isComplete, show, showMessage, showRefusedToken, takeToken } from './form.js'
import { guard } from './navigate.js'
import { hasToken, send } from './write.js'

/** What a control adds to the path or the query: texts, of which only a list has several. */
const textsOf = (input) => {
  const { type, checked, dataset } = input
  const value = dataset.id ?? input.value
  if (type === 'checkbox') return [String(checked)]
  if (dataset.json === 'lines') return value.split('\n').filter((line) => line.trim() !== '')
  if (dataset.json === 'time' && value !== '') return [JSON.parse(inputJson(input))]
  return value === '' ? [] : [value]
}

const isFilled = ({ type, value, validity }) => type === 'checkbox' || value !== '' || validity.badInput

/** The request that the controls describe, for a path that has `{name}` for each parameter. */
const requestOf = (inputs, path, hasBody) => {
  const at = (place) => inputs.filter(({ dataset }) => dataset.place === place)
  const params = at('path').map((input) => [input.name, encodeURIComponent((input.dataset.id ?? input.value).trim())])
  const known = new URLSearchParams(at('query').flatMap((input) => textsOf(input).map((text) => [input.name, text])))
  const further = known.getAll('')
  known.delete('')
  const query = [String(known), ...further].filter(Boolean).join('&')
  const [whole] = at('body').filter(({ name }) => name === '')
  const sent = at('body').filter((input) => isFilled(input) || input.dataset.always)
  const members = sent.map((input) => `${JSON.stringify(input.name)}:${inputJson(input)}`)
  const body = whole ? whole.value.trim() : `{${members.join(',')}}`
  const filled = params.reduce((text, [name, value]) => text.replace(`{${name}}`, () => value || `{${name}}`), path)
  return { url: query ? `${filled}?${query}` : filled, ...(hasBody && { body }) }
}

/** Shows the issues of a response: each at its control, and those that have none above the form. */
const showIssues = (form, inputs, issues) => {
  const inputOf = ({ loc: [place, name] }) =>
    inputs.find((input) => input.dataset.place === place && (input.name === name || input.name === ''))
  const shown = issues.filter(inputOf).map((issue) => {
    const input = inputOf(issue)
    const inside = issue.loc.slice(input.name === '' ? 1 : 2).join('.')
    return show(input, inside ? `${inside}: ${issue.msg}.` : `${issue.msg}.`)
  })
  const others = issues.filter((issue) => !inputOf(issue)).map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}.`)
  const count = issues.length === 1 ? '1 error' : `${issues.length} errors`
  const box = showMessage(form, [`Not done: ${count}.`, ...others].join(' '))
  ;(shown[0] ?? box).focus()
}

const showResult = (place, status, text) => {
  const note = Object.assign(document.createElement('p'), { className: 'notice' })
  note.setAttribute('role', 'status')
  const code = Object.assign(document.createElement('pre'), { className: 'json', tabIndex: 0, textContent: text })
  code.setAttribute('role', 'group')
  code.setAttribute('aria-label', 'Body of the response')
  place.replaceChildren(note, code)
  place.hidden = false
  // After it is on the page: only then it is read aloud.
  note.textContent = `Done. The response has status ${status}.`
}

const indented = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

export const operationForm = (root) => {
  const form = root.querySelector('form[data-operation]')
  if (!form) return
  const { method, api, target, body: hasBody, header } = form.dataset
  const inputs = [...form.querySelectorAll('[data-place]')]
  const result = root.querySelector('#result')
  const button = form.querySelector('.primary')
  const code = document.querySelector('.request code')
  form.hidden = false
  const tokenBox = form.querySelector('.token')
  if (tokenBox) tokenBox.hidden = hasToken()

  const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`
  const state = () => JSON.stringify(requestOf(inputs, api, hasBody))
  const showRequest = () => {
    const { url, body } = requestOf(inputs, api, hasBody)
    const verb = method === 'GET' ? '' : ` -X ${method}`
    const data = body === undefined ? '' : ` -H 'Content-Type: application/json' -d ${quoted(body)}`
    code.textContent = `curl${verb} ${quoted(location.origin + url)}${header}${data}`
  }
  let settled = state()
  // A question can be asked again; what was to be done is not lost without a word.
  if (method !== 'GET') guard(() => form.isConnected && state() !== settled)
  form.addEventListener('input', showRequest)
  form.addEventListener('change', showRequest)
  showRequest()

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    clear(form)
    result.hidden = true
    takeToken(form)
    await settle(inputs)
    if (!isComplete(form, inputs)) return
    const { url, body } = requestOf(inputs, target, hasBody)
    const type = body === undefined ? undefined : 'application/json'
    button.disabled = true
    try {
      const response = await send(url, { method, type, isSession: !tokenBox, body })
      const text = await response.text()
      if (response.ok) {
        settled = state()
        showResult(result, response.status, indented(text))
      } else if (response.status === 401) showRefusedToken(form)
      else {
        const { error, detail } = JSON.parse(text)
        const issues = detail ?? error?.details?.issues ?? []
        if (issues.length > 0) showIssues(form, inputs, issues)
        else showMessage(form, error.message).focus()
      }
    } catch {
      const doubt = method === 'GET' ? '' : ' It may or may not have been done: look before you send it again.'
      showMessage(form, `The service did not answer.${doubt}`).focus()
    } finally {
      button.disabled = false
    }
  })
}
