/** The form that imports a file: a dry run first, with each issue at its cell, then one button. The script sends it to the API. */
import { pathNotFound } from '../contract/errors.js'
import { matchFields, maxImportRows } from '../contract/importParameters.js'
import { kindOf } from '../descriptor/kinds/index.js'
import { type Field, isMandatory, type Registry, type Resource, writableFields } from '../descriptor/registry.js'
import { grouped } from './format.js'
import { disabled, tokenControl } from './formPages.js'
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

/** What a cell of a column has; a text may be any. */
const cellForm = (registry: Registry, field: Field): string | undefined => {
  const target = referencedResource(registry, field)
  if (target) return `the id of a row of ${target.plural.toLowerCase()}`
  return field.oneOf ? field.oneOf.map(String).join(', ') : kindOf(field.kind).cell
}

export const importPage = (visitor: Visitor, { resource, origin }: ResourceRequest): Page => {
  const { registry } = visitor
  if (!canImport(resource)) throw pathNotFound()
  const plural = resource.plural.toLowerCase()
  const isSignedIn = visitor.name !== undefined
  const fields = writableFields(resource)
  const unset = resource.fields.filter((field) => !fields.includes(field))
  const matches = resource.fields.filter(({ name }) => matchFields(resource).includes(name))
  const match =
    matches.length > 0 &&
    html`<div class="control"><label for="match">Rows that are there already</label><select id="match" aria-describedby="help-match"><option value="">Create each row of the file as a new one</option>
    ${matches.map((field) => html`<option value="${field.name}">Change the row that has the same ${fieldTitle(registry, field)}</option>`)}</select><p class="help" id="help-match">An empty cell leaves the value of a row that is changed as it is.</p></div>`
  const columns = fields.map(
    (field) =>
      html`<li><div>${bothNames(registry, field)}${isMandatory(field) && html` <span class="required">required</span>`} <span class="note">${cellForm(registry, field)}</span></div></li>`,
  )
  const names = unset.map(({ name }) => html`<code>${name}</code>`)
  const form = html`<noscript><p class="notice">This form needs JavaScript. Without it, send the request on this page, with the write token in place of TOKEN.</p></noscript>
      <form id="import" data-import data-target="${isSignedIn ? pageUrl(resource, 'import') : apiUrl(resource, 'import')}" data-unset="${unset.map(({ name }) => name).join(' ')}" data-keyless="${resource.existing && 'true'}" data-done="${pageUrl(resource)}" data-plural="${plural}" novalidate hidden>
      <div class="form-error notice error" role="alert" tabindex="-1" hidden></div>
      <div class="control drop"><label for="file">File</label><input type="file" id="file" accept=".csv,.tsv,.txt,.ndjson,.jsonl,.json,text/csv,application/json" aria-describedby="help-file issue-file"><p class="help" id="help-file">CSV, NDJSON or a JSON array, up to ${grouped(maxImportRows)} rows. Choose it, or drop it here.</p>
      <details><summary>Paste rows instead</summary><textarea id="text" rows="6" spellcheck="false" aria-label="Rows"></textarea></details><p class="issue" id="issue-file"></p></div>
      ${match}${!isSignedIn && tokenControl}
      <p class="actions"><button class="primary">Check</button> <a class="button" href="${pageUrl(resource)}">Cancel</a></p></form>
      <section id="checked" aria-label="Result of the check" tabindex="-1" hidden></section>`
  const curl = `curl -X POST ${shellWord(`${origin}${apiUrl(resource, 'import')}?dryRun=true`)} -H ${shellWord('Authorization: Bearer TOKEN')} -H 'Content-Type: text/csv' --data-binary @FILE`
  const main = html`<div class="title"><div><h1>Import ${plural}</h1><p class="lead">All rows of a file, or none. You see what would change before anything is stored.</p></div></div>
      <div class="row-columns"><div>${visitor.writes ? form : disabled}</div><div class="beside">
      <section class="referrers" aria-labelledby="columns-title"><h2 id="columns-title">Columns</h2><ul class="plain-list">${columns}</ul>${names.length > 0 && html`<p class="note">Set by the visitor, and not read from the file: ${joined(names, ', ')}</p>`}
      <p><a href="${pageUrl(resource, 'template.csv')}" download>Download a template</a></p></section>
      ${requestPanel(visitor, ['import', resource], curl)}</div></div>`
  return {
    title: `Import ${plural}`,
    crumbs: [{ title: resource.plural, url: pageUrl(resource) }, { title: 'Import' }],
    main,
  }
}
