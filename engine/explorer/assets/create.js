/** Sends the form of a new row to the API, and shows each issue at its field. */
import { load } from './navigate.js'

/** The write token: in this variable and nowhere else. */
let token = ''

const literal = /^(true|false|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)$/

/** Numbers are sent as typed, so that no digit is lost, and times in UTC; the API refuses what is neither. */
const jsonOf = ({ type, checked, value, dataset: { json } }) => {
  const text = value.trim()
  if (type === 'checkbox') return String(checked)
  if (json === 'time' && text) return JSON.stringify(`${text.padEnd(19, ':00')}Z`)
  return json === 'literal' && literal.test(text) ? text : JSON.stringify(value)
}

/** The body; fields that are left empty are left out, and get their defaults. What a browser cannot read is sent as an empty text. */
const bodyOf = (inputs) => {
  const filled = inputs.filter(({ value, validity }) => value !== '' || validity.badInput)
  return `{${filled.map((input) => `${JSON.stringify(input.name)}:${jsonOf(input)}`).join(',')}}`
}

/** Not crypto.randomUUID(), which pages without HTTPS do not have. */
const newKey = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')

const show = (input, message) => {
  const place = input.closest('.control').querySelector('.issue')
  place.textContent = place.textContent === '' ? message : `${place.textContent} ${message}`
  input.setAttribute('aria-invalid', 'true')
  return input
}

const clear = (form) => {
  for (const place of form.querySelectorAll('.issue')) place.textContent = ''
  for (const input of form.querySelectorAll('[aria-invalid]')) input.removeAttribute('aria-invalid')
  form.querySelector('#problem').hidden = true
}

const showProblem = (form, message) => {
  const problem = form.querySelector('#problem')
  problem.textContent = message
  problem.hidden = false
  return problem
}

/** Shows an error response; the first field with an issue gets the focus. */
const showError = (form, status, error) => {
  if (status === 401) {
    token = ''
    form.querySelector('.token').hidden = false
    show(form.querySelector('#token'), error.message).focus()
    return
  }
  const issues = error?.details?.issues ?? []
  const inputOf = ({ loc }) => form.querySelector(`#field-${CSS.escape(loc.at(-1))}`)
  const unplaced = issues.filter((issue) => !inputOf(issue))
  const shown = issues.filter(inputOf).map((issue) => show(inputOf(issue), issue.msg))
  const message =
    issues.length === 0
      ? (error?.message ?? `The service answered with status ${status}.`)
      : [
          `Not created: ${issues.length === 1 ? '1 error' : `${issues.length} errors`}.`,
          ...unplaced.map(({ msg }) => msg),
        ].join(' ')
  const problem = showProblem(form, message)
  const target = shown[0] ?? problem
  target.focus()
}

export const createForm = (root) => {
  const form = root.querySelector('#create')
  if (!form) return
  const inputs = [...form.querySelectorAll('[name]')]
  const button = form.querySelector('button')
  const tokenBox = form.querySelector('.token')
  const code = document.querySelector('.request code')
  // The key of a create whose outcome is unknown: sent again with the same body, it cannot create a second row.
  let unsettled
  button.disabled = false
  tokenBox.hidden = token !== ''

  const showRequest = () => {
    const head = form.getAttribute('data-curl').replace(/'https?:\/\/[^/']+/, `'${location.origin}`)
    code.textContent = `${head}'${bodyOf(inputs).replaceAll("'", String.raw`'\''`)}'`
  }
  form.addEventListener('input', showRequest)
  form.addEventListener('change', showRequest)

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    clear(form)
    const typed = form.querySelector('#token').value.trim()
    token = typed || token
    const body = bodyOf(inputs)
    const key = unsettled?.body === body ? unsettled.key : newKey()
    button.disabled = true
    try {
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key }
      // Headers take Latin-1; the service reads the bytes of a token as UTF-8.
      const bytes = String.fromCharCode(...new TextEncoder().encode(token))
      if (token) headers.Authorization = `Bearer ${bytes}`
      const response = await fetch(form.getAttribute('data-path'), { method: 'POST', headers, body })
      const result = await response.json()
      // A token that is refused tells nothing about an earlier attempt with the same key.
      if (response.status !== 401) unsettled = response.status >= 500 ? { key, body } : undefined
      if (response.status === 201) await load(`${form.getAttribute('data-rows')}/${result.id}`)
      else showError(form, response.status, result.error)
    } catch {
      unsettled = { key, body }
      showProblem(
        form,
        'The service did not answer; the row may or may not have been created. Try again: the same row is never created twice.',
      ).focus()
    } finally {
      button.disabled = false
    }
  })
}
