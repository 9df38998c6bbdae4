/** Small distributions above a table, of numbers and dates with ranges: the database counts the rows of each bar, which filters by its range. */
import { isMoment, kindOf, type ParameterValue } from '../descriptor/kinds/index.js'
import type { Condition, Selection } from '../descriptor/listQuery.js'
import type { Field, Resource } from '../descriptor/registry.js'
import { Violation } from '../descriptor/violations.js'
import type { Caller, Table } from '../storage/storage.js'
import { type Counts, describeCount, maxRows, partNote, rangeFields } from './counts.js'
import { withoutFilter } from './filters.js'
import { readable } from './format.js'
import { type Html, html } from './html.js'
import { type TableQuery, type TableView, tableUrl } from './links.js'
import { fieldTitle } from './names.js'
import { readSummary } from './rows.js'

/** Few enough for a finger on the bar of a chart as wide as a phone. */
const maxBars = 13

/** The bars: each has the values from `from`, below `to`. */
const makeBars = (length: number, at: (n: number) => number) =>
  Array.from({ length }, (_, n) => ({ from: at(n), to: at(n + 1) }))

type Bar = ReturnType<typeof makeBars>[number]

/** The least of 1, 2 and 5 times a power of ten that is not below a number. */
const roundStep = (least: number): number => {
  const power = 10 ** Math.floor(Math.log10(least))
  return ([1, 2, 5].find((digit) => digit * power >= least) ?? 10) * power
}

/** None if a double cannot tell the values apart. */
const numberBars = (field: Field, min: number, max: number): Bar[] => {
  const { step: least = 0, unit } = kindOf(field.kind).axis ?? {}
  const step = Math.max(roundStep((max - min) / maxBars), unit?.(field) ?? least)
  const first = Math.floor(min / step)
  // Rounded, because 3 × 0.1 is more than 0.3.
  const bars = makeBars(Math.floor(max / step) - first + 1, (n) => Number(((first + n) * step).toPrecision(15)))
  const isApart =
    (!unit || Math.max(-min, max) < 1e15 * unit(field)) &&
    bars.every(({ from, to }, n) => from < to && (n > 0 || from <= min) && (n < bars.length - 1 || max < to))
  return isApart ? bars : []
}

const dayMs = 86_400_000

/** The time of a day; NaN for a text that does not begin with one. */
const parseDay = (text: string): number => (/^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN)

/** Months per bar, for more than a few weeks. */
const monthSteps = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1_200, 6_000]

const dateBars = (min: number, max: number): Bar[] => {
  const days = [1, 7].find((step) => (max - min) / dayMs / step < maxBars)
  if (days) {
    const from = Math.floor(min / dayMs) * dayMs
    return makeBars(Math.floor((max - from) / (days * dayMs)) + 1, (n) => from + n * days * dayMs)
  }
  const months = (max - min) / dayMs / 30.4
  const step = monthSteps.find((one) => months / one < maxBars) ?? 12_000
  const monthNumber = (time: number) => new Date(time).getUTCFullYear() * 12 + new Date(time).getUTCMonth()
  const first = Math.floor(monthNumber(min) / step) * step
  const length = Math.floor((monthNumber(max) - first) / step) + 1
  return makeBars(length, (n) => new Date(0).setUTCFullYear(0, first + n * step, 1))
}

/** The value of a field at the edge of a bar; undefined beyond those that the field can have. */
const valueAt = (field: Field, at: number): ParameterValue | undefined => {
  const { axis, parse } = kindOf(field.kind)
  const text = axis?.text(at, field) ?? ''
  const value = parse(text, field)
  return value instanceof Violation || text.startsWith('+') ? undefined : value
}

/** The conditions of a bar; whole numbers and days include their last one, as the inputs of the filter do. */
const barConditions = (field: Field, { from, to }: Bar): Condition[] => {
  const { name, kind, format } = field
  const step = format === 'date' ? dayMs : (kindOf(kind).axis?.step ?? 0)
  const [least, last] = [valueAt(field, from), valueAt(field, to - step)]
  return [
    ...(least === undefined ? [] : [{ field: name, operator: 'gte' as const, value: least }]),
    ...(last === undefined
      ? []
      : [{ field: name, operator: step > 0 ? ('lte' as const) : ('lt' as const), value: last }]),
  ]
}

interface Chart {
  readonly field: Field
  /** The least and the greatest value. */
  readonly ends: readonly string[]
  readonly bars: readonly (Bar & { readonly rows: number })[]
}

const readChart = async (
  table: Table,
  field: Field,
  { where, search }: Selection,
  caller: Caller,
): Promise<Chart | undefined> => {
  const { name, format } = field
  // A text may be no date at all; one that begins with no digit is none.
  const dates: Condition[] = format
    ? [
        { field: name, operator: 'gte', value: '0' },
        { field: name, operator: 'lt', value: ':' },
      ]
    : []
  const query = { where: [...where, ...dates], search, maxRows }
  const { data } = await readSummary(table, { ...query, by: [], min: [name], max: [name], limit: 1 }, caller)
  const ends = [data[0]?.min?.[name] ?? null, data[0]?.max?.[name] ?? null].map((value) =>
    isMoment(field) ? String(value).slice(0, 10) : String(value),
  )
  const [min = Number.NaN, max = Number.NaN] = ends.map(isMoment(field) ? parseDay : Number)
  if (!(min < max)) return undefined
  const bars = isMoment(field) ? dateBars(min, max) : numberBars(field, min, max)
  if (bars.length < 2) return undefined
  const bounds = bars.slice(1).flatMap(({ from }) => valueAt(field, from) ?? [])
  const group = { name, field: name, bounds }
  const groups = await readSummary(table, { ...query, by: [group], limit: bars.length + 1 }, caller)
  const counted = new Map(groups.data.map(({ by, count }) => [by[name] === null ? -1 : Number(by[name]), count]))
  return { field, ends, bars: bars.map((bar, n) => ({ ...bar, rows: counted.get(n) ?? 0 })) }
}

/** The fields that have a chart; groups of rows have one of their own. */
export const chartFields = (resource: Resource, { grouping }: TableQuery): Field[] =>
  grouping?.by.length ? [] : rangeFields(resource)

export const readCharts = async (
  table: Table,
  fields: readonly Field[],
  selection: Selection,
  caller: Caller,
): Promise<Chart[]> => {
  const charts: Chart[] = []
  // One after the other, so that a page does not take all readers.
  for (const field of fields) {
    const chart = await readChart(table, field, selection, caller)
    if (chart) charts.push(chart)
  }
  return charts
}

/** What was counted for a table and its charts. */
export interface Counted extends Counts {
  readonly charts: readonly Chart[] | undefined
}

const barWidth = 10
const height = 36

const renderChart = ({ registry, resource, query }: TableView, { field, ends, bars }: Chart, total: number): Html => {
  const most = Math.max(...bars.map(({ rows }) => rows))
  const title = fieldTitle(registry, field)
  const texts = ends.map((end) => readable(field, end))
  const shapes = bars.map((bar, n) => {
    const tall = bar.rows === 0 ? 0 : Math.max(2, (height * bar.rows) / most)
    const conditions = barConditions(field, bar)
    const edge = (isLower: boolean) => {
      const value = conditions.find(({ operator }) => (operator === 'gte') === isLower)?.value
      return value === undefined ? texts[isLower ? 0 : 1] : readable(field, value as string | number)
    }
    const [first, last] = [edge(true), edge(false)]
    const name = `${title} ${first === last ? first : `${first} – ${last}`}: ${describeCount(bar.rows, total)}`
    const otherFilters = withoutFilter(query, field.name)
    const url = tableUrl(resource, { ...otherFilters, where: [...otherFilters.where, ...conditions] })
    return html`<a href="${url}" tabindex="-1" aria-label="${name}"><title>${name}</title><rect class="back" x="${n * barWidth}" width="${barWidth}" height="${height}"/><rect x="${n * barWidth + 0.5}" y="${(height - tall).toFixed(1)}" width="${barWidth - 1}" height="${tall.toFixed(1)}"/></a>`
  })
  return html`<figure class="chart"><figcaption>${title}</figcaption><svg viewBox="0 0 ${bars.length * barWidth} ${height}" preserveAspectRatio="none" role="group" aria-label="Distribution of ${title.toLowerCase()}">${shapes}</svg>
    <p class="ends">${texts.map((text) => html`<span>${text}</span>`)}</p></figure>`
}

/** All charts of a table; empty until their rows are counted. */
export const renderCharts = (view: TableView, counted: Counted | undefined): Html => {
  const { charts = [], total = 0 } = counted ?? {}
  const isLater = !counted && chartFields(view.resource, view.query).length > 0
  return html`<section class="charts ${isLater && 'later'}" id="charts" aria-label="Distributions">${charts.map((chart) => renderChart(view, chart, total))}${charts.length > 0 && partNote(total)}</section>`
}
