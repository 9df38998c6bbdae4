/** Suggestions for a reference: the rows that a typed text finds, by their labels. */
import { queryParameters } from '../contract/parameters.js'
import { wholeTable } from '../descriptor/listQuery.js'
import { filterFields, type Resource } from '../descriptor/registry.js'
import type { Caller, Storage } from '../storage/storage.js'
import { valueCounterOf } from './counts.js'
import { withFilter } from './filters.js'
import { type Html, html } from './html.js'
import type { ExplorerService, Page, PageRequest } from './layout.js'
import { type TableQuery, tableUrl } from './links.js'
import { fieldTitle, labelOf, targetOf } from './names.js'
import { eachRow } from './rows.js'

interface Choice {
  readonly id: number
  readonly label: string
}

/** How many rows are ranked by their labels. */
const candidates = 50

/** Labels that begin with the text come first, then those that contain it. */
const rank = ({ label }: Choice, q: string): number => {
  const at = label.toLowerCase().indexOf(q.toLowerCase())
  return at === 0 ? 0 : at > 0 ? 1 : 2
}

/** The rows that a text finds, up to a number; a row whose id was typed comes first. */
const readChoices = async (
  storage: Storage,
  target: Resource,
  text: string,
  limit: number,
  caller?: Caller,
): Promise<Choice[]> => {
  const table = storage.table(target)
  const choices: Choice[] = []
  const found: Choice[] = []
  const q = text.trim()
  if (/^[1-9]\d{0,15}$/.test(q)) {
    const row = await table.get(Number(q))
    if (row) choices.push({ id: Number(q), label: labelOf(target, JSON.parse(String(row.body))) })
  }
  await eachRow(
    await table.list({ ...wholeTable, search: q, page: { limit: candidates, offset: 0n } }, caller),
    (row) => {
      const id = Number(row['id'])
      if (id !== choices[0]?.id) found.push({ id, label: labelOf(target, row) })
    },
  )
  return [...choices, ...found.sort((a, b) => rank(a, q) - rank(b, q))].slice(0, limit)
}

export const rowOptions =
  (storage: Storage, target: Resource) =>
  async ({ querystring, caller }: PageRequest): Promise<Html> => {
    const text = queryParameters(querystring).get('q') ?? ''
    const choices = await readChoices(storage, target, text, 8, caller)
    if (choices.length === 0)
      return html`<li class="note" role="option" aria-disabled="true">No ${target.name.toLowerCase()} found</li>`
    return html`${choices.map(({ id, label }) => html`<li role="option" aria-selected="false" id="choice-${id}" data-value="${id}" data-label="${label}"><bdi>${label}</bdi> <span class="note">#${id}</span></li>`)}`
  }

/** Suggestions for a text that lists are filtered by: its most frequent values, which contain what was typed. */
export const valueOptions = (storage: Storage, resource: Resource) => {
  const countValues = valueCounterOf(storage, resource, filterFields(resource), 'filters')
  return async ({ querystring, caller }: PageRequest): Promise<Html> => {
    const sent = queryParameters(querystring)
    const total = (await storage.counts()).get(resource) ?? 0
    const { counts } = await countValues(wholeTable, total, caller, 1_000)
    const typed = (sent.get('q') ?? '').toLowerCase()
    const values = (counts?.values.get(sent.get('field') ?? '') ?? []).filter(
      ([value]) => value !== '' && value.toLowerCase().includes(typed),
    )
    return html`${values.slice(0, 8).map(([value], n) => html`<li role="option" aria-selected="false" id="value-${n}" data-value="${value}"><bdi>${value}</bdi></li>`)}`
  }
}

export const choicesPage = async (
  { registry, storage }: ExplorerService,
  resource: Resource,
  query: TableQuery,
  { field, text }: { readonly field: string; readonly text: string },
): Promise<Page> => {
  const spec = resource.fields.find(({ name }) => name === field)
  const target = spec && targetOf(registry, spec)
  const choices = target ? await readChoices(storage, target, text, 50) : []
  const items = choices.map(
    ({ id, label }) =>
      html`<li><a href="${tableUrl(resource, withFilter(query, field, String(id)))}"><bdi>${label}</bdi></a> <span class="note">#${id}</span></li>`,
  )
  const title = spec ? fieldTitle(registry, spec).toLowerCase() : field
  const plural = target?.plural.toLowerCase()
  const main = html`<h1>Which ${title}?</h1>
    <p class="lead">${choices.length === 0 ? `No ${plural} match` : `Several ${plural} match`} “<bdi>${text}</bdi>”.</p>
    <ul class="plain-list">${items}</ul><p><a href="${tableUrl(resource, query)}">Back to ${resource.plural.toLowerCase()}</a></p>`
  const crumbs = [{ title: resource.plural, url: tableUrl(resource, query) }, { title }]
  return { title: `Which ${title}?`, crumbs, main }
}
