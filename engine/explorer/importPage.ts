/** The form that imports a file: a dry run first, with each issue at its cell, then one button. */
import { type Issue, pathNotFound } from '../contract/errors.js'
import { matchFields, maxImportRows } from '../contract/importParameters.js'
import { bodyLimit } from '../contract/rowBody.js'
import { kindOf } from '../descriptor/kinds/index.js'
import { type Field, isMandatory, type Registry, type Resource, writableFields } from '../descriptor/registry.js'
import { type CheckedImport, formKey, type ImportCounts, type Posted } from './controlTexts.js'
import { grouped } from './format.js'
import { formOrSignIn, renderForm } from './formPages.js'
import { type Html, html, joined } from './html.js'
import { requestPanel, shellWord } from './layout.js'
import { apiUrl, pageUrl } from './links.js'
import { bothNames, fieldTitle, referencedResource } from './names.js'
import type { Page, ResourceRequest, TextFile, Visitor } from './page.js'

const canImport = ({ import: isImported, create }: Resource): boolean => isImported === true && create

export const importLink = (resource: Resource): Html | false =>
  canImport(resource) && html`<a class="button" href="${pageUrl(resource, 'import')}">Import</a>`

/** The first line of a CSV, with the names of all fields that can be set. */
const header = (resource: Resource): string => `${writableFields(resource).map(({ name }) => name)}\r\n`

export const importTemplate = (_: Visitor, { resource }: ResourceRequest): TextFile => {
  if (!canImport(resource)) throw pathNotFound()
  return {
    file: `${resource.path}-template.csv`,
    type: 'text/csv; charset=utf-8; header=present',
    text: header(resource),
  }
}

/** The fields that the service sets; a file may have them, and they are not read. */
export const unreadFields = (resource: Resource): string[] => {
  const fields = writableFields(resource)
  return resource.fields.filter((field) => !fields.includes(field) && !field.isReadOnly).map(({ name }) => name)
}

/** What a cell of a column has; a text may be any. */
const cellForm = (registry: Registry, field: Field): string | undefined => {
  const target = referencedResource(registry, field)
  if (target) return `the id of a row of ${target.plural.toLowerCase()}`
  const { oneOf, start } = field
  if (!oneOf) return kindOf(field.kind).cell
  return `${oneOf.join(', ')}${start ? `; in a new row ${start.join(' or ')}` : ''}`
}

const counted = (count: number, word: string): string => `${grouped(count)} ${word}`
const rowsOf = (count: number): string => counted(count, count === 1 ? 'row' : 'rows')

/** What was done with the rows of a file. */
export const importMessage = (resource: Resource, { created, updated, unchanged }: ImportCounts): string =>
  `Imported ${resource.plural.toLowerCase()}: ${counted(created, 'created')}, ${counted(updated, 'changed')}, ${counted(unchanged, 'unchanged')}.`

/** What is wrong with the file as a whole, and once each the members that no row may have: a button leaves them out. */
const issuesOfFile = (issues: readonly Issue[]): Issue[] => {
  const unwanted = new Map<string | number, Issue>()
  for (const {
    type,
    loc: [place = '', row, name],
    msg,
  } of issues)
    if (type === 'extra_forbidden' && typeof row === 'number' && name !== undefined)
      unwanted.set(name, { type, loc: [place, name], msg })
  return [...issues.filter(({ loc }) => typeof loc[1] !== 'number'), ...unwanted.values()]
}

const renderIssues = ({ issues, total, preview }: CheckedImport): Html => {
  const first = total > issues.length ? ` The first ${issues.length} are shown.` : ''
  const head = `Nothing was imported: ${counted(total, total === 1 ? 'error' : 'errors')}.${first}`
  const fileIssues = issuesOfFile(issues).map(({ loc: [place, name], line, msg }) =>
    place === 'body' && typeof name === 'string'
      ? html`<p class="notice error">${msg} <button name="ignore" value="${name}">Leave it out</button></p>`
      : html`<p class="notice error">${line !== undefined && `Line ${line}: `}${msg}</p>`,
  )
  return html`<p class="notice error" role="alert">${head}</p>${fileIssues}${preview}`
}

const storeButton = (button: string): Html =>
  html`<p class="actions"><button class="primary" name="form.step" value="store">${button}</button></p>`

const renderCounts = ({ created, updated, unchanged }: ImportCounts, preview: Html | undefined): Html => {
  const rows = created + updated + unchanged
  const text = `${rowsOf(rows)}: ${counted(created, 'new')}, ${counted(updated, 'changed')}, ${counted(unchanged, 'unchanged')}.`
  const action = created + updated > 0 ? storeButton(`Import ${rowsOf(rows)}`) : 'There is nothing to import.'
  return html`<p class="notice" role="status">${text}</p>${action}${preview}`
}

/** What came of the file that was sent; columns that were left out stay so. */
const renderResult = (posted: Posted, key: string | undefined): Html => {
  const { texts, status, message, checked } = posted
  const ignored = texts.getAll('ignore').map((name) => html`<input type="hidden" name="ignore" value="${name}">`)
  const hidden = html`${ignored}${key !== undefined && html`<input type="hidden" name="form.key" value="${key}">`}`
  const isOpen = status >= 500 && texts.get('form.step') === 'store'
  const content = checked?.counts ? renderCounts(checked.counts, checked.preview) : checked && renderIssues(checked)
  return html`<section id="result" aria-label="Result of the check" tabindex="-1" data-focus>${hidden}${message && html`<p class="notice error" role="alert">${message}</p>`}${content}${isOpen && storeButton('Import again')}</section>`
}

export const importPage = (visitor: Visitor, { resource, origin, posted }: ResourceRequest): Page => {
  const { registry } = visitor
  if (!canImport(resource)) throw pathNotFound()
  const plural = resource.plural.toLowerCase()
  const fields = writableFields(resource)
  const matches = resource.fields.filter(({ name }) => matchFields(resource).includes(name))
  const matchName = posted?.texts.get('match')
  const options = matches.map(
    (field) =>
      html`<option value="${field.name}"${field.name === matchName && html` selected`}>Change the row that has the same ${fieldTitle(registry, field)}</option>`,
  )
  const match =
    matches.length > 0 &&
    html`<div class="control"><label for="match">Rows that are there already</label><select id="match" name="match" aria-describedby="help-match"><option value="">Create each row of the file as a new one</option>
    ${options}</select><p class="help" id="help-match">An empty cell leaves the value of a row that is changed as it is.</p></div>`
  const columns = fields.map(
    (field) =>
      html`<li><div>${bothNames(registry, field)}${isMandatory(field) && html` <span class="required">required</span>`} <span class="note">${cellForm(registry, field)}</span></div></li>`,
  )
  const locked = resource.fields.filter(({ isReadOnly }) => isReadOnly).map(({ name }) => name)
  const note = (words: string, names: readonly string[]) => {
    const list = names.map((name) => html`<code>${name}</code>`)
    return names.length > 0 && html`<p class="note">${words}: ${joined(list, ', ')}</p>`
  }
  const issue = posted?.issues.map(({ message }) => message).join(' ') ?? ''
  // The script keeps what was pasted.
  const text = posted && !posted.texts.has('form.script') ? (posted.texts.get('text') ?? '') : ''
  const pasted = text.length > bodyLimit ? '' : text
  const url = pageUrl(resource, 'import')
  const counts = posted?.checked?.counts
  const form = renderForm({
    id: 'import',
    action: url,
    script: html` data-import data-guard`,
    content: html`<div class="control drop"><label for="file">File</label><input type="file" id="file" name="file" accept=".csv,.tsv,.txt,.ndjson,.jsonl,.json,text/csv,application/json" aria-describedby="help-file issue-file"><p class="help" id="help-file">CSV, NDJSON or a JSON array, up to ${grouped(maxImportRows)} rows. Choose it, or drop it here.</p>
      <details${pasted && html` open`}><summary>Paste rows instead</summary><textarea id="text" name="text" rows="6" spellcheck="false" aria-label="Rows">
${pasted}</textarea></details></div>
      ${match}`,
    button: 'Check',
    isSecondary: counts !== undefined && counts.created + counts.updated > 0,
    back: pageUrl(resource),
    doubt: `The service did not answer; the rows may or may not have been imported. ${resource.existing ? 'Look before you import them again.' : 'Try again: nothing is imported twice.'}`,
    posted: undefined,
    part: {
      id: 'checked',
      result: html`<p class="issue" id="issue-file">${issue}</p>${posted && renderResult(posted, formKey(resource, posted))}`,
    },
  })
  const curl = `curl -X POST ${shellWord(`${origin}${apiUrl(resource, 'import')}?dryRun=true`)} -H ${shellWord('Authorization: Bearer TOKEN')} -H 'Content-Type: text/csv' --data-binary @FILE`
  const main = html`<div class="title"><div><h1>Import ${plural}</h1><p class="lead">All rows of a file, or none. You see what would change before anything is stored.</p></div></div>
    <div class="row-columns"><div>${formOrSignIn(visitor, url, form)}</div><div class="beside">
    <section class="referrers" aria-labelledby="columns-title"><h2 id="columns-title">Columns</h2><ul class="plain-list">${columns}</ul>${note('Set by the service, and not read from the file', unreadFields(resource))}${note('Set by other roles, so that a file must have no values of', locked)}
    <p><a href="${pageUrl(resource, 'template.csv')}" download>Download a template</a></p></section>
    ${requestPanel(visitor, ['import', resource], curl)}</div></div>`
  return {
    title: `Import ${plural}`,
    crumbs: [{ title: resource.plural, url: pageUrl(resource) }, { title: 'Import' }],
    main,
    ...(posted && { status: posted.status }),
  }
}
