/** The table of some rows: its head, and a line for each row. */
import { type Registry, type Resource, type RowValues, searchedFields, type Value } from '../descriptor/registry.js'
import { type Excerpt, excerptOf, matchesIn } from './excerpt.js'
import { type Html, html } from './html.js'
import type { Labels } from './labels.js'
import { rowUrl } from './links.js'
import { cellOf, isNumeric, type Shown } from './values.js'

/** A row as it is shown: long texts are excerpts, so that a page of them stays small. */
export type ShownRow = Readonly<Record<string, Value | Excerpt>>

export const shownRow = (resource: Resource, row: RowValues, q: string): ShownRow => {
  const searched = searchedFields(resource).map(({ name }) => name)
  const texts = searched.map((name) => row[name] as string | null)
  const ranges = matchesIn(texts, q)
  const excerpts = texts.map((text, n) => (text === null ? null : excerptOf(text, ranges[n] ?? [])))
  return { ...row, ...Object.fromEntries(searched.map((name, n) => [name, excerpts[n] ?? null])) }
}

const headOf = (resource: Resource): Html =>
  html`<thead><tr>${resource.fields.map(
    (field) =>
      html`<th scope="col" class="${isNumeric(field) && !field.redacted ? 'number' : ''}" title="${field.about}">${field.name}</th>`,
  )}</tr></thead>`

const rowOf = (resource: Resource, row: ShownRow, shown: Shown): Html => {
  const cells = resource.fields.map((field) =>
    field.name === 'id'
      ? html`<th scope="row" class="number"><a href="${shown.url}">${String(row['id'])}</a></th>`
      : cellOf(field, row[field.name] ?? null, shown),
  )
  return html`<tr>${cells}</tr>`
}

export const rowsTable = (registry: Registry, resource: Resource, rows: readonly ShownRow[], labels: Labels): Html => {
  const lines = rows.map((row) => rowOf(resource, row, { registry, labels, url: rowUrl(resource, String(row['id'])) }))
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Table of ${resource.plural.toLowerCase()}"><table>${headOf(resource)}<tbody>${lines}</tbody></table></div>`
}
