/** Sends forms without leaving the page: what the service answers with takes the place of the form, or leads on. */
import { setValue } from './combobox.js'
import { bindUndo } from './messages.js'
import { enhance, guard, load, pageAt, pageIn, replacePart } from './navigate.js'

/** What a form sends: the id of a row instead of its name, and a sign for what a browser cannot read, which is not empty. */
const formData = (form, submitter) => {
  const data = new FormData(form, submitter)
  for (const { name, validity, dataset } of form.querySelectorAll('[name]')) {
    if (dataset.id !== undefined) data.set(name, `#${dataset.id}`)
    else if (validity?.badInput) data.set(name, '?')
  }
  data.set('form.script', 'true')
  return data
}

const stateOf = (form) => JSON.stringify([...formData(form)].map(([name, value]) => [name, value.size ?? value]))

const post = async (form, data, signal) => {
  const headers = { Accept: 'text/html' }
  return pageIn(await fetch(form.getAttribute('action'), { method: 'POST', headers, body: data, signal }))
}

const showMessage = (form, message) => {
  const box = form.querySelector('.form-error')
  box.textContent = message
  box.hidden = false
  box.focus()
}

/** Why a page has no form. */
export const reasonIn = (page) => page.querySelector('main .lead, main .notice')?.textContent ?? page.title

/** Behind a proxy, only the browser knows the address that it used. */
export const withOrigin = (text) => text.replace(/'https?:\/\/[^/']+/, `'${location.origin}`)

/** How long a pause in typing lets the request on the page follow the form, in milliseconds. */
const pause = 300

/** Shows the request that the form would make. */
const followForm = (form) => {
  const code = document.querySelector('.request code')
  let [timer, request] = []
  const show = async () => {
    request?.abort()
    request = new AbortController()
    const data = formData(form)
    data.set('form.show', 'true')
    const page = await post(form, data, request.signal).catch(() => undefined)
    const text = page?.querySelector('.request code')?.textContent
    if (text) code.textContent = withOrigin(text)
  }
  for (const name of ['input', 'change'])
    form.addEventListener(name, () => {
      clearTimeout(timer)
      timer = setTimeout(show, pause)
    })
}

const bindControls = (form) => {
  const control = (part) => part.closest('.control').querySelector('[name]:not([type=hidden])')
  for (const picker of form.querySelectorAll('.picker')) {
    picker.hidden = false
    picker.addEventListener('change', () => {
      const { type, value } = picker
      if (value) setValue(control(picker), type === 'date' ? value : `${value.padEnd(19, ':00')}Z`)
    })
  }
  for (const button of form.querySelectorAll('.other button')) {
    const input = control(button)
    button.hidden = false
    button.addEventListener('click', () => {
      setValue(input, button.dataset.value, button.dataset.label)
      button.parentElement.remove()
      input.focus()
    })
  }
}

/** What the keyboard should come to first: a control that is wrong, a message, or a result. */
const firstNew = (root) =>
  root.querySelector('[aria-invalid]') ?? root.querySelector('.form-error:not([hidden]), [data-focus]')

const focusFirst = (form) => {
  const first = form.querySelector('input:not([type=hidden], [hidden]), select, textarea')
  ;(firstNew(form) ?? first)?.focus({ preventScroll: true })
}

/** Sends a form. `show` puts what the service has answered in its place, if it has a form; `finish` gets what was done. */
const bindForm = (form, { show, finish }) => {
  const button = form.querySelector('.submit')
  bindControls(form)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const data = formData(form, event.submitter)
    form.querySelector('.form-error').hidden = true
    button.disabled = true
    try {
      const page = await post(form, data)
      const done = page.getElementById('done')
      if (done) await finish(done)
      else if (!page.getElementById('main')) throw new Error('This is no answer of the service.')
      else if (!show(page)) showMessage(form, reasonIn(page))
    } catch {
      showMessage(form, form.getAttribute('data-doubt'))
    } finally {
      button.disabled = false
    }
  })
}

/** Shows the page that follows, with a message of what was done. */
const leadOn = async (done) => {
  guard(() => false)
  if (!(await load(done.getAttribute('data-next'), { history: 'replace' }))) return
  document.querySelector('.notice.done')?.remove()
  const message = done.firstElementChild
  document.getElementById('main').prepend(message)
  bindUndo(message, () => load(location.href, { history: 'none', focus: false }))
}

/** Binds the form of a page; one that has a part is answered with this part alone. */
export const pageForm = (root) => {
  const form = root.querySelector('main form[data-form], form[data-form]')
  if (!form) return
  const part = form.getAttribute('data-part') ?? 'page'
  const show = (page) => {
    if (!page.querySelector('main form[method="post"]') || !replacePart(part, page)) return false
    firstNew(document.getElementById(part))?.focus()
    return true
  }
  bindForm(form, { show, finish: leadOn })
  if (form.hasAttribute('data-follow')) followForm(form)
  const opened = form.hasAttribute('data-unsaved') ? '' : stateOf(form)
  if (form.hasAttribute('data-guard')) guard(() => form.isConnected && stateOf(form) !== opened)
  focusFirst(form)
}

let places = 0

/** The form of a page; its ids are changed so that they do not collide with those of the page around it. */
const adopted = (page) => {
  const form = page.querySelector('main form[method="post"]')
  const prefix = `place-${++places}-`
  for (const one of form?.querySelectorAll('[id], [for], [aria-describedby]') ?? [])
    for (const name of ['id', 'for', 'aria-describedby']) {
      const ids = one.getAttribute(name)?.split(/\s+/).filter(Boolean)
      if (ids) one.setAttribute(name, ids.map((id) => prefix + id).join(' '))
    }
  form?.removeAttribute('id')
  return form
}

/** Shows the form of another page within this one. Returns whether that page has one. */
const showWithin = (page, { put, finish }) => {
  const form = adopted(page)
  if (!form) return false
  put(form)
  enhance(form)
  bindForm(form, { show: (next) => showWithin(next, { put, finish }), finish })
  focusFirst(form)
  return true
}

/** Puts the form at an address into this page. Resolves with why there is none, if that is so. */
export const formWithin = async (url, place) => {
  const page = await pageAt(url).catch(() => undefined)
  if (!page) return 'The service did not answer.'
  return showWithin(page, place) ? undefined : reasonIn(page)
}
