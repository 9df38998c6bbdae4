/** How values are shown: in a table, and on the page of their row. */
import { indentedJson, JsonText } from '../descriptor/jsonText.js'
import { isJson } from '../descriptor/kinds/index.js'
import {
  type Field,
  type GivenValue,
  type Resource,
  type RowValues,
  searchedFields,
  type Value,
} from '../descriptor/registry.js'
import { cut, type Excerpt, isExcerpt, makeExcerpt, marked, matchesIn } from './excerpt.js'
import { formatted, grouped, isNumeric, readable } from './format.js'
import { type Html, html, type Part } from './html.js'
import { rowUrl, type TableView } from './links.js'
import { referencedResource } from './names.js'

/** A row as it is shown: long texts are excerpts, so that a page of them stays small. */
export type ShownRow = Readonly<Record<string, Value | Excerpt>>

const searchedTexts = (resource: Resource, row: RowValues): (string | null)[] =>
  searchedFields(resource).map(({ name }) => row[name] as string | null)

/** Whether a search finds a row. */
export const hasMatch = (resource: Resource, row: RowValues, q: string): boolean =>
  matchesIn(searchedTexts(resource, row), q).some((ranges) => ranges.length > 0)

export const shownRow = (resource: Resource, row: RowValues, q: string): ShownRow => {
  const searched = searchedFields(resource).map(({ name }) => name)
  const texts = searchedTexts(resource, row)
  const ranges = matchesIn(texts, q)
  const excerpts = texts.map((text, n) => (text === null ? null : makeExcerpt(text, ranges[n] ?? [])))
  const json = resource.fields.filter((field) => isJson(field) && (row[field.name] ?? null) !== null)
  return {
    ...row,
    ...Object.fromEntries(searched.map((name, n) => [name, excerpts[n] ?? null])),
    ...Object.fromEntries(json.map(({ name }) => [name, makeExcerpt(JSON.stringify(row[name]), [])])),
  }
}

export interface Context extends Pick<TableView, 'registry' | 'labels'> {
  /** The address of the row's own page, which has its texts in full. */
  readonly url: string
}

const redacted = html`<span class="redacted">redacted</span>`
const none = html`<span class="none">–</span>`

/** The length of a collapsed text in a cell, and how much of it precedes the first match. */
const cellLength = 40
const beforeMatch = 14

/** A value; one with a tone is a chip of that colour. */
const toned = ({ tones = {} }: Field, value: string, content: Html): Html =>
  Object.hasOwn(tones, value) ? html`<span class="chip ${tones[value]}">${content}</span>` : content

/** A text for a value, in the colour of the value. */
export const plainValue = (field: Field, value: string, text: string): Html =>
  toned(field, value, html`<bdi>${text}</bdi>`)

const reference = (field: Field, value: Value, { registry, labels }: Context, isFull = false): Html | undefined => {
  const target = referencedResource(registry, field)
  if (!target) return undefined
  const label = labels(target, value)
  const note = label === undefined ? 'There is no such row.' : label === `#${value}` ? undefined : `#${value}`
  const more = isFull && note && html` <span class="note">${note}</span>`
  if (label === undefined) return html`<span class="none">#${String(value)}</span>${more}`
  return html`<a href="${rowUrl(target, String(value))}"><bdi>${label}</bdi></a>${more}`
}

const longText = ({ text, ranges, from: skipped, length }: Excerpt, url: string): Html => {
  const [first = [0, 0]] = ranges
  const from = first[1] <= cellLength ? 0 : Math.max(0, first[0] - beforeMatch)
  const summary = html`${from + skipped > 0 && '…'}${marked(text, ranges, from, cellLength)}${from + cellLength < text.length && '…'}`
  const fullLink = length > text.length && html` <a href="${url}">All ${grouped(length)} characters</a>`
  return html`<details><summary><bdi>${summary}</bdi></summary><div class="unfolded" dir="auto">${skipped > 0 && '…'}${marked(text, ranges, 0, text.length)}${fullLink && '…'}${fullLink}</div></details>`
}

const textContent = (field: Field, excerpt: Excerpt, url: string): Html => {
  const { text, ranges, length } = excerpt
  if (length > cellLength || text.includes('\n')) return longText(excerpt, url)
  const content = ranges.length > 0 ? html`<bdi>${marked(text, ranges, 0, text.length)}</bdi>` : formatted(field, text)
  return toned(field, text, content)
}

export const renderCell = (field: Field, value: Value | Excerpt, context: Context, attributes?: Part): Html => {
  const cell = (content: Html, kind = '') => html`<td${kind && html` class="${kind}"`}${attributes}>${content}</td>`
  if (field.redacted) return cell(redacted)
  const number = isNumeric(field) ? 'number' : ''
  if (value === null) return cell(none, number)
  const excerpt = isExcerpt(value) ? value : undefined
  const link = reference(field, excerpt?.text ?? (value as Value), context)
  if (link) return cell(link, 'text')
  if (excerpt) return cell(textContent(field, excerpt, context.url), 'text')
  return cell(toned(field, String(value), formatted(field, value as GivenValue)), number)
}

/** A page shows at most this many characters of a text; the API has all of them. */
const pageLength = 1_200_000

export const fullValue = (field: Field, value: Value, context: Context): Html => {
  if (field.redacted) return html`${redacted} <span class="note">never leaves the database</span>`
  if (value === null) return html`${none}`
  const link = reference(field, value, context, true)
  if (link) return link
  const text = value instanceof JsonText ? indentedJson(value.text) : String(value)
  if (isJson(field) && text.includes('\n'))
    return html`<pre class="json" tabindex="0" role="group" aria-label="${field.name}">${text}</pre>`
  if (text.length <= 200 && !text.includes('\n')) {
    const exact = text !== readable(field, value) && html` <code class="raw">${text}</code>`
    return html`${toned(field, text, formatted(field, value))}${exact}`
  }
  const isCut =
    text.length > pageLength &&
    html`<p class="note">The first ${grouped(pageLength)} of ${grouped(text.length)} characters; the JSON has all.</p>`
  return html`<div class="long" dir="auto" tabindex="0" role="group" aria-label="${field.name}">${cut(text, 0, pageLength)}</div>${isCut}`
}
