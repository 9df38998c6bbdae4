/** The filters of a table: the most frequent values with their counts, and a box for any other value. */
import { kindOf, type ParameterValue } from '../descriptor/kinds.js'
import type { Condition, ListQuery } from '../descriptor/listQuery.js'
import { operatorOf, operators } from '../descriptor/operators.js'
import { type Field, filterFields, type Registry, type Resource } from '../descriptor/registry.js'
import type { Counts } from './counts.js'
import { type Html, html } from './html.js'
import { type Labels, targetOf } from './labels.js'
import { choicesUrl, fromStart, tableUrl } from './links.js'

export const without = (query: ListQuery, name: string): ListQuery =>
  fromStart({ ...query, where: query.where.filter(({ field }) => field !== name) })

/** A query without one of its conditions. */
export const withoutCondition = (query: ListQuery, condition: Condition): ListQuery =>
  fromStart({ ...query, where: query.where.filter((other) => other !== condition) })

/** Whether a condition is shown by the inputs of its field, which send it again. */
export const isBound = ({ operator }: Condition): boolean => operatorOf(operator).option === 'range'

export const withFilter = (query: ListQuery, field: string, value: ParameterValue): ListQuery => {
  const others = without(query, field)
  return { ...others, where: [...others.where, { field, operator: 'eq', value }] }
}

/** An input for another value or, for a reference, the name of its row. */
const valueBox = (field: Field, target: Resource | undefined): Html => {
  const id = `filter-${field.name}`
  if (!target) {
    return html`<input form="search" id="${id}" name="${field.name}" autocomplete="off" aria-label="Other ${field.name}" placeholder="Other value">`
  }
  return html`<div class="combobox"><input form="search" id="${id}" name="${field.name}" autocomplete="off" aria-label="${field.name}: type the name of ${target.name.toLowerCase()}"
    placeholder="Type a name or an id" data-choices="${choicesUrl(target.path)}" data-choose="submit"></div>`
}

/** Two inputs for the least and the greatest value of a field. */
const rangeInputs = ({ name, kind, format, about }: Field, { where }: ListQuery): Html => {
  const type = format === 'date' ? 'date' : kindOf(kind).input
  const input = (operator: 'gte' | 'lte', words: string): Html => {
    const value = where.find((condition) => condition.field === name && condition.operator === operator)?.value
    const shown = type === 'datetime-local' ? String(value ?? '').replace(/(:00)?\.000Z$/, '') : value
    return html`<label>${words} <input form="search" type="${type}"${type === 'number' && html` step="any"`} name="${name}${operators[operator].suffix}" value="${shown === undefined ? '' : String(shown)}" aria-label="${name} ${words.toLowerCase()}"></label>`
  }
  return html`<section class="filter range"><h2 title="${about}">${name}</h2>${input('gte', 'From')}${input('lte', 'To')}</section>`
}

/** A number rounded to two digits, for an estimate. */
const roughly = (count: number): string => Number(count.toPrecision(2)).toLocaleString('en')

/** The control of one filter. */
const control = (
  registry: Registry,
  resource: Resource,
  field: Field,
  query: ListQuery,
  shown: Counts,
  labels: Labels,
): Html => {
  const { name } = field
  const target = targetOf(registry, field)
  const chosen = query.where.find(({ field: filtered, operator }) => filtered === name && operator === 'eq')?.value
  const textOf = (value: string): string => (target && labels(target, value)) ?? (target ? `#${value}` : value)
  const values = (shown.counts?.values.get(name) ?? []).filter(([value]) => value !== '')
  const isShared = values.some(([, count]) => count > 1)
  const looked = Math.max(1, shown.counts?.rows ?? 1)
  const items = values.slice(0, isShared || !target ? 8 : 3).map(([value, count]) => {
    const share = (100 * count) / looked
    const figure = shown.isExact ? count.toLocaleString('en') : `≈ ${roughly((count / looked) * shown.total)}`
    return html`<li><a href="${tableUrl(resource, withFilter(query, name, value))}"><span class="value"><bdi>${textOf(value)}</bdi></span><span class="figure">${figure}</span>
      <svg class="share" aria-hidden="true"><rect width="${share.toFixed(2)}%" height="100%"/></svg></a></li>`
  })
  const current =
    chosen !== undefined &&
    html`<p class="chosen"><bdi>${textOf(String(chosen))}</bdi> <a href="${tableUrl(resource, without(query, name))}" aria-label="Remove the filter ${name}">Remove</a></p>`
  return html`<section class="filter"><h2 title="${field.about}">${name}</h2>${current || html`${items.length > 0 && html`<ul class="values">${items}</ul>`}${valueBox(field, target)}`}</section>`
}

/** All filters of a table. */
export const filterPanel = (
  registry: Registry,
  resource: Resource,
  query: ListQuery,
  shown: Counts,
  labels: Labels,
): Html | undefined => {
  // References come last: they have many values.
  const fields = filterFields(resource).sort(
    (a, b) => Number(a.references !== undefined) - Number(b.references !== undefined),
  )
  const ranges = resource.fields.filter((field) => field.range)
  if (fields.length + ranges.length === 0) return undefined
  const note = !shown.counts
    ? 'Counting the values took too long.'
    : !shown.isExact && `Counts are estimated from a sample of ${shown.counts.rows.toLocaleString('en')} rows.`
  return html`${fields.map((field) => control(registry, resource, field, query, shown, labels))}${ranges.map((field) => rangeInputs(field, query))}${note && html`<p class="note">${note}</p>`}`
}
