/** The page of a resource: its rows as a table, with a search box, filters, pages and the request. */
import { type FormatName, formatNames, formats } from '../contract/formats.js'
import { listQueryParser, listQuerySchema } from '../contract/parameters.js'
import { type Resource, type RowValues, searchedFields, type Value } from '../descriptor/registry.js'
import { choicesPage } from './choices.js'
import { type Excerpt, excerptOf, matchesIn } from './excerpt.js'
import { filterPanel, readCounts, readValueLabels, without } from './filters.js'
import { type Html, html } from './html.js'
import { readLabels, targetOf } from './labels.js'
import type { Page } from './layout.js'
import { apiListUrl, createUrl, downloadUrl, homePath, rowUrl, type TableState, tableUrl } from './links.js'
import { hiddenInputs, pager } from './pager.js'
import { type FindOperation, requestPanel, shellWord } from './requests.js'
import { eachRow } from './rows.js'
import type { ExplorerService } from './service.js'
import { parseState } from './tableState.js'
import { cellOf, type Shown } from './values.js'

/** A row as it is shown: long texts are excerpts, so that a page of them stays small. */
type ShownRow = Readonly<Record<string, Value | Excerpt>>

const shownRow = (resource: Resource, row: RowValues, q: string): ShownRow => {
  const searched = searchedFields(resource).map(({ name }) => name)
  const texts = searched.map((name) => row[name] as string | null)
  const ranges = matchesIn(texts, q)
  const excerpts = texts.map((text, n) => (text === null ? null : excerptOf(text, ranges[n] ?? [])))
  return { ...row, ...Object.fromEntries(searched.map((name, n) => [name, excerpts[n] ?? null])) }
}

const headOf = (resource: Resource): Html =>
  html`<thead><tr>${resource.fields.map(
    ({ name, kind, references, about }) =>
      html`<th scope="col" class="${kind !== 'text' && !references ? 'number' : ''}" title="${about}">${name}</th>`,
  )}</tr></thead>`

const rowOf = (resource: Resource, row: ShownRow, shown: Shown): Html => {
  const cells = resource.fields.map((field) =>
    field.name === 'id'
      ? html`<th scope="row" class="number"><a href="${shown.url}">${String(row['id'])}</a></th>`
      : cellOf(field, row[field.name] ?? null, shown),
  )
  return html`<tr>${cells}</tr>`
}

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

/** Makes the page of a resource. */
export const tablePage = (service: ExplorerService, resource: Resource, find: FindOperation) => {
  const { registry, storage, writes } = service
  const parse = listQueryParser(listQuerySchema(resource))
  return async (querystring: string, origin: string): Promise<Page | { readonly redirect: string }> => {
    const parsed = await parseState(storage, registry, resource, parse, querystring)
    if ('redirect' in parsed) return parsed
    const { state } = parsed
    if ('ambiguous' in parsed) return choicesPage(service, resource, state, parsed.ambiguous)
    const started = performance.now()
    const page = await storage.table(resource).list(state)
    const rows: ShownRow[] = []
    const total = await eachRow(page, (row) => rows.push(shownRow(resource, row, state.q)))
    const time = performance.now() - started
    const labels = await readLabels(storage, registry, resource, rows)
    const counts = await readCounts(storage, resource, state, total)
    const valueLabels = await readValueLabels(storage, registry, resource, state, counts.counts)
    const filters = filterPanel(registry, resource, state, counts, valueLabels)
    const body = rows.map((row) => rowOf(resource, row, { registry, labels, url: rowUrl(resource, String(row['id'])) }))
    const chosen = Object.entries(state.filters).map(([name, value]) => {
      const field = resource.fields.find((one) => one.name === name)
      const target = field && targetOf(registry, field)
      const text = (target && valueLabels(target, value)) ?? String(value)
      return html`<li><span class="chosen-filter">${name}: <bdi>${text}</bdi></span> <a href="${tableUrl(resource, without(state, name))}" aria-label="Remove the filter ${name}">×</a></li>`
    })
    const curl = `curl ${shellWord(`${origin}${apiListUrl(resource, state)}`)}`
    const main = html`<div class="title"><div><h1>${resource.plural}</h1>${resource.about && html`<p class="lead">${resource.about}</p>`}</div>
      ${writes && resource.create && html`<a class="button primary" href="${createUrl(resource)}">New ${resource.name.toLowerCase()}</a>`}</div>
      ${searchForm(resource, state)}
      <div class="${filters ? 'columns' : ''}">
      ${filters && html`<aside class="filters" id="filters" aria-label="Filters"><details open><summary>Filters</summary>${filters}</details></aside>`}
      <section class="results" id="results" aria-label="Rows">
      ${summary(resource, state, total, time)}
      ${chosen.length > 0 && html`<ul class="chosen-filters" aria-label="Active filters">${chosen}</ul>`}
      ${
        rows.length > 0
          ? html`<div class="scroll" tabindex="0" role="region" aria-label="Table of ${resource.plural.toLowerCase()}"><table>${headOf(resource)}<tbody>${body}</tbody></table></div>`
          : html`<p class="empty">${total === 0 ? 'No rows match.' : 'There are no rows this far.'} ${(state.q !== '' || chosen.length > 0 || total > 0) && html`<a href="${tableUrl(resource)}">Show all</a>`}</p>`
      }
      ${pager(resource, state, total)}
      ${requestPanel(curl, find('list', resource), apiListUrl(resource, state), html`<span class="downloads">Download all: ${downloads(resource, state)}</span>`)}
      </section></div>`
    return { title: resource.plural, crumbs: [{ title: 'Home', url: homePath }, { title: resource.plural }], main }
  }
}
