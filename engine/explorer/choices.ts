/** Suggestions for a reference: the rows that a typed text finds, by their labels. */
import { queryParameters } from '../contract/parameters.js'
import { defaultListQuery } from '../descriptor/listQuery.js'
import { type Field, filterFields, parseId, type Resource, type RowValues } from '../descriptor/registry.js'
import type { Caller, Storage } from '../storage/storage.js'
import { countValues, inTime } from './counts.js'
import { withFilter } from './filters.js'
import { grouped } from './format.js'
import { type Html, html } from './html.js'
import { type TableQuery, tableUrl } from './links.js'
import { fieldTitle, rowLabel } from './names.js'
import type { Page, ResourceRequest, Visitor } from './page.js'
import { eachRow } from './rows.js'
import { hasMatch } from './values.js'

export interface Choice {
  readonly id: string
  readonly label: string
}

/** How many rows are ranked by their labels. */
const maxCandidates = 50

/** Labels that begin with the text come first, then those that contain it. */
export const rank = ({ label }: Choice, q: string): number => {
  const at = label.toLowerCase().indexOf(q.toLowerCase())
  return at === 0 ? 0 : at > 0 ? 1 : 2
}

export interface Choices {
  readonly choices: readonly Choice[]
  /** How many rows the text finds, and whether that leaves out the one whose id was typed. */
  readonly matches: number
  readonly isTypedOnly: boolean
}

/** The rows that a text finds, up to a number; a row whose id was typed comes first. */
export const readChoices = async (
  storage: Storage,
  target: Resource,
  text: string,
  limit: number,
  caller?: Caller,
): Promise<Choices> => {
  const table = storage.table(target)
  const q = text.trim()
  const toChoice = (row: RowValues): Choice => ({ id: String(row['id']), label: rowLabel(target, row) })
  const id = parseId(target, q)
  const stored = id === undefined || id === '' ? undefined : await table.get(id)
  const typed = stored && (JSON.parse(String(stored.body)) as RowValues)
  const candidates: Choice[] = []
  const page = { limit: maxCandidates, offset: 0n }
  const matches = await eachRow(await table.list({ ...defaultListQuery, search: q, page }, caller), (row) =>
    candidates.push(toChoice(row)),
  )
  const untyped = candidates.filter(({ id }) => id !== String(typed?.['id'])).sort((a, b) => rank(a, q) - rank(b, q))
  return {
    choices: [...(typed ? [toChoice(typed)] : []), ...untyped].slice(0, limit),
    matches,
    isTypedOnly: typed !== undefined && untyped.length === candidates.length && !hasMatch(target, typed, q),
  }
}

export const rowOptions = async (
  { storage }: Visitor,
  { resource: target, querystring, caller }: ResourceRequest,
): Promise<Html> => {
  const text = queryParameters(querystring).get('q') ?? ''
  const { choices } = await readChoices(storage, target, text, 8, caller)
  if (choices.length === 0)
    return html`<li class="note" role="option" aria-disabled="true">No ${target.name.toLowerCase()} found</li>`
  return html`${choices.map(({ id, label }, n) => html`<li role="option" aria-selected="false" id="choice-${n}" data-value="${id}" data-label="${label}"><bdi>${label}</bdi> <span class="note">#${id}</span></li>`)}`
}

/** Suggestions for a text that lists are filtered by: its most frequent values, which contain what was typed. */
export const valueOptions = async (
  { storage }: Visitor,
  { resource, querystring, caller }: ResourceRequest,
): Promise<Html> => {
  const parameters = queryParameters(querystring)
  const fields = filterFields(resource).filter(({ name }) => name === parameters.get('field'))
  const count = (client: Caller) => countValues(storage.table(resource), fields, defaultListQuery, client)
  const [counts = []] = (await inTime(caller, 1_000, count))?.values() ?? []
  const typed = (parameters.get('q') ?? '').toLowerCase()
  const values = counts.filter(([value]) => value.toLowerCase().includes(typed))
  return html`${values.slice(0, 8).map(([value], n) => html`<li role="option" aria-selected="false" id="value-${n}" data-value="${value}"><bdi>${value}</bdi></li>`)}`
}

export const choicesPage = async (
  { registry, storage }: Visitor,
  resource: Resource,
  query: TableQuery,
  { field, target, text }: { readonly field: Field; readonly target: Resource; readonly text: string },
): Promise<Page> => {
  const { choices, matches } = await readChoices(storage, target, text, maxCandidates)
  const items = choices.map(
    ({ id, label }) =>
      html`<li><a href="${tableUrl(resource, withFilter(query, field.name, id))}"><bdi>${label}</bdi></a> <span class="note">#${id}</span></li>`,
  )
  const title = fieldTitle(registry, field).toLowerCase()
  const plural = target.plural.toLowerCase()
  const main = html`<h1>Which ${title}?</h1>
    <p class="lead">${choices.length === 0 ? `No ${plural} match` : `${grouped(matches)} ${plural} match`} “<bdi>${text}</bdi>”${matches > choices.length && html`; ${choices.length} of them are listed`}.</p>
    <ul class="plain-list">${items}</ul><p><a href="${tableUrl(resource, query)}">Back to ${resource.plural.toLowerCase()}</a></p>`
  const crumbs = [{ title: resource.plural, url: tableUrl(resource, query) }, { title }]
  return { title: `Which ${title}?`, crumbs, main }
}
