/** Groups of rows as a chart and as a table, the form that chooses them, and sums below a table of rows. */
import { parametersInvalid } from '../contract/errors.js'
import { largeGroupsIssue } from '../contract/issues.js'
import { isMoment, kindOf } from '../descriptor/kinds/index.js'
import type { Condition } from '../descriptor/listQuery.js'
import type { Field, Registry, Resource, Value } from '../descriptor/registry.js'
import { type Aggregate, aggregatedFields, aggregates, type Group, possibleGroups } from '../descriptor/summary.js'
import { GroupsTooLarge } from '../storage/failures.js'
import type { Caller, Storage } from '../storage/storage.js'
import { withFilter } from './filters.js'
import { grouped, isNumeric, months, readable } from './format.js'
import type { Grouping } from './grouping.js'
import { type Html, hiddenInputs, html, joined } from './html.js'
import {
  fromStart,
  groupingParameter,
  pageUrl,
  type TableQuery,
  type TableView,
  tableParameters,
  tableUrl,
} from './links.js'
import { fieldTitle, referencedResource } from './names.js'
import { type Computed, type GroupOfRows, readSummary } from './rows.js'
import { plainValue } from './values.js'

export interface Groups {
  readonly data: readonly GroupOfRows[]
  /** How many groups there are, and how many rows they have. */
  readonly total: number
  readonly rows: number
  /** What is computed of all rows. */
  readonly all: Computed
}

/** The most groups that a page shows. */
const maxShown = 200

const summarize = (
  storage: Storage,
  resource: Resource,
  { where, search }: TableQuery,
  grouping: Grouping,
  caller: Caller,
) =>
  readSummary(storage.table(resource), { where, search, ...grouping, limit: maxShown }, caller).catch(
    (error: unknown) => {
      if (!(error instanceof GroupsTooLarge)) throw error
      throw parametersInvalid([largeGroupsIssue(grouping.by.map(({ name }) => name))])
    },
  )

const fieldOf = (resource: Resource, name: string): Field => resource.fields.find((one) => one.name === name) as Field

/** The groups of a query that has some; dates in their order, everything else by the number of rows. */
export const readGroups = async (
  storage: Storage,
  resource: Resource,
  query: TableQuery,
  grouping: Grouping,
  caller: Caller,
): Promise<Groups> => {
  const { data, meta } = await summarize(storage, resource, query, grouping, caller)
  const [totals] =
    computedIn(grouping).length > 0
      ? (await summarize(storage, resource, query, { ...grouping, by: [] }, caller)).data
      : []
  const [first] = grouping.by
  const isByTime = first !== undefined && isMoment(fieldOf(resource, first.field))
  const timeOf = ({ by }: GroupOfRows) => String(by[first?.name ?? ''] ?? '')
  const sorted = isByTime ? data.toSorted((a, b) => (timeOf(a) < timeOf(b) ? -1 : Number(timeOf(a) > timeOf(b)))) : data
  return { data: sorted, ...meta, all: totals ?? {} }
}

/** What is computed of all rows of a query, for the foot of its table; undefined if that took too long. */
export const readSums = async (
  storage: Storage,
  resource: Resource,
  query: TableQuery,
  caller: Caller,
): Promise<Computed | undefined> => {
  if (!query.grouping) return {}
  const summary = await summarize(storage, resource, query, query.grouping, caller).catch(() => undefined)
  return summary && (summary.data[0] ?? {})
}

const computedIn = (grouping: Grouping): [Aggregate, string][] =>
  aggregates.flatMap((aggregate) => (grouping[aggregate] ?? []).map((name): [Aggregate, string] => [aggregate, name]))

const words: Readonly<Record<Aggregate, string>> = { sum: 'Sum', avg: 'Average', min: 'Least', max: 'Greatest' }

const groupTitle = (registry: Registry, resource: Resource, { field, part }: Group): string => {
  const title = fieldTitle(registry, fieldOf(resource, field))
  return part ? `${title} (${part})` : title
}

/** A value that was computed; an average is rounded for people. */
const computedText = (field: Field, aggregate: Aggregate, value: Value | undefined): string => {
  if (value === null || value === undefined) return '–'
  const rounded = aggregate === 'avg' ? Number(Number(value).toFixed(2)) : value
  return readable(field, rounded)
}

/** The value of a group as people read it. */
const groupText = (
  { registry, resource, labels }: TableView,
  { field: name, part, ...group }: Group,
  row: GroupOfRows,
) => {
  const value = row.by[group.name] ?? null
  const field = fieldOf(resource, name)
  if (value === null) return 'empty'
  if (part === 'month') return `${months[Number(String(value).slice(5)) - 1]} ${String(value).slice(0, 4)}`
  if (part === 'year') return String(value)
  const target = referencedResource(registry, field)
  return target ? (labels(target, value) ?? `#${value}`) : readable(field, value) || '""'
}

/** The first day or moment of a year, month or day, and of the one after it. */
const partEnds = (text: string): [from: Date, to: Date] => {
  const [year = 0, month, day] = text.split('-').map(Number)
  const at = (years: number, monthNumber: number, days: number) =>
    new Date(new Date(0).setUTCFullYear(years, monthNumber - 1, days))
  const from = at(year, month ?? 1, day ?? 1)
  if (month === undefined) return [from, at(year + 1, 1, 1)]
  return [from, day === undefined ? at(year, month + 1, 1) : at(year, month, day + 1)]
}

/** The conditions of a group's rows; undefined if no list can be narrowed to them. */
const groupConditions = (field: Field, { name, part }: Group, { by }: GroupOfRows): Condition[] | undefined => {
  const value = by[name] ?? null
  if (value === null) {
    // Of a text, what does not begin with a date is in the same group.
    const isOnlyNull = !part || field.format === undefined
    return field.filter && isOnlyNull ? [{ field: field.name, operator: 'null', value: true }] : undefined
  }
  if (!part) return [{ field: field.name, operator: 'eq', value: value as string }]
  const [from, to] = partEnds(String(value))
  const { text = String, step = 0 } = kindOf(field.kind).axis ?? {}
  return [
    { field: field.name, operator: 'gte', value: text(from.getTime(), field) },
    { field: field.name, operator: step > 0 ? 'lte' : 'lt', value: text(to.getTime() - step, field) },
  ]
}

/** Adds conditions to those that a query has: a bound that is narrower already stays. */
const narrowed = (query: TableQuery, conditions: readonly Condition[]): TableQuery => {
  let narrower = query
  for (const condition of conditions) {
    const { field, operator, value } = condition
    const same = narrower.where.find((one) => one.field === field && one.operator === operator)
    const [old, added] = [String(same?.value), String(value)]
    if (operator === 'eq') narrower = withFilter(narrower, field, added)
    else if (!same || (operator === 'gte' ? old < added : old > added))
      narrower = { ...narrower, where: [...narrower.where.filter((one) => one !== same), condition] }
  }
  return narrower
}

/** The address of the rows of a group. */
const rowsUrl = ({ resource, query }: TableView, by: readonly Group[], row: GroupOfRows): string | undefined => {
  const conditions = by.map((group) => groupConditions(fieldOf(resource, group.field), group, row))
  if (conditions.some((one) => one === undefined)) return undefined
  return tableUrl(resource, narrowed(fromStart({ ...query, grouping: undefined }), conditions.flat() as Condition[]))
}

/** The most bars of a chart. */
const maxBars = 40

/** A bar for each group: of the first number that is computed, otherwise of the number of rows. */
const barChart = (view: TableView, { by, ...computed }: Grouping, { data }: Groups): Html | undefined => {
  const { registry, resource } = view
  const measured = computedIn({ by, ...computed }).find(([, name]) => isNumeric(fieldOf(resource, name)))
  const [aggregate, field] = measured ? [measured[0], fieldOf(resource, measured[1])] : []
  const measure = (row: GroupOfRows): number =>
    aggregate && field ? Number(row[aggregate]?.[field.name] ?? 0) : row.count
  const most = Math.max(...data.map((row) => Math.abs(measure(row))))
  if (!(most > 0)) return undefined
  const bars = data.slice(0, maxBars).map((row) => {
    const size = (100 * Math.abs(measure(row))) / most
    const text = aggregate && field ? computedText(field, aggregate, row[aggregate]?.[field.name]) : grouped(row.count)
    const name = by.map((group) => groupText(view, group, row)).join(' · ')
    const content = html`<span class="value"><bdi>${name}</bdi></span><svg class="share" aria-hidden="true"><rect class="${measure(row) < 0 && 'negative'}" width="${size.toFixed(2)}%" height="100%"/></svg><span class="figure">${text}</span>`
    const url = rowsUrl(view, by, row)
    return html`<li>${url ? html`<a href="${url}">${content}</a>` : html`<span class="bar-row">${content}</span>`}</li>`
  })
  const what = aggregate && field ? `${words[aggregate]} of ${fieldTitle(registry, field).toLowerCase()}` : 'Rows'
  const names = by.map((group) => groupTitle(registry, resource, group).toLowerCase())
  return html`<figure class="bars"><figcaption>${what} by ${names.join(' and ')}</figcaption><ol>${bars}</ol></figure>`
}

/** The groups of a table: a chart, and all numbers. */
export const renderGroups = (view: TableView, grouping: Grouping, groups: Groups): Html => {
  const { registry, resource } = view
  const { by } = grouping
  const computed = computedIn(grouping).map(([aggregate, name]) => ({ aggregate, field: fieldOf(resource, name) }))
  const figures = (values: Computed) =>
    computed.map(
      ({ aggregate, field }) =>
        html`<td class="number">${computedText(field, aggregate, values[aggregate]?.[field.name])}</td>`,
    )
  const heads = [
    ...by.map(
      (group) =>
        html`<th scope="col">${groupTitle(registry, resource, group)}<code class="raw">${group.name}</code></th>`,
    ),
    html`<th scope="col" class="number">Rows</th>`,
    ...computed.map(
      ({ aggregate, field }) =>
        html`<th scope="col" class="number">${words[aggregate]} of ${fieldTitle(registry, field).toLowerCase()}<code class="raw">${aggregate}=${field.name}</code></th>`,
    ),
  ]
  const lines = groups.data.map((row) => {
    const url = rowsUrl(view, by, row)
    const names = by.map((group, n) => {
      const field = fieldOf(resource, group.field)
      const value = row.by[group.name] ?? null
      const text = groupText(view, group, row)
      const valueHtml =
        value === null ? html`<span class="none">${text}</span>` : plainValue(field, String(value), text)
      const content = n === 0 && url ? html`<a href="${url}">${valueHtml}</a>` : valueHtml
      return html`<th scope="row" class="text">${content}</th>`
    })
    return html`<tr>${names}<td class="number">${url ? html`<a href="${url}">${grouped(row.count)}</a>` : grouped(row.count)}</td>${figures(row)}</tr>`
  })
  const isCut = groups.total > groups.data.length
  return html`${barChart(view, grouping, groups)}
    ${isCut && html`<p class="notice">The ${grouped(groups.data.length)} largest of ${grouped(groups.total)} groups are shown.</p>`}
    <div class="scroll" tabindex="0" role="region" aria-label="Groups of ${resource.plural.toLowerCase()}"><table class="groups"><thead><tr>${heads}</tr></thead><tbody>${lines}</tbody>
    <tfoot><tr><th scope="row" colspan="${by.length}">All</th><td class="number">${grouped(groups.rows)}</td>${figures(groups.all)}</tr></tfoot></table></div>`
}

/** A line below the rows of a table for each aggregate that was asked for: `sum=days`. */
export const sumsFoot = (
  { resource, query }: TableView,
  columns: readonly Field[],
  span: number,
  sums: Computed | undefined,
): Html | undefined => {
  const { grouping } = query
  if (!grouping) return undefined
  const lines = aggregates
    .filter((aggregate) => grouping[aggregate])
    .map((aggregate) => {
      const cells = columns.map(({ name }) => {
        const isAsked = grouping[aggregate]?.includes(name)
        const text = isAsked && (sums ? computedText(fieldOf(resource, name), aggregate, sums[aggregate]?.[name]) : '–')
        return html`<td class="number">${text}</td>`
      })
      return html`<tr><th scope="row" colspan="${span}">${words[aggregate]}${!sums && html` <span class="note">took too long</span>`}</th>${cells}</tr>`
    })
  return html`<tfoot>${lines}</tfoot>`
}

/** The link that shows sums below the rows, or no longer. */
export const sumsLink = ({ resource, query }: TableView): Html | false => {
  const numbers = aggregatedFields(resource, 'sum')
  if (numbers.length === 0) return false
  const grouping = query.grouping ? undefined : { by: [], sum: numbers }
  return html`<a href="${tableUrl(resource, { ...query, grouping })}">${grouping ? 'Sums' : 'Without sums'}</a>`
}

/** The form that chooses what a table is grouped by. */
export const groupChooser = ({ registry, resource, query }: TableView): Html | undefined => {
  const possible = possibleGroups(resource)
  if (possible.length === 0) return undefined
  const { by, ...computed } = query.grouping ?? { by: [] }
  const select = (n: number, label: string) => {
    const options = possible.map(
      (group) =>
        html`<option value="${group.name}"${group.name === by[n]?.name && html` selected`}>${groupTitle(registry, resource, group)}</option>`,
    )
    return html`<label>${label} <select name="${groupingParameter(resource, 'by')}"><option value="">–</option>${options}</select></label>`
  }
  const fields = resource.fields.filter(({ name }) => aggregatedFields(resource, 'max').includes(name))
  const boxes = fields.map((field) => {
    const possible = aggregates.filter((aggregate) => aggregatedFields(resource, aggregate).includes(field.name))
    const choices = possible.map(
      (aggregate) =>
        html`<label><input type="checkbox" name="${groupingParameter(resource, aggregate)}" value="${field.name}"${computed[aggregate]?.includes(field.name) && html` checked`}> ${words[aggregate]}</label>`,
    )
    return html`<fieldset><legend>${fieldTitle(registry, field)}</legend>${choices}</fieldset>`
  })
  const names = by.map((group) => groupTitle(registry, resource, group))
  const hidden = hiddenInputs(tableParameters(resource, fromStart({ ...query, grouping: undefined })))
  const rows = by.length > 0 && html` <a href="${tableUrl(resource, { ...query, grouping: undefined })}">Rows</a>`
  return html`<details class="chooser"><summary>Group${names.length > 0 && html` <span class="note">by ${joined(names, ', ')}</span>`}</summary><form class="group-form" action="${pageUrl(resource)}" data-navigate>${hidden}<p>${select(0, 'Group by')} ${select(1, 'and by')}</p>${boxes}
    <p><button>Group</button>${rows}</p></form></details>`
}
