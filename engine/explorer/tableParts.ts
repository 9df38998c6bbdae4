/** What stands around the rows of a table: the search box, pages, downloads, and what its address says. */
import { formatNames, formats } from '../contract/formats.js'
import { defaultListQuery, type Position } from '../descriptor/listQuery.js'
import { operatorOf } from '../descriptor/operators.js'
import { type Resource, searchedFields } from '../descriptor/registry.js'
import { filterInputs } from './filters.js'
import { grouped, readable } from './format.js'
import type { Groups } from './groups.js'
import { type Html, hiddenInputs, html } from './html.js'
import * as links from './links.js'
import { fieldTitle, nounFor, referencedResource } from './names.js'

const sizes = [25, 50, 100, 200]

/** The pages of a result; one page needs no pager. */
export const pager = (
  resource: Resource,
  query: links.TableQuery,
  total: number,
  next?: Position,
): Html | undefined => {
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
    <form action="${links.pageUrl(resource)}" data-navigate>${hiddenInputs(links.tableParameters(resource, links.fromStart(query)))}<label>Page <input name="${links.pageParameter(resource)}" inputmode="numeric" value="${page}" size="${String(pages).length + 1}" autocomplete="off"></label> of ${grouped(Number(pages))} <button>Go</button></form>
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

export const summary = (resource: Resource, query: links.TableQuery, total: number): Html => {
  const { offset, limit } = query.page
  const first = Number(offset) + 1
  const range =
    first <= total && total > limit && html` · rows ${grouped(first)}–${grouped(Math.min(total, first + limit - 1))}`
  return html`<p class="summary" role="status"><strong>${grouped(total)}</strong> ${nounFor(resource, total)}${range}${total > 1 && html` · ${newestFirst(resource, query)}`}</p>`
}

/** How many groups a query has, of how many rows. */
export const groupsSummary = (resource: Resource, query: links.TableQuery, { rows, total }: Groups): Html => {
  const url = links.tableUrl(resource, { ...query, grouping: undefined })
  return html`<p class="summary" role="status"><strong>${grouped(rows)}</strong> ${nounFor(resource, rows)} in ${grouped(total)} ${total === 1 ? 'group' : 'groups'} · <a href="${url}">Show rows</a></p>`
}

export const searchForm = (resource: Resource, query: links.TableQuery): Html => {
  const plural = resource.plural.toLowerCase()
  const isSearchable = searchedFields(resource).length > 0
  // The inputs of bounds send them again.
  const where = query.where.filter(({ operator }) => operator !== 'gte' && operator !== 'lte')
  const box = html`<input type="search" id="q" name="q" value="${query.search}" placeholder="Search ${plural}" aria-label="Search ${plural}" autocomplete="off" spellcheck="false"><kbd aria-hidden="true">/</kbd>
    <button>Search</button>`
  return html`<form id="search" class="${isSearchable && 'search'}" role="search" action="${links.pageUrl(resource)}" data-live>
    ${hiddenInputs(links.tableParameters(resource, links.fromStart({ ...query, search: isSearchable ? '' : query.search, where })))}${isSearchable && box}</form>`
}

/** Files of what is shown: its columns, and its rows on all pages; where that is not everything, of everything too. */
export const fileLinks = (resource: Resource, query: links.TableQuery): Html => {
  const files = (exported: links.TableQuery) =>
    formatNames.map(
      (format) =>
        html` <a href="${links.downloadUrl(resource, exported, format)}" download>${formats[format].extension.toUpperCase()}</a>`,
    )
  const { search, where, columns } = query
  const isPart = search !== '' || where.length > 0 || columns !== undefined
  return html`<span class="downloads">Download ${isPart ? 'as shown' : 'all'}:${files(query)}</span>${isPart && html` <span class="downloads">Everything:${files(defaultListQuery)}</span>`}`
}

export const empty = (writes: boolean, resource: Resource, query: links.TableQuery, total: number): Html => {
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

export const chosenFilters = ({ registry, resource, query, labels }: links.TableView): Html | undefined => {
  const items = query.where.map((condition) => {
    const { field: name, operator, value } = condition
    const field = resource.fields.find((one) => one.name === name)
    const target = field && referencedResource(registry, field)
    const title = field ? fieldTitle(registry, field) : name
    const isPlain = operatorOf(operator).operand === 'boolean'
    const texts = [value].flat().map((item) => {
      if (target) return labels(target, item) ?? String(item)
      return field && !isPlain ? readable(field, typeof item === 'bigint' ? Number(item) : item) : String(item)
    })
    const text = operatorOf(operator).display(texts.join(', '))
    const removed = links.fromStart({ ...query, where: query.where.filter((other) => other !== condition) })
    return html`<li><span class="chosen-filter">${title}: <bdi>${text}</bdi></span> <a href="${links.tableUrl(resource, removed)}" aria-label="Remove the filter ${title}">×</a></li>`
  })
  return items.length > 0 ? html`<ul class="chosen-filters" aria-label="Active filters">${items}</ul>` : undefined
}

/** What is wrong with the address, and what was ignored; where a filter says it too, with a link to it. */
export const warnings = ({ registry, resource, wrong }: links.TableView, ignored: readonly string[]): Html[] => [
  ...[...wrong].map(([name, { message }]) => {
    const field = filterInputs(resource).get(name)
    const title = field ? fieldTitle(registry, field) : name
    return html`<p class="notice error" role="alert"><bdi>${title}: ${message}</bdi>${field && html` <a href="#filter-${name}">Change the filter</a>`}</p>`
  }),
  ...ignored.map((message) => html`<p class="notice">${message}</p>`),
]
