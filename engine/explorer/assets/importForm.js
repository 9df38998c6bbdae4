/** Imports a file: sends it for a dry run, shows each issue at its cell, and then stores it. */
import { clear, finish, isComplete, show, showMessage, showRefusedToken, takeToken } from './form.js'
import { guard } from './navigate.js'
import { element, hasToken, newKey, send } from './write.js'

/** How a text begins says what it is, also if its file is called otherwise. */
const typeOf = (text) => ({ '[': 'application/json', '{': 'application/x-ndjson' })[text.trimStart()[0]] ?? 'text/csv'

/** The text of a file; spreadsheets save UTF-16 too. Bytes that are no text are left for the service to name. */
const textOf = async (file) => {
  const bytes = await file.arrayBuffer()
  const [first, second] = new Uint8Array(bytes.slice(0, 2))
  const encoding = first === 255 && second === 254 ? 'utf-16le' : first === 254 && second === 255 ? 'utf-16be' : 'utf-8'
  const text = new TextDecoder(encoding).decode(bytes)
  return { text, body: encoding === 'utf-8' ? bytes : text }
}

/** The rows of a CSV: the line in which each begins, and its cells. What is wrong with it, the service says. */
function* csvRows(text) {
  const delimiter = /[,;\t]/.exec(text.split('\n', 1)[0])?.[0] ?? ','
  let [line, begin, cells, cell, isQuoted, isFilled] = [1, 1, [], '', false, false]
  for (let n = 0; n <= text.length; n++) {
    const sign = text[n]
    const isEnd = sign === undefined || (sign === '\n' && !isQuoted)
    if (sign === '\n') line++
    if (sign === '"') {
      if (isQuoted && text[n + 1] === '"') cell += text[++n]
      else isQuoted = !isQuoted
      isFilled = true
    } else if (isEnd || (sign === delimiter && !isQuoted)) {
      cells.push(cell)
      cell = ''
      isFilled ||= !isEnd
    } else if (sign !== '\r' || isQuoted) {
      cell += sign
      isFilled = true
    }
    if (!isEnd) continue
    if (isFilled) yield { line: begin, cells }
    ;[begin, cells, isFilled] = [line, [], false]
  }
}

const parsed = (source) => {
  try {
    return JSON.parse(source)
  } catch {
    return undefined
  }
}

/** The rows of a text, for people: by column. */
function* rowsOf(text, type) {
  const shown = (value) => (typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value))
  const byName = (row) => Object.fromEntries(Object.entries(Object(row)).map(([name, value]) => [name, shown(value)]))
  if (type === 'application/json') {
    for (const [n, row] of (parsed(text) ?? []).entries()) yield { line: n + 1, row: byName(row) }
  } else if (type === 'application/x-ndjson') {
    for (const [n, source] of text.split('\n').entries())
      if (source.trim() !== '') yield { line: n + 1, row: byName(parsed(source)) }
  } else {
    let header
    for (const { line, cells } of csvRows(text.replace(/^\uFEFF/, ''))) {
      if (header) yield { line, row: Object.fromEntries(header.map((name, n) => [name, cells[n] ?? ''])) }
      header ??= cells
    }
  }
}

/** How many rows are shown of a file without an error. */
const sampleSize = 5

/** A table of the rows with issues, each at its cell; without issues, of the first rows. */
const preview = (text, type, issues) => {
  const wrong = Map.groupBy(issues, ({ loc }) => loc[1])
  const last = Math.max(sampleSize - 1, ...wrong.keys())
  const picked = []
  let n = 0
  for (const one of rowsOf(text, type)) {
    if (issues.length > 0 ? wrong.has(n) : n < sampleSize) picked.push({ ...one, issues: wrong.get(n) ?? [] })
    if (n++ >= last) break
  }
  if (picked.length === 0) return ''
  const names = new Set(picked.flatMap(({ row }) => Object.keys(row)))
  for (const { loc } of issues) if (loc.length > 2) names.add(String(loc[2]))
  const messages = (list) => list.map(({ msg }) => element('small', { className: 'issue', textContent: msg }))
  const lines = picked.map(({ line, row, issues: all }) => {
    const first = element('th', { scope: 'row' }, String(line))
    first.append(...messages(all.filter(({ loc }) => loc.length < 3)))
    const cells = [...names].map((name) => {
      const own = all.filter(({ loc }) => String(loc[2]) === name)
      const value = row[name] ?? ''
      const text = value.length > 200 ? `${value.slice(0, 200)}…` : value
      return element('td', { className: own.length > 0 ? 'wrong' : '' }, element('bdi', {}, text), ...messages(own))
    })
    return element('tr', {}, first, ...cells)
  })
  const heads = [type === 'application/json' ? 'Row' : 'Line', ...names]
  const head = element('tr', {}, ...heads.map((name) => element('th', { scope: 'col', textContent: name })))
  const table = element('table', {}, element('thead', {}, head), element('tbody', {}, ...lines))
  const label = issues.length > 0 ? 'Rows with errors' : 'The first rows'
  const properties = { className: 'scroll preview', role: 'region', ariaLabel: label, tabIndex: 0 }
  return element('div', properties, table)
}

const counted = (count, word) => `${count.toLocaleString('en')} ${word}`

export const importForm = (root) => {
  const form = root.querySelector('form[data-import]')
  if (!form) return
  const { target, unset, keyless, done, plural } = form.dataset
  const [file, pasted, match] = ['#file', '#text', '#match'].map((id) => form.querySelector(id))
  const place = root.querySelector('#checked')
  const check = form.querySelector('.primary')
  const leftOut = new Set()
  /** The key of an import whose outcome is unknown. */
  let unsettled
  form.hidden = false
  const tokenBox = form.querySelector('.token')
  if (tokenBox) tokenBox.hidden = hasToken()

  /** What was checked is no longer what would be sent. */
  const reset = () => {
    place.hidden = true
    check.classList.add('primary')
    unsettled = undefined
  }
  const read = async () => {
    if (pasted.value.trim() !== '') return { text: pasted.value, body: pasted.value }
    return file.files[0] ? textOf(file.files[0]) : undefined
  }
  const url = (isDryRun) => {
    const by = match?.value ?? ''
    const ignored = [...unset.split(' ').filter((name) => name !== '' && name !== by), ...leftOut]
    const query = [
      ...(isDryRun ? [['dryRun', 'true']] : []),
      ...(by ? [['match', by]] : []),
      ...ignored.map((name) => ['ignore', name]),
    ]
    return `${target}?${new URLSearchParams(query)}`
  }
  const sendRows = async (sent, isDryRun) => {
    const key = unsettled ?? newKey()
    if (!isDryRun) unsettled = key
    const head = { type: typeOf(sent.text), isSession: !tokenBox, ...(!isDryRun && !keyless && { key }) }
    const response = await send(url(isDryRun), { ...head, body: sent.body })
    const result = await response.json()
    // Only the same request may be sent with the same key again.
    if (response.status < 500) unsettled = undefined
    if (response.status === 401) showRefusedToken(form)
    else if (!response.ok) showIssues(sent, result.error, response.status)
    return response.ok ? result : undefined
  }

  const put = (...children) => {
    place.replaceChildren(...children)
    place.hidden = false
    place.focus()
  }

  /** Offers to leave out a column that cannot be read. */
  const columnIssue = ({ loc, msg }) => {
    const button = element('button', { type: 'button', textContent: 'Leave it out' })
    button.addEventListener('click', () => {
      leftOut.add(loc[1])
      form.requestSubmit()
    })
    return element('p', { className: 'notice error' }, `${msg} `, button)
  }

  const showIssues = (sent, error, status) => {
    const issues = error?.details?.issues ?? []
    if (issues.length === 0) {
      showMessage(form, error?.message ?? `The service answered with status ${status}.`).focus()
      return
    }
    const ofRows = issues.filter(({ loc }) => typeof loc[1] === 'number')
    const ofColumns = issues.filter(({ loc }) => loc[0] === 'body' && typeof loc[1] === 'string')
    const others = issues.filter((issue) => !ofRows.includes(issue) && !ofColumns.includes(issue))
    const total = error.details.total ?? issues.length
    const first = total > issues.length ? ` The first ${issues.length} are shown.` : ''
    const head = `Nothing was imported: ${counted(total, total === 1 ? 'error' : 'errors')}.${first}`
    const line = (issue) => (issue.line ? `Line ${issue.line}: ` : '')
    const messages = others.map((issue) => element('p', { className: 'notice error' }, `${line(issue)}${issue.msg}`))
    const table = ofRows.length > 0 ? preview(sent.text, typeOf(sent.text), ofRows) : ''
    put(
      element('p', { className: 'notice error', role: 'alert' }, head),
      ...ofColumns.map(columnIssue),
      ...messages,
      table,
    )
  }

  const store = async (sent, button) => {
    button.disabled = true
    try {
      const result = await sendRows(sent, false)
      if (!result) return
      const { created, updated, unchanged } = result
      const counts = [counted(created, 'created'), counted(updated, 'changed'), counted(unchanged, 'unchanged')]
      await finish(done, `Imported ${plural}: ${counts.join(', ')}.`)
    } catch {
      const again = keyless ? 'Look before you import it again.' : 'Try again: nothing is imported twice.'
      const doubt = `The service did not answer; the rows may or may not have been imported. ${again}`
      showMessage(form, doubt).focus()
    } finally {
      button.disabled = false
    }
  }

  const showCounts = (sent, { created, updated, unchanged }) => {
    const changes = created + updated
    const rows = changes + unchanged
    const text = `${counted(rows, rows === 1 ? 'row' : 'rows')}: ${counted(created, 'new')}, ${counted(updated, 'changed')}, ${counted(unchanged, 'unchanged')}.`
    const notice = element('p', { className: 'notice', role: 'status' }, text)
    const button = element('button', { type: 'button', className: 'primary' })
    button.textContent = `Import ${counted(rows, rows === 1 ? 'row' : 'rows')}`
    button.addEventListener('click', () => store(sent, button))
    const action = changes > 0 ? element('p', { className: 'actions' }, button) : 'There is nothing to import.'
    check.classList.toggle('primary', changes === 0)
    put(notice, action, preview(sent.text, typeOf(sent.text), []))
  }

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    clear(form)
    reset()
    takeToken(form)
    const sent = await read().catch(() => undefined)
    if (!sent) {
      show(file, 'Choose a file, or paste rows.').focus()
      return
    }
    if (!isComplete(form, [])) return
    check.disabled = true
    try {
      const result = await sendRows(sent, true)
      if (result) showCounts(sent, result)
    } catch {
      showMessage(form, 'The service did not answer. Nothing was imported; try again.').focus()
    } finally {
      check.disabled = false
    }
  })

  const changed = () => {
    leftOut.clear()
    reset()
  }
  for (const input of [file, pasted, match]) input?.addEventListener('input', changed)
  // A file that was chosen is checked at once, unless the token is missing.
  file.addEventListener('change', () => {
    pasted.value = ''
    takeToken(form)
    if (file.files[0] && (!tokenBox || hasToken())) form.requestSubmit()
  })
  const drop = form.querySelector('.drop')
  for (const name of ['dragover', 'dragleave', 'drop'])
    form.addEventListener(name, (event) => {
      event.preventDefault()
      drop.classList.toggle('over', name === 'dragover')
    })
  form.addEventListener('drop', (event) => {
    if (event.dataTransfer.files.length === 0) return
    file.files = event.dataTransfer.files
    changed()
    file.dispatchEvent(new Event('change'))
  })
  guard(() => form.isConnected && (pasted.value !== '' || file.files.length > 0))
}
