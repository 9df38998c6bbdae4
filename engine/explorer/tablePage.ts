/** The page of a resource: its rows as a table, or groups of them, with a search box, filters, pages and the request. */
import { defaultListQuery } from '../descriptor/listQuery.js'
import { filterFields, type Resource, updatableFields } from '../descriptor/registry.js'
import { spreadOverTicks } from '../process/batchPerTick.js'
import type { Caller, Storage } from '../storage/storage.js'
import { type Counted, chartFields, readCharts, renderCharts } from './charts.js'
import { choicesPage } from './choices.js'
import { countValues, inTime } from './counts.js'
import { isExcerpt } from './excerpt.js'
import { filterPanel } from './filters.js'
import type { Grouping } from './grouping.js'
import { groupChooser, readGroups, readSums, renderGroups, sumsLink } from './groups.js'
import { type Html, html } from './html.js'
import { importLink } from './importPage.js'
import { readPanel } from './layout.js'
import { apiListUrl, apiSummaryUrl, changesUrl, pageUrl, type TableQuery, type TableView, tableUrl } from './links.js'
import { selectionForm } from './manyPages.js'
import { readLabels } from './names.js'
import type { Page, PageResponse, Redirect, ResourceRequest, Visitor } from './page.js'
import { countRows, eachRow, findRow } from './rows.js'
import { columnChooser, rowsTable, viewsMenu } from './rowsTable.js'
import { chosenFilters, empty, fileLinks, groupsSummary, pager, searchForm, summary, warnings } from './tableParts.js'
import { parseQuery, type ValidQuery } from './tableQuery.js'
import { type ShownRow, shownRow } from './values.js'

/** A page takes some ten milliseconds of CPU, so one is rendered at a time. */
const turn = spreadOverTicks()

/** Tables of up to so many rows have their counts at once. */
const smallTable = 5_000

/** How long a page waits for its counts, and how long a request for them, in milliseconds. */
const [inlineMs, laterMs] = [400, 10_000]

/** Whether the table has few rows. The rows of an existing table would have to be counted for it. */
const isSmall = async (storage: Storage, resource: Resource, { search, where }: TableQuery, total: number) => {
  if (total > smallTable || (search === '' && where.length === 0)) return total <= smallTable
  return !resource.existing && ((await storage.counts([resource])).get(resource) ?? 0) <= smallTable
}

/** Counts for the filters and charts of a table. */
const count = async (
  storage: Storage,
  resource: Resource,
  query: TableQuery,
  total: number,
  client: Caller,
  timeoutMs: number,
): Promise<Counted> => {
  const table = storage.table(resource)
  const [values, charts] = await Promise.all([
    inTime(client, timeoutMs, (caller) => countValues(table, filterFields(resource), query, caller)),
    inTime(client, timeoutMs, (caller) => readCharts(table, chartFields(resource, query), query, caller)),
  ])
  return { total, values, charts }
}

const makeView = async (
  visitor: Visitor,
  resource: Resource,
  { query, wrong }: Pick<ValidQuery, 'query' | 'wrong'>,
  rows: readonly ShownRow[],
  counted?: Counted,
): Promise<TableView> => {
  const { registry, writes } = visitor
  const labels = await readLabels(visitor, resource.fields, ({ name }) => [
    ...rows.map(({ [name]: value }) => (isExcerpt(value) ? value.text : value)),
    ...(counted?.values?.get(name) ?? []).map(([value]) => value),
    ...query.where.filter(({ field }) => field === name).flatMap(({ value }) => value),
  ])
  const editable = writes ? updatableFields(resource).map(({ name }) => name) : []
  const isSelectable = writes && (editable.length > 0 || resource.delete === true)
  return { registry, resource, query, labels, wrong, editable, isSelectable }
}

/** What a query finds, read but not rendered yet. */
interface Result {
  /** How many rows match. */
  readonly total: number
  /** What has references whose labels are shown. */
  readonly rows: readonly ShownRow[]
  readonly head: (view: TableView) => Html
  readonly content: (view: TableView) => Html
}

const readTable = async (
  visitor: Visitor,
  { resource, origin, caller }: ResourceRequest,
  query: TableQuery,
): Promise<Result> => {
  const { storage, writes } = visitor
  const page = await storage.table(resource).list(query, caller)
  await turn()
  const rows: ShownRow[] = []
  const total = await eachRow(page, (row) => rows.push(shownRow(resource, row, query.search)))
  const sums = await readSums(storage, resource, query, caller)
  return {
    total,
    rows,
    head: (view) =>
      html`${summary(resource, query, total)}${columnChooser(view)}${groupChooser(view)}${viewsMenu}${total > 0 && sumsLink(view)}${view.editable.length > 0 && html`<p class="note hint" hidden>Double click a cell, or press Enter on it, to edit it</p>`}`,
    content: (view) => html`${view.isSelectable && rows.length > 0 && selectionForm(resource, query, total)}
      ${rows.length > 0 ? rowsTable(view, rows, sums) : empty(writes, resource, query, total)}
      ${pager(resource, query, total, page.next)}
      ${readPanel(visitor, ['list', resource], origin, apiListUrl(resource, query), fileLinks(resource, query))}`,
  }
}

/** Groups stand in the place of the rows. */
const readGroupsOf = async (
  visitor: Visitor,
  { resource, origin, caller }: ResourceRequest,
  query: TableQuery,
  grouping: Grouping,
): Promise<Result> => {
  const groups = await readGroups(visitor.storage, resource, query, grouping, caller)
  await turn()
  return {
    total: groups.rows,
    rows: groups.data.map(({ by }) => by),
    head: (view) => html`${groupsSummary(resource, query, groups)}${groupChooser(view)}${viewsMenu}`,
    content: (view) => html`
      ${groups.data.length > 0 ? renderGroups(view, grouping, groups) : empty(visitor.writes, resource, query, 0)}
      ${resource.summary && readPanel(visitor, ['summary', resource], origin, apiSummaryUrl(resource, query))}`,
  }
}

/** Where the script says that rows have changed since they were read. */
const changesNotice = (resource: Resource, cursor: string | undefined): Html | undefined =>
  cursor === undefined
    ? undefined
    : html`<p class="notice changed" role="status" data-changes="${changesUrl(resource)}" data-after="${cursor}" hidden></p>`

const render = async (visitor: Visitor, request: ResourceRequest, parsed: ValidQuery): Promise<Page> => {
  const { storage, writes } = visitor
  const { resource, caller } = request
  const { query, ignored } = parsed
  const { grouping } = query
  // The page works without it.
  const cursor = resource.changes ? await visitor.cursor(resource).catch(() => undefined) : undefined
  const result = grouping?.by.length
    ? await readGroupsOf(visitor, request, query, grouping)
    : await readTable(visitor, request, query)
  const { total } = result
  const isCounted = await isSmall(storage, resource, query, total)
  const inline = isCounted ? await count(storage, resource, query, total, caller, inlineMs) : undefined
  const counted = inline?.values && inline.charts ? inline : undefined
  const view = await makeView(visitor, resource, parsed, result.rows, counted)
  await turn()
  const filters = filterPanel(view, counted)
  const main = html`<div class="title"><div><h1>${resource.plural}</h1>${resource.about && html`<p class="lead">${resource.about}</p>`}</div>
    ${writes && html`<p class="actions">${importLink(resource)} ${resource.create && html`<a class="button primary" href="${pageUrl(resource, 'new')}">New ${resource.name.toLowerCase()}</a>`}</p>`}</div>
    ${searchForm(resource, query)}
    <div class="${filters ? 'columns' : ''}">${filters}<div>${renderCharts(view, counted)}
    <section class="results" id="results" tabindex="-1" aria-label="Rows"><div class="results-head">${result.head(view)}</div>${changesNotice(resource, cursor)}${warnings(view, ignored)}
    ${chosenFilters(view)}${result.content(view)}</section></div></div>`
  return { title: resource.plural, crumbs: [{ title: resource.plural }], main, skip: 'results' }
}

/** The page of a query; what the address means is known before its rows are read. */
export const tablePage = async (visitor: Visitor, request: ResourceRequest): Promise<PageResponse> => {
  const { resource } = request
  const parsed = await parseQuery(visitor, request)
  if ('redirect' in parsed) return parsed
  if ('ambiguous' in parsed) return choicesPage(visitor, resource, parsed.query, parsed.ambiguous)
  const { status } = parsed
  return { title: resource.plural, later: render(visitor, request, parsed), ...(status && { status }) }
}

/** The filters and charts of a table with their counts, which its page does not wait for. */
export const filtersPage = async (visitor: Visitor, request: ResourceRequest): Promise<Page | Redirect> => {
  const { resource, caller } = request
  const parsed = await parseQuery(visitor, request)
  if (!('ignored' in parsed)) return { redirect: pageUrl(resource) }
  const { query } = parsed
  const { total } = await countRows(visitor.storage, resource, query, caller)
  const counted = await count(visitor.storage, resource, query, total, caller, laterMs)
  const view = await makeView(visitor, resource, parsed, [], counted)
  const main = html`<div class="title"><h1>Filters</h1></div>${searchForm(resource, query)}${renderCharts(view, counted)}${filterPanel(view, counted)}`
  const crumbs = [{ title: resource.plural, url: tableUrl(resource, query) }, { title: 'Filters' }]
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
