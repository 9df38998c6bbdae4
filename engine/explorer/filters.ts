/** The filters of a table: the most frequent values with their counts, and a box for any other value. */
import type { ParameterValue } from '../descriptor/kinds/index.js'
import { operators } from '../descriptor/operators.js'
import { type Field, filterFields, type Resource, searchedFields } from '../descriptor/registry.js'
import { type Counts, describeCount, maxRows, partNote, rangeFields } from './counts.js'
import { inputType, readable } from './format.js'
import { type Html, html } from './html.js'
import { fromStart, pageUrl, type TableQuery, type TableView, tableUrl } from './links.js'
import { bothNames, fieldTitle, referencedResource } from './names.js'

export const withoutFilter = (query: TableQuery, name: string): TableQuery =>
  fromStart({ ...query, where: query.where.filter(({ field }) => field !== name) })

export const withFilter = (query: TableQuery, field: string, value: ParameterValue): TableQuery => {
  const otherFilters = withoutFilter(query, field)
  return { ...otherFilters, where: [...otherFilters.where, { field, operator: 'eq', value }] }
}

/** What was typed, where it means nothing: at the input, with the reason below it. */
const wrongInput = ({ wrong }: TableView, name: string) => {
  const wrongValue = wrong.get(name)
  const id = `issue-filter-${name}`
  return {
    state: wrongValue && html` value="${wrongValue.input}" aria-invalid="true" aria-describedby="${id}"`,
    issue: wrongValue && html`<p class="issue" id="${id}"><bdi>${wrongValue.message}</bdi></p>`,
  }
}

const valueBox = (view: TableView, title: string, { name }: Field, target: Resource | undefined): Html => {
  const id = `filter-${name}`
  const { state, issue } = wrongInput(view, name)
  if (!target) {
    return html`<input form="search" id="${id}" name="${name}"${state} autocomplete="off" aria-label="Other ${title}" placeholder="Other value">${issue}`
  }
  return html`<div class="combobox"><input form="search" id="${id}" name="${name}"${state} autocomplete="off" aria-label="${title}: type the name of ${target.name.toLowerCase()}"
    placeholder="Type a name or an id" data-choices="${pageUrl(target, 'choices')}" data-choose="submit"></div>${issue}`
}

const rangeInputs = (view: TableView, field: Field): Html => {
  const { registry, query } = view
  const { name, about } = field
  const type = field.format === 'timestamp' ? 'text' : inputType(field)
  const input = (operator: 'gte' | 'lte', label: string): Html => {
    const value = query.where.find((condition) => condition.field === name && condition.operator === operator)?.value
    const inputValue = type === 'datetime-local' ? String(value ?? '').replace(/(:00)?\.000Z$/, '') : value
    const parameter = `${name}${operators[operator].suffix}`
    const { state, issue } = wrongInput(view, parameter)
    const typed = state ?? html` value="${inputValue === undefined ? '' : String(inputValue)}"`
    // An input of another type would not show what was typed.
    const shownType = state ? 'text' : type
    return html`<label>${label} <input form="search" id="filter-${parameter}" type="${shownType}"${shownType === 'number' && html` step="any"`} name="${parameter}"${typed} aria-label="${fieldTitle(registry, field)} ${label.toLowerCase()}"></label>${issue}`
  }
  return html`<section class="filter range"><h2 title="${about}">${bothNames(registry, field)}</h2>${input('gte', 'From')}${input('lte', 'To')}</section>`
}

const filterControl = (view: TableView, field: Field, counts?: Counts): Html => {
  const { registry, resource, query, labels } = view
  const { name } = field
  const title = fieldTitle(registry, field)
  const target = referencedResource(registry, field)
  const chosen = query.where.find(({ field: filtered, operator }) => filtered === name && operator === 'eq')?.value
  const valueText = (value: string): string =>
    target ? (labels(target, value) ?? `#${value}`) : readable(field, value)
  const values = counts?.values?.get(name) ?? []
  const isShared = values.some(([, count]) => count > 1)
  const countedRows = Math.max(1, Math.min(counts?.total ?? 1, maxRows))
  const items = values.slice(0, isShared || !target ? 8 : 3).map(([value, count]) => {
    const share = (100 * count) / countedRows
    return html`<li><a href="${tableUrl(resource, withFilter(query, name, value))}"><span class="value"><bdi>${valueText(value)}</bdi></span><span class="figure">${counts && describeCount(count, counts.total)}</span>
      <svg class="share" aria-hidden="true"><rect width="${share.toFixed(2)}%" height="100%"/></svg></a></li>`
  })
  const current =
    chosen !== undefined &&
    html`<p class="chosen"><bdi>${valueText(String(chosen))}</bdi> <a href="${tableUrl(resource, withoutFilter(query, name))}" aria-label="Remove the filter ${title}">Remove</a></p>`
  return html`<section class="filter"><h2 title="${field.about}">${bothNames(registry, field)}</h2>${current || html`${items.length > 0 && html`<ul class="values">${items}</ul>`}${valueBox(view, title, field, target)}`}</section>`
}

/** The parameters that the filters of a table have an input for, with their fields. */
export const filterInputs = (resource: Resource): Map<string, Field> =>
  new Map([
    ...filterFields(resource).map((field) => [field.name, field] as const),
    ...rangeFields(resource).flatMap((field) =>
      [operators.gte, operators.lte].map(({ suffix }) => [`${field.name}${suffix}`, field] as const),
    ),
  ])

/** All filters of a table; without counts, the script asks for them, and so does a link. */
export const filterPanel = (view: TableView, counts?: Counts): Html | undefined => {
  const { resource, query } = view
  // References come last: they have many values.
  const fields = filterFields(resource).sort((a, b) => Number(!!a.references) - Number(!!b.references))
  const ranges = rangeFields(resource)
  if (fields.length + ranges.length === 0) return undefined
  const later = !counts && tableUrl(resource, query, 'filters')
  const isSearchable = searchedFields(resource).length > 0
  return html`<aside class="filters" id="filters" aria-label="Filters" data-counts="${later}"><details open><summary>Filters</summary>
    ${later && html`<noscript><p><a href="${later}">Count the values</a></p></noscript>`}
    ${fields.map((field) => filterControl(view, field, counts))}${ranges.map((field) => rangeInputs(view, field))}
    ${counts && !counts.values && html`<p class="note">Counting the values took too long.</p>`}
    ${counts?.values && partNote(counts.total)}
    ${!isSearchable && html`<button form="search">Filter</button>`}</details></aside>`
}
