/** The page of a resource: its rows as a table, with a search box, filters, pages and the request. */
import { formatNames, formats } from '../contract/formats.js'
import { defaultListQuery, type Position } from '../descriptor/listQuery.js'
import { operatorOf } from '../descriptor/operators.js'
import { type Resource, searchedFields, updatableFields } from '../descriptor/registry.js'
import { spreadOverTicks } from '../process/batchPerTick.js'
import type { Caller, Storage } from '../storage/storage.js'
import { type Charts, readCharts, renderCharts } from './charts.js'
import { choicesPage } from './choices.js'
import { type Counts, countFilters } from './counts.js'
import { isExcerpt } from './excerpt.js'
import { filterInputs, filterPanel } from './filters.js'
import { grouped, readable } from './format.js'
import type { Grouping } from './grouping.js'
import { groupChooser, readGroups, readSums, renderGroups, sumsLink } from './groups.js'
import { type Html, html } from './html.js'
import { importLink } from './importPage.js'
import { readPanel } from './layout.js'
import * as links from './links.js'
import { selectionForm } from './manyPages.js'
import { fieldTitle, readLabels, referencedResource } from './names.js'
import type { Page, PageResponse, Redirect, ResourceRequest, Visitor } from './page.js'
import { countRows, eachRow, findRow } from './rows.js'
import { columnChooser, rowsTable, viewsMenu } from './rowsTable.js'
import { parseQuery, type ValidQuery } from './tableQuery.js'
import { type ShownRow, shownRow } from './values.js'

const sizes = [25, 50, 100, 200]

const hiddenInput = ([name, value]: readonly [string, string]): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`

const hiddenInputs = (resource: Resource, query: links.TableQuery): Html[] =>
  links.tableParameters(resource, links.fromStart(query)).map(hiddenInput)

/** The pages of a result; one page needs no pager. */
const pager = (resource: Resource, query: links.TableQuery, total: number, next?: Position): Html | undefined => {
  const { limit, offset } = query.page
  if (total <= limit && offset === 0n) return undefined
  const size = BigInt(limit)
  const pages = total === 0 ? 1n : (BigInt(total) + size - 1n) / size
  const page = offset / size + 1n
  const button = (title: string, url: string | false): Html =>
    url ? html`<a class="button" href="${url}">${title}</a>` : html`<span class="button off">${title}</span>`
  const link = (title: string, number: bigint, isPossible: boolean): Html =>
    button(title, isPossible && links.tableUrl(resource, { ...query, page: { limit, offset: (number - 1n) * size } }))
  const last = page > pages ? pages : page - 1n
  const choices = [...new Set([...sizes, limit])].sort((a, b) => a - b)
  return html`<nav class="pager" aria-label="Pages">
    <div class="steps">${link('First', 1n, page > 1n)}${link('Previous', last, page > 1n)}
    <form action="${links.pageUrl(resource)}" data-navigate>${hiddenInputs(resource, query)}<label>Page <input name="${links.pageParameter(resource)}" inputmode="numeric" value="${page}" size="${String(pages).length + 1}" autocomplete="off"></label> of ${grouped(Number(pages))} <button>Go</button></form>
    ${button('Next', next ? links.nextUrl(resource, query, next) : false)}${link('Last', pages, page < pages)}</div>
    <p class="sizes">Rows per page: ${choices.map((one) =>
      one === limit
        ? html`<strong aria-current="true">${one}</strong> `
        : html`<a href="${links.tableUrl(resource, { ...query, page: { limit: one, offset: 0n } })}">${one}</a> `,
    )}</p>
    </nav>`
}

/** Turns the order by id around, which is that of creation. */
const newestFirst = (resource: Resource, query: links.TableQuery): Html => {
  const { field, descending } = query.order
  const isNewest = field === 'id' && descending
  const url = links.tableUrl(resource, links.fromStart({ ...query, order: { field: 'id', descending: !isNewest } }))
  return html`<a href="${url}">${isNewest ? 'Oldest first' : 'Newest first'}</a>`
}

const summary = (resource: Resource, query: links.TableQuery, total: number): Html => {
  const { offset, limit } = query.page
  const noun = (total === 1 ? resource.name : resource.plural).toLowerCase()
  const first = Number(offset) + 1
  const range =
    first <= total && total > limit && html` · rows ${grouped(first)}–${grouped(Math.min(total, first + limit - 1))}`
  return html`<p class="summary" role="status"><strong>${grouped(total)}</strong> ${noun}${range}${total > 1 && html` · ${newestFirst(resource, query)}`}</p>`
}

const searchForm = (resource: Resource, query: links.TableQuery): Html => {
  const plural = resource.plural.toLowerCase()
  const isSearchable = searchedFields(resource).length > 0
  // The inputs of bounds send them again.
  const where = query.where.filter(({ operator }) => operator !== 'gte' && operator !== 'lte')
  const box = html`<input type="search" id="q" name="q" value="${query.search}" placeholder="Search ${plural}" aria-label="Search ${plural}" autocomplete="off" spellcheck="false"><kbd aria-hidden="true">/</kbd>
    <button>Search</button>`
  return html`<form id="search" class="${isSearchable && 'search'}" role="search" action="${links.pageUrl(resource)}" data-live>
    ${hiddenInputs(resource, { ...query, search: isSearchable ? '' : query.search, where })}${isSearchable && box}</form>`
}

/** Files of what is shown: its columns, and its rows on all pages; where that is not everything, of everything too. */
const downloads = (resource: Resource, query: links.TableQuery): Html => {
  const files = (of: links.TableQuery) =>
    formatNames.map(
      (format) =>
        html` <a href="${links.downloadUrl(resource, of, format)}" download>${formats[format].extension.toUpperCase()}</a>`,
    )
  const { search, where, columns } = query
  const isPart = search !== '' || where.length > 0 || columns !== undefined
  return html`<span class="downloads">Download ${isPart ? 'as shown' : 'all'}:${files(query)}</span>${isPart && html` <span class="downloads">Everything:${files(defaultListQuery)}</span>`}`
}

const empty = ({ writes }: Visitor, resource: Resource, query: links.TableQuery, total: number): Html => {
  const { search, where, page } = query
  const plural = resource.plural.toLowerCase()
  if (total > 0) {
    const last = BigInt(Math.ceil(total / page.limit) - 1) * BigInt(page.limit)
    return html`<p class="empty">There are no rows this far: the last of ${grouped(total)} is on page ${grouped(Math.ceil(total / page.limit))}. <a href="${links.tableUrl(resource, { ...query, page: { limit: page.limit, offset: last } })}">Last page</a> or <a href="${links.tableUrl(resource, links.fromStart(query))}">first page</a></p>`
  }
  if (search !== '' || where.length > 0)
    return html`<p class="empty">No rows match. <a href="${links.tableUrl(resource, { ...defaultListQuery, columns: query.columns })}">Show all ${plural}</a></p>`
  const first = writes && resource.create
  return html`<p class="empty">There are no ${plural} yet. ${first && html`<a class="button primary" href="${links.pageUrl(resource, 'new')}">Create the first ${resource.name.toLowerCase()}</a>`}</p>`
}

const chosenFilters = ({ registry, resource, query, labels }: links.TableView): Html | undefined => {
  const items = query.where.map((condition) => {
    const { field: name, operator, value } = condition
    const field = resource.fields.find((one) => one.name === name)
    const target = field && referencedResource(registry, field)
    const title = field ? fieldTitle(registry, field) : name
    const isPlain = operatorOf(operator).operand === 'boolean'
    const texts = [value].flat().map((one) => {
      if (target) return labels(target, one) ?? String(one)
      return field && !isPlain ? readable(field, typeof one === 'bigint' ? Number(one) : one) : String(one)
    })
    const text = operatorOf(operator).display(texts.join(', '))
    const without = links.fromStart({ ...query, where: query.where.filter((other) => other !== condition) })
    return html`<li><span class="chosen-filter">${title}: <bdi>${text}</bdi></span> <a href="${links.tableUrl(resource, without)}" aria-label="Remove the filter ${title}">×</a></li>`
  })
  return items.length > 0 ? html`<ul class="chosen-filters" aria-label="Active filters">${items}</ul>` : undefined
}

/** A page takes some ten milliseconds of CPU, so one is rendered at a time. */
const turn = spreadOverTicks()

/** Tables of up to so many rows have their counts at once. */
const smallTable = 5_000

interface Counted {
  readonly filters: Counts
  readonly charts: Charts
}

/** How long a page waits for its counts, and how long a request for them, in milliseconds. */
const [inlineMs, laterMs] = [400, 10_000]

/** Whether the table has few rows. The rows of an existing table would have to be counted for it. */
const isSmall = async (storage: Storage, resource: Resource, { search, where }: links.TableQuery, total: number) => {
  if (total > smallTable || (search === '' && where.length === 0)) return total <= smallTable
  return !resource.existing && ((await storage.counts([resource])).get(resource) ?? 0) <= smallTable
}

const count = async (
  storage: Storage,
  resource: Resource,
  query: links.TableQuery,
  total: number,
  caller: Caller,
  timeoutMs: number,
): Promise<Counted> => {
  const [filters, charts] = await Promise.all([
    countFilters(storage, resource, query, total, caller, timeoutMs),
    readCharts(storage, resource, query, total, caller, timeoutMs),
  ])
  return { filters, charts }
}

const makeView = async (
  visitor: Visitor,
  resource: Resource,
  { query, wrong }: Pick<ValidQuery, 'query' | 'wrong'>,
  rows: readonly ShownRow[],
  filters?: Counts,
): Promise<links.TableView> => {
  const { registry, writes } = visitor
  const labels = await readLabels(visitor, resource.fields, ({ name }) => [
    ...rows.map(({ [name]: value }) => (isExcerpt(value) ? value.text : value)),
    ...(filters?.counts?.values.get(name) ?? []).map(([value]) => value),
    ...query.where.filter(({ field }) => field === name).flatMap(({ value }) => value),
  ])
  const editable = writes ? updatableFields(resource).map(({ name }) => name) : []
  const isSelectable = writes && (editable.length > 0 || resource.delete === true)
  return { registry, resource, query, labels, wrong, editable, isSelectable }
}

/** The page of a query; what the address means is known before its rows are read. */
export const tablePage = async (visitor: Visitor, request: ResourceRequest): Promise<PageResponse> => {
  const { resource } = request
  const parsed = await parseQuery(visitor, request)
  if ('redirect' in parsed) return parsed
  if ('ambiguous' in parsed) return choicesPage(visitor, resource, parsed.query, parsed.ambiguous)
  const { query, status } = parsed
  const { grouping } = query
  const later = grouping?.by.length
    ? groupsPage(visitor, request, parsed, grouping)
    : rowsPage(visitor, request, parsed)
  return { title: resource.plural, later, ...(status && { status }) }
}

const framed = (
  { writes }: Visitor,
  resource: Resource,
  query: links.TableQuery,
  filters: Html | undefined,
  charts: Html,
  results: Html,
): Page => {
  const main = html`<div class="title"><div><h1>${resource.plural}</h1>${resource.about && html`<p class="lead">${resource.about}</p>`}</div>
    ${writes && html`<p class="actions">${importLink(resource)} ${resource.create && html`<a class="button primary" href="${links.pageUrl(resource, 'new')}">New ${resource.name.toLowerCase()}</a>`}</p>`}</div>
    ${searchForm(resource, query)}
    <div class="${filters ? 'columns' : ''}">${filters}<div>${charts}
    <section class="results" id="results" tabindex="-1" aria-label="Rows">${results}</section></div></div>`
  return { title: resource.plural, crumbs: [{ title: resource.plural }], main, skip: 'results' }
}

/** The page of a query with groups: they stand in the place of the rows. */
const groupsPage = async (
  visitor: Visitor,
  { resource, origin, caller }: ResourceRequest,
  parsed: ValidQuery,
  grouping: Grouping,
): Promise<Page> => {
  const { storage } = visitor
  const { query } = parsed
  const groups = await readGroups(storage, resource, query, grouping, caller)
  await turn()
  const { rows: total } = groups
  const counted = (await isSmall(storage, resource, query, total))
    ? await countFilters(storage, resource, query, total, caller, inlineMs)
    : undefined
  const filters = counted?.counts && counted
  const values = groups.data.map(({ by }) => by)
  const view = await makeView(visitor, resource, parsed, values, filters)
  const noun = (total === 1 ? resource.name : resource.plural).toLowerCase()
  const rows = links.tableUrl(resource, { ...query, grouping: undefined })
  const head = html`<p class="summary" role="status"><strong>${grouped(total)}</strong> ${noun} in ${grouped(groups.total)} ${groups.total === 1 ? 'group' : 'groups'} · <a href="${rows}">Show rows</a></p>${groupChooser(view, hiddenInputs(resource, { ...query, grouping: undefined }))}${viewsMenu}`
  const panel = resource.summary
    ? readPanel(visitor, ['summary', resource], origin, links.apiSummaryUrl(resource, query))
    : undefined
  const results = html`<div class="results-head">${head}</div>${notices(view, parsed.ignored)}
    ${chosenFilters(view)}
    ${groups.data.length > 0 ? renderGroups(view, grouping, groups) : empty(visitor, resource, query, 0)}
    ${panel}`
  return framed(
    visitor,
    resource,
    query,
    filterPanel(view, filters),
    html`<section class="charts" id="charts" aria-label="Distributions"></section>`,
    results,
  )
}

/** What is wrong with the address, and what was ignored; where a filter says it too, with a link to it. */
const notices = ({ registry, resource, wrong }: links.TableView, ignored: readonly string[]): Html[] => [
  ...[...wrong].map(([name, { message }]) => {
    const field = filterInputs(resource).get(name)
    const title = field ? fieldTitle(registry, field) : name
    return html`<p class="notice error" role="alert"><bdi>${title}: ${message}</bdi>${field && html` <a href="#filter-${name}">Change the filter</a>`}</p>`
  }),
  ...ignored.map((message) => html`<p class="notice">${message}</p>`),
]

const rowsPage = async (
  visitor: Visitor,
  { resource, origin, caller }: ResourceRequest,
  parsed: ValidQuery,
): Promise<Page> => {
  const { storage } = visitor
  const { query } = parsed
  const page = await storage.table(resource).list(query, caller)
  await turn()
  const rows: ShownRow[] = []
  const total = await eachRow(page, (row) => rows.push(shownRow(resource, row, query.search)))
  const inTime = (await isSmall(storage, resource, query, total))
    ? await count(storage, resource, query, total, caller, inlineMs)
    : undefined
  const counted = inTime?.filters.counts && inTime.charts.charts ? inTime : undefined
  const view = await makeView(visitor, resource, parsed, rows, counted?.filters)
  await turn()
  const filters = filterPanel(view, counted?.filters)
  const more = downloads(resource, query)
  const sums = await readSums(storage, resource, query, caller)
  const head = html`${summary(resource, query, total)}${columnChooser(view, hiddenInputs(resource, { ...query, columns: undefined }))}${groupChooser(view, hiddenInputs(resource, { ...query, grouping: undefined }))}${viewsMenu}${total > 0 && sumsLink(view)}${view.editable.length > 0 && html`<p class="note hint" hidden>Double click a cell, or press Enter on it, to edit it</p>`}`
  const body = html`${notices(view, parsed.ignored)}
    ${chosenFilters(view)}${view.isSelectable && rows.length > 0 && selectionForm(resource, query, total)}
    ${rows.length > 0 ? rowsTable(view, rows, sums) : empty(visitor, resource, query, total)}
    ${pager(resource, query, total, page.next)}
    ${readPanel(visitor, ['list', resource], origin, links.apiListUrl(resource, query), more)}`
  return framed(
    visitor,
    resource,
    query,
    filters,
    renderCharts(view, counted?.charts),
    html`<div class="results-head">${head}</div>${body}`,
  )
}

/** The filters and charts of a table with their counts, which its page does not wait for. */
export const filtersPage = async (visitor: Visitor, request: ResourceRequest): Promise<Page | Redirect> => {
  const { resource, caller } = request
  const parsed = await parseQuery(visitor, request)
  if (!('ignored' in parsed)) return { redirect: links.pageUrl(resource) }
  const { query } = parsed
  const { total } = await countRows(visitor.storage, resource, query, caller)
  const counted = await count(visitor.storage, resource, query, total, caller, laterMs)
  const view = await makeView(visitor, resource, parsed, [], counted.filters)
  const main = html`<div class="title"><h1>Filters</h1></div>${searchForm(resource, query)}${renderCharts(view, counted.charts)}${filterPanel(view, counted.filters)}`
  const crumbs = [{ title: resource.plural, url: links.tableUrl(resource, query) }, { title: 'Filters' }]
  return { title: `Filters · ${resource.plural}`, crumbs, main }
}

/** A row as the table of a query shows it, whether or not it matches. */
export const cells = async (visitor: Visitor, request: ResourceRequest): Promise<Html> => {
  const { resource, segment } = request
  const { row } = await findRow(visitor.storage, resource, segment)
  const parsed = await parseQuery(visitor, request)
  const query = 'query' in parsed ? parsed.query : defaultListQuery
  const rows = [shownRow(resource, row, query.search)]
  return rowsTable(await makeView(visitor, resource, { query, wrong: new Map() }, rows), rows)
}
