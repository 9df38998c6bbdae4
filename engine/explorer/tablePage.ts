/** The page of a resource: its rows as a table, with a search box, filters, pages and the request. */
import { type FormatName, formatNames, formats } from '../contract/formats.js'
import { listQueryParser, listQuerySchema } from '../contract/parameters.js'
import type { ListQuery, Position } from '../descriptor/listQuery.js'
import { operatorOf } from '../descriptor/operators.js'
import { filterFields, type Registry, type Resource, searchedFields } from '../descriptor/registry.js'
import { spreadOverTicks } from '../process/batchPerTick.js'
import { choicesPage } from './choices.js'
import { valueCounterOf } from './counts.js'
import { filterPanel, isBound, withoutCondition } from './filters.js'
import { type Html, html } from './html.js'
import { type Labels, readLabels, targetOf } from './labels.js'
import type { ExplorerService, Page, PageRequest } from './layout.js'
import {
  apiListUrl,
  createUrl,
  downloadUrl,
  fromStart,
  nextUrl,
  pageParameter,
  queryInputs,
  tableUrl,
} from './links.js'
import { type FindOperation, requestPanel, shellWord } from './requests.js'
import { eachRow } from './rows.js'
import { parseQuery } from './tableQuery.js'
import { rowsTable, type ShownRow, shownRow } from './values.js'

const sizes = [25, 50, 100, 200]

export const hiddenInputs = (query: ListQuery): Html[] =>
  queryInputs(query).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)

export const pager = (resource: Resource, query: ListQuery, total: number, next?: Position): Html => {
  const { limit, offset } = query.page
  const size = BigInt(limit)
  const pages = total === 0 ? 1n : (BigInt(total) + size - 1n) / size
  const page = offset / size + 1n
  const button = (title: string, url: string | false): Html =>
    url ? html`<a class="button" href="${url}">${title}</a>` : html`<span class="button off">${title}</span>`
  const link = (title: string, number: bigint, isPossible: boolean): Html =>
    button(title, isPossible && tableUrl(resource, { ...query, page: { limit, offset: (number - 1n) * size } }))
  const last = page > pages ? pages : page - 1n
  const choices = [...new Set([...sizes, limit])].sort((a, b) => a - b)
  return html`<nav class="pager" aria-label="Pages">
    <div class="steps">${link('First', 1n, page > 1n)}${link('Previous', last, page > 1n)}
    <form action="${tableUrl(resource)}" data-navigate>${hiddenInputs(query)}<label>Page <input name="${pageParameter(resource)}" inputmode="numeric" value="${page}" size="${String(pages).length + 1}" autocomplete="off"></label> of ${pages.toLocaleString('en')} <button>Go</button></form>
    ${button('Next', next ? nextUrl(resource, query, next) : false)}${link('Last', pages, page < pages)}</div>
    <p class="sizes">Rows per page: ${choices.map((one) =>
      one === limit
        ? html`<strong aria-current="true">${one}</strong> `
        : html`<a href="${tableUrl(resource, { ...query, page: { limit: one, offset: 0n } })}">${one}</a> `,
    )}</p>
    </nav>`
}

const milliseconds = (time: number): string =>
  `${time < 10 ? time.toFixed(1) : Math.round(time).toLocaleString('en')} ms`

/** Turns the order by id around, which is that of creation. */
const newestFirst = (resource: Resource, query: ListQuery): Html => {
  const { field, descending } = query.order
  const isNewest = field === 'id' && descending
  const url = tableUrl(resource, fromStart({ ...query, order: { field: 'id', descending: !isNewest } }))
  return html`<a href="${url}">${isNewest ? 'Oldest first' : 'Newest first'}</a>`
}

const summary = (resource: Resource, query: ListQuery, total: number, time: number): Html => {
  const { offset, limit } = query.page
  const noun = (total === 1 ? resource.name : resource.plural).toLowerCase()
  const first = Number(offset) + 1
  const range =
    first <= total &&
    total > limit &&
    html` · rows ${first.toLocaleString('en')}–${Math.min(total, first + limit - 1).toLocaleString('en')}`
  return html`<p class="summary" role="status"><strong>${total.toLocaleString('en')}</strong> ${noun}${range} <span class="time">· ${milliseconds(time)}</span>${total > 1 && html` · ${newestFirst(resource, query)}`}</p>`
}

/** The form of the search and of all filters. */
const searchForm = (resource: Resource, query: ListQuery, isSearchable: boolean): Html => {
  const plural = resource.plural.toLowerCase()
  const box = html`<label class="hidden" for="q">Search ${plural}</label>
    <input type="search" id="q" name="q" value="${query.search}" placeholder="Search ${plural}" autocomplete="off" spellcheck="false"><kbd aria-hidden="true">/</kbd>
    <button>Search</button>`
  return html`<form id="search" class="${isSearchable && 'search'}" role="search" action="${tableUrl(resource)}" data-live>
    ${hiddenInputs({ ...query, search: isSearchable ? '' : query.search, where: query.where.filter((condition) => !isBound(condition)) })}${isSearchable && box}</form>`
}

const downloads = (resource: Resource, query: ListQuery): Html[] =>
  formatNames.map(
    (format: FormatName) =>
      html`<a href="${downloadUrl(resource, query, format)}" download data-plain>${formats[format].extension.toUpperCase()}</a>`,
  )

const empty = (resource: Resource, { search, where }: ListQuery, total: number): Html => {
  const isNarrowed = search !== '' || where.length > 0
  const reason = total > 0 ? 'There are no rows this far.' : isNarrowed ? 'No rows match.' : 'There are no rows yet.'
  return html`<p class="empty">${reason} ${(isNarrowed || total > 0) && html`<a href="${tableUrl(resource)}">Show all</a>`}</p>`
}

/** The filters that are chosen, each with a link that removes it. */
const chosenFilters = (registry: Registry, resource: Resource, query: ListQuery, labels: Labels): Html | undefined => {
  const items = query.where.map((condition) => {
    const { field: name, operator, value } = condition
    const field = resource.fields.find((one) => one.name === name)
    const target = field && targetOf(registry, field)
    const texts = [value].flat().map((one) => (target && labels(target, one)) ?? String(one))
    const text = operatorOf(operator).shown(texts.join(', '))
    return html`<li><span class="chosen-filter">${name}: <bdi>${text}</bdi></span> <a href="${tableUrl(resource, withoutCondition(query, condition))}" aria-label="Remove the filter ${name}">×</a></li>`
  })
  return items.length > 0 ? html`<ul class="chosen-filters" aria-label="Active filters">${items}</ul>` : undefined
}

/** A page takes some ten milliseconds of CPU, so one is rendered at a time. */
const turn = spreadOverTicks()

/** Makes the page of a resource. */
export const tablePage = (service: ExplorerService, resource: Resource, find: FindOperation) => {
  const { registry, storage, writes } = service
  const parse = listQueryParser(resource, listQuerySchema(resource))
  const countValues = valueCounterOf(storage, resource)
  const isSearchable = searchedFields(resource).length > 0
  return async ({ querystring, origin, caller }: PageRequest): Promise<Page | { readonly redirect: string }> => {
    const parsed = await parseQuery(storage, registry, resource, parse, querystring)
    if ('redirect' in parsed) return parsed
    const { query } = parsed
    if ('ambiguous' in parsed) return choicesPage(service, resource, query, parsed.ambiguous)
    const started = performance.now()
    const page = await storage.table(resource).list(query, caller)
    await turn()
    const rows: ShownRow[] = []
    const total = await eachRow(page, (row) => rows.push(shownRow(resource, row, query.search)))
    const time = performance.now() - started
    const labels = await readLabels(storage, registry, resource.fields, ({ name }) => rows.map((row) => row[name]))
    const counts = await countValues(query, total, caller)
    await turn()
    const valueLabels = await readLabels(storage, registry, filterFields(resource), ({ name }) => [
      ...(counts.counts?.values.get(name) ?? []).map(([value]) => value),
      ...query.where.filter(({ field }) => field === name).flatMap(({ value }) => value),
    ])
    const filters = filterPanel(registry, resource, query, counts, valueLabels)
    const curl = `curl ${shellWord(`${origin}${apiListUrl(resource, query)}`)}`
    const main = html`<div class="title"><div><h1>${resource.plural}</h1>${resource.about && html`<p class="lead">${resource.about}</p>`}</div>
      ${writes && resource.create && html`<a class="button primary" href="${createUrl(resource)}">New ${resource.name.toLowerCase()}</a>`}</div>
      ${searchForm(resource, query, isSearchable)}
      <div class="${filters ? 'columns' : ''}">
      ${filters && html`<aside class="filters" id="filters" aria-label="Filters"><details open><summary>Filters</summary>${filters}${!isSearchable && html`<button form="search">Filter</button>`}</details></aside>`}
      <section class="results" id="results" aria-label="Rows">
      ${summary(resource, query, total, time)}
      ${chosenFilters(registry, resource, query, valueLabels)}
      ${rows.length > 0 ? rowsTable(registry, resource, query, rows, labels) : empty(resource, query, total)}
      ${pager(resource, query, total, page.next)}
      ${requestPanel(curl, find('list', resource), apiListUrl(resource, query), html`<span class="downloads">Download all: ${downloads(resource, query)}</span>`)}
      </section></div>`
    return { title: resource.plural, crumbs: [{ title: resource.plural }], main }
  }
}
