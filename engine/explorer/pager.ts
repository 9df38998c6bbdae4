/** The pages of a table: first, previous, next, last, and any by its number. */
import type { ListQuery } from '../descriptor/listQuery.js'
import type { Resource } from '../descriptor/registry.js'
import { type Html, html } from './html.js'
import { pageParameter, queryInputs, tableUrl } from './links.js'

const sizes = [25, 50, 100, 200]

export const hiddenInputs = (query: ListQuery): Html[] =>
  queryInputs(query).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)

export const pager = (resource: Resource, query: ListQuery, total: number): Html => {
  const { limit, offset } = query.page
  const size = BigInt(limit)
  const pages = total === 0 ? 1n : (BigInt(total) + size - 1n) / size
  const page = offset / size + 1n
  const link = (title: string, number: bigint, isPossible: boolean): Html =>
    isPossible
      ? html`<a class="button" href="${tableUrl(resource, { ...query, page: { limit, offset: (number - 1n) * size } })}">${title}</a>`
      : html`<span class="button off">${title}</span>`
  const last = page > pages ? pages : page - 1n
  const choices = [...new Set([...sizes, limit])].sort((a, b) => a - b)
  return html`<nav class="pager" aria-label="Pages">
    <div class="steps">${link('First', 1n, page > 1n)}${link('Previous', last, page > 1n)}
    <form action="${tableUrl(resource)}" data-navigate>${hiddenInputs(query)}<label>Page <input name="${pageParameter(resource)}" inputmode="numeric" value="${page}" size="${String(pages).length + 1}" autocomplete="off"></label> of ${pages.toLocaleString('en')} <button>Go</button></form>
    ${link('Next', page + 1n, page < pages)}${link('Last', pages, page < pages)}</div>
    <p class="sizes">Rows per page: ${choices.map((one) =>
      one === limit
        ? html`<strong aria-current="true">${one}</strong> `
        : html`<a href="${tableUrl(resource, { ...query, page: { limit: one, offset: 0n } })}">${one}</a> `,
    )}</p>
    </nav>`
}
