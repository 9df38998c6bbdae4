/** The filters of a table: the most frequent values with their counts, and a box for any other value. */
import type { ParameterValue } from '../descriptor/kinds.js'
import type { ListQuery } from '../descriptor/listQuery.js'
import { type Field, filterFields, type Registry, type Resource } from '../descriptor/registry.js'
import type { Counts } from './counts.js'
import { type Html, html } from './html.js'
import { type Labels, targetOf } from './labels.js'
import { choicesUrl, fromStart, tableUrl } from './links.js'

export const without = (query: ListQuery, name: string): ListQuery =>
  fromStart({ ...query, where: query.where.filter(({ field }) => field !== name) })

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
  const chosen = query.where.find(({ field: filtered }) => filtered === name)?.value
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
  if (fields.length === 0) return undefined
  const note = !shown.counts
    ? 'Counting the values took too long.'
    : !shown.isExact && `Counts are estimated from a sample of ${shown.counts.rows.toLocaleString('en')} rows.`
  return html`${fields.map((field) => control(registry, resource, field, query, shown, labels))}${note && html`<p class="note">${note}</p>`}`
}
