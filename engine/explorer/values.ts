/** How values are shown: in a table, and on the page of their row. */
import { kindOf } from '../descriptor/kinds.js'
import type { ListQuery } from '../descriptor/listQuery.js'
import {
  type Field,
  type Registry,
  type Resource,
  type RowValues,
  searchedFields,
  type Value,
} from '../descriptor/registry.js'
import { cut, type Excerpt, excerptOf, marked, matchesIn } from './excerpt.js'
import { type Html, html } from './html.js'
import { type Labels, targetOf } from './labels.js'
import { fromStart, rowUrl, tableUrl } from './links.js'

/** A row as it is shown: long texts are excerpts, so that a page of them stays small. */
export type ShownRow = Readonly<Record<string, Value | Excerpt>>

export const shownRow = (resource: Resource, row: RowValues, q: string): ShownRow => {
  const searched = searchedFields(resource).map(({ name }) => name)
  const texts = searched.map((name) => row[name] as string | null)
  const ranges = matchesIn(texts, q)
  const excerpts = texts.map((text, n) => (text === null ? null : excerptOf(text, ranges[n] ?? [])))
  return { ...row, ...Object.fromEntries(searched.map((name, n) => [name, excerpts[n] ?? null])) }
}

/** The name of a column; where rows can be ordered by it, a link that does so or turns the order around. */
const headOf = (resource: Resource, query: ListQuery): Html => {
  const { order } = query
  const cells = resource.fields.map((field) => {
    const { name } = field
    const isOrder = order.field === name
    const descending = isOrder && !order.descending
    const url = tableUrl(resource, fromStart({ ...query, order: { field: name, descending } }))
    const title = name === 'id' || field.sort ? html`<a class="sort" href="${url}">${name}</a>` : name
    const direction = isOrder && html` aria-sort="${order.descending ? 'descending' : 'ascending'}"`
    return html`<th scope="col"${direction} class="${isNumeric(field) && !field.redacted ? 'number' : ''}" title="${field.about}">${title}</th>`
  })
  return html`<thead><tr>${cells}</tr></thead>`
}

const rowOf = (resource: Resource, row: ShownRow, shown: Shown): Html => {
  const cells = resource.fields.map((field) =>
    field.name === 'id'
      ? html`<th scope="row" class="number"><a href="${shown.url}">${String(row['id'])}</a></th>`
      : cellOf(field, row[field.name] ?? null, shown),
  )
  return html`<tr>${cells}</tr>`
}

export const rowsTable = (
  registry: Registry,
  resource: Resource,
  query: ListQuery,
  rows: readonly ShownRow[],
  labels: Labels,
): Html => {
  const lines = rows.map((row) => rowOf(resource, row, { registry, labels, url: rowUrl(resource, String(row['id'])) }))
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Table of ${resource.plural.toLowerCase()}"><table>${headOf(resource, query)}<tbody>${lines}</tbody></table></div>`
}

/** What is needed to show the values of a row. */
export interface Shown {
  readonly registry: Registry
  readonly labels: Labels
  /** The address of the row's own page, which has its texts in full. */
  readonly url: string
}

const redacted = html`<span class="redacted">redacted</span>`
const none = html`<span class="none">–</span>`

/** The length of a collapsed text in a cell, and how much of it precedes the first match. */
const cellLength = 40
const beforeMatch = 14

/** Whether values are numbers for people; a reference is a name. */
export const isNumeric = ({ kind, references }: Field): boolean =>
  kindOf(kind).input === 'number' && references === undefined

/** Short texts that people filter by are states and kinds. */
const isChip = ({ filter, kind, references }: Field, value: string): boolean =>
  filter === true && kindOf(kind).isText === true && references === undefined && value.length <= 40 && value !== ''

/** One of six quiet tones, always the same for a text. */
const toneOf = (text: string): number => {
  let hash = 0
  for (const letter of text) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003
  return hash % 6
}

const chip = (text: string, content: Html = html`${text}`): Html =>
  html`<span class="chip tone-${toneOf(text)}"><bdi>${content}</bdi></span>`

/** A reference by its label; in full with its id too. */
const reference = (field: Field, value: Value, { registry, labels }: Shown, isFull = false): Html | undefined => {
  const target = targetOf(registry, field)
  if (!target) return undefined
  const label = labels(target, value)
  const note = label === undefined ? 'There is no such row.' : label === `#${value}` ? undefined : `#${value}`
  const more = isFull && note && html` <span class="note">${note}</span>`
  if (label === undefined) return html`<span class="none">#${Number(value)}</span>${more}`
  return html`<a href="${rowUrl(target, Number(value))}"><bdi>${label}</bdi></a>${more}`
}

const longText = ({ text, ranges, from: skipped, length }: Excerpt, url: string): Html => {
  const [first = [0, 0]] = ranges
  const from = first[1] <= cellLength ? 0 : Math.max(0, first[0] - beforeMatch)
  const summary = html`${from + skipped > 0 && '…'}${marked(text, ranges, from, cellLength)}${from + cellLength < text.length && '…'}`
  const rest = length > text.length && html` <a href="${url}">All ${length.toLocaleString('en')} characters</a>`
  return html`<details><summary><bdi>${summary}</bdi></summary><div class="unfolded" dir="auto">${skipped > 0 && '…'}${marked(text, ranges, 0, text.length)}${rest && '…'}${rest}</div></details>`
}

/** A value in a cell of a table; of a text, its excerpt. */
export const cellOf = (field: Field, value: Value | Excerpt, shown: Shown): Html => {
  if (field.redacted) return html`<td>${redacted}</td>`
  const isNumber = isNumeric(field)
  if (value === null) return isNumber ? html`<td class="number">${none}</td>` : html`<td>${none}</td>`
  if (typeof value === 'object') {
    const { text, ranges } = value
    const all = marked(text, ranges, 0, text.length)
    if (isChip(field, text)) return html`<td>${chip(text, all)}</td>`
    const hasLongText = value.length > cellLength || text.includes('\n')
    return html`<td class="text">${hasLongText ? longText(value, shown.url) : html`<bdi>${all}</bdi>`}</td>`
  }
  const link = reference(field, value, shown)
  return link
    ? html`<td class="reference">${link}</td>`
    : html`<td${isNumber && html` class="number"`}>${String(value)}</td>`
}

/** A page shows at most this many characters of a text; the API has all of them. */
const pageLength = 1_200_000

/** A value on the page of its row, in full. */
export const fullValue = (field: Field, value: Value, shown: Shown): Html => {
  if (field.redacted) return html`${redacted} <span class="note">never leaves the database</span>`
  if (value === null) return html`${none}`
  const link = reference(field, value, shown, true)
  if (link) return link
  if (typeof value === 'number') return html`<span class="number">${value}</span>`
  const text = String(value)
  if (isChip(field, text)) return chip(text)
  if (text.length <= 200 && !text.includes('\n')) return html`<bdi>${text}</bdi>`
  const isCut =
    text.length > pageLength &&
    html`<p class="note">The first ${pageLength.toLocaleString('en')} of ${text.length.toLocaleString('en')} characters; the JSON has all.</p>`
  return html`<div class="long" dir="auto" tabindex="0" role="group" aria-label="${field.name}">${cut(text, 0, pageLength)}</div>${isCut}`
}
