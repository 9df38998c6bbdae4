/** The page of a resource: its rows as a table, with a search box, filters, pages and the request. */
import { spreadOverTicks } from '../batchPerTick.js'
import { type FormatName, formatNames, formats } from '../contract/formats.js'
import { listQueryParser, listQuerySchema } from '../contract/parameters.js'
import type { Registry, Resource } from '../descriptor/registry.js'
import type { Caller } from '../storage/storage.js'
import { choicesPage } from './choices.js'
import { valueCounterOf } from './counts.js'
import { filterPanel, readValueLabels, without } from './filters.js'
import { type Html, html } from './html.js'
import { type Labels, readLabels, targetOf } from './labels.js'
import type { Page } from './layout.js'
import { apiListUrl, createUrl, downloadUrl, homePath, type TableState, tableUrl } from './links.js'
import { hiddenInputs, pager } from './pager.js'
import { type FindOperation, requestPanel, shellWord } from './requests.js'
import { eachRow } from './rows.js'
import { rowsTable, type ShownRow, shownRow } from './rowsTable.js'
import type { ExplorerService } from './service.js'
import { parseState } from './tableState.js'

const milliseconds = (time: number): string =>
  `${time < 10 ? time.toFixed(1) : Math.round(time).toLocaleString('en')} ms`

const summary = (resource: Resource, { offset, limit }: TableState, total: number, time: number): Html => {
  const noun = (total === 1 ? resource.name : resource.plural).toLowerCase()
  const first = Number(offset) + 1
  const range =
    first <= total &&
    total > limit &&
    html` · rows ${first.toLocaleString('en')}–${Math.min(total, first + limit - 1).toLocaleString('en')}`
  return html`<p class="summary" role="status"><strong>${total.toLocaleString('en')}</strong> ${noun}${range} <span class="time">· ${milliseconds(time)}</span></p>`
}

const searchForm = (resource: Resource, state: TableState): Html => {
  const plural = resource.plural.toLowerCase()
  return html`<form id="search" class="search" role="search" action="${tableUrl(resource)}" data-live>
    ${hiddenInputs({ ...state, q: '' })}
    <label class="hidden" for="q">Search ${plural}</label>
    <input type="search" id="q" name="q" value="${state.q}" placeholder="Search ${plural}" autocomplete="off" spellcheck="false"><kbd aria-hidden="true">/</kbd>
    <button>Search</button></form>`
}

const downloads = (resource: Resource, state: TableState): Html[] =>
  formatNames.map(
    (format: FormatName) =>
      html`<a href="${downloadUrl(resource, state, format)}" download data-plain>${formats[format].extension.toUpperCase()}</a>`,
  )

const empty = (resource: Resource, { q, filters }: TableState, total: number): Html => {
  const isNarrowed = q !== '' || Object.keys(filters).length > 0
  const reason = total > 0 ? 'There are no rows this far.' : isNarrowed ? 'No rows match.' : 'There are no rows yet.'
  return html`<p class="empty">${reason} ${(isNarrowed || total > 0) && html`<a href="${tableUrl(resource)}">Show all</a>`}</p>`
}

/** The filters that are chosen, each with a link that removes it. */
const chosenFilters = (registry: Registry, resource: Resource, state: TableState, labels: Labels): Html | undefined => {
  const items = Object.entries(state.filters).map(([name, value]) => {
    const field = resource.fields.find((one) => one.name === name)
    const target = field && targetOf(registry, field)
    const text = (target && labels(target, value)) ?? String(value)
    return html`<li><span class="chosen-filter">${name}: <bdi>${text}</bdi></span> <a href="${tableUrl(resource, without(state, name))}" aria-label="Remove the filter ${name}">×</a></li>`
  })
  return items.length > 0 ? html`<ul class="chosen-filters" aria-label="Active filters">${items}</ul>` : undefined
}

/** To make a page takes some ten milliseconds, so one is made at a time. */
const turn = spreadOverTicks()

interface TableRequest {
  readonly querystring: string
  readonly origin: string
  readonly caller: Caller
}

/** Makes the page of a resource. */
export const tablePage = (service: ExplorerService, resource: Resource, find: FindOperation) => {
  const { registry, storage, writes } = service
  const parse = listQueryParser(listQuerySchema(resource))
  const countValues = valueCounterOf(storage, resource)
  return async ({ querystring, origin, caller }: TableRequest): Promise<Page | { readonly redirect: string }> => {
    const parsed = await parseState(storage, registry, resource, parse, querystring)
    if ('redirect' in parsed) return parsed
    const { state } = parsed
    if ('ambiguous' in parsed) return choicesPage(service, resource, state, parsed.ambiguous)
    const started = performance.now()
    const page = await storage.table(resource).list(state, caller)
    await turn()
    const rows: ShownRow[] = []
    const total = await eachRow(page, (row) => rows.push(shownRow(resource, row, state.q)))
    const time = performance.now() - started
    const labels = await readLabels(storage, registry, resource, rows)
    const counts = await countValues(state, total, caller)
    await turn()
    const valueLabels = await readValueLabels(storage, registry, resource, state, counts.counts)
    const filters = filterPanel(registry, resource, state, counts, valueLabels)
    const curl = `curl ${shellWord(`${origin}${apiListUrl(resource, state)}`)}`
    const main = html`<div class="title"><div><h1>${resource.plural}</h1>${resource.about && html`<p class="lead">${resource.about}</p>`}</div>
      ${writes && resource.create && html`<a class="button primary" href="${createUrl(resource)}">New ${resource.name.toLowerCase()}</a>`}</div>
      ${searchForm(resource, state)}
      <div class="${filters ? 'columns' : ''}">
      ${filters && html`<aside class="filters" id="filters" aria-label="Filters"><details open><summary>Filters</summary>${filters}</details></aside>`}
      <section class="results" id="results" aria-label="Rows">
      ${summary(resource, state, total, time)}
      ${chosenFilters(registry, resource, state, valueLabels)}
      ${rows.length > 0 ? rowsTable(registry, resource, rows, labels) : empty(resource, state, total)}
      ${pager(resource, state, total)}
      ${requestPanel(curl, find('list', resource), apiListUrl(resource, state), html`<span class="downloads">Download all: ${downloads(resource, state)}</span>`)}
      </section></div>`
    return { title: resource.plural, crumbs: [{ title: 'Home', url: homePath }, { title: resource.plural }], main }
  }
}
