/** Small distributions above a table: of numbers and dates with ranges, from a sample; a bar filters by its range. */
import type { Condition } from '../descriptor/listQuery.js'
import type { Field } from '../descriptor/registry.js'
import { type Counts, describeCount, rangeFields } from './counts.js'
import { without } from './filters.js'
import { isMoment, readable } from './format.js'
import { type Html, html } from './html.js'
import { type TableView, tableUrl } from './links.js'
import { fieldTitle } from './names.js'

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

const numberBars = (min: number, max: number, isInteger: boolean): Bar[] => {
  const step = Math.max(roundStep((max - min) / maxBars), isInteger ? 1 : 0)
  const first = Math.floor(min / step)
  // Rounded, because 3 × 0.1 is more than 0.3.
  return makeBars(Math.floor(max / step) - first + 1, (n) => Number(((first + n) * step).toPrecision(12)))
}

const dayMs = 86_400_000

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

/** The conditions of a bar; whole numbers and days include their last one, as the inputs of the filter do. */
const barConditions = (field: Field, { from, to }: Bar): Condition[] => {
  const { name, kind, format } = field
  const isDay = kind === 'date' || format === 'date'
  const step = isDay ? dayMs : kind === 'integer' ? 1 : 0
  const asValue = (value: number) => {
    if (!isMoment(field)) return value
    const iso = new Date(value).toISOString()
    return isDay ? iso.slice(0, 10) : iso
  }
  return [
    { field: name, operator: 'gte', value: asValue(from) },
    { field: name, operator: step > 0 ? 'lte' : 'lt', value: asValue(to - step) },
  ]
}

const barWidth = 10
const height = 36

const renderChart = ({ registry, resource, query }: TableView, field: Field, counts: Counts): Html | undefined => {
  const points = (counts.counts?.values.get(field.name) ?? []).flatMap(([value, rows]) => {
    const at = isMoment(field) ? Date.parse(value) : Number(value)
    return Number.isFinite(at) ? [{ at, rows }] : []
  })
  const places = points.map(({ at }) => at)
  const [min, max] = [Math.min(...places), Math.max(...places)]
  if (!(min < max)) return undefined
  const bars = isMoment(field) ? dateBars(min, max) : numberBars(min, max, field.kind === 'integer')
  if (bars.length < 2) return undefined
  const sums = bars.map(({ from, to }) =>
    points.reduce((sum, { at, rows }) => sum + (at >= from && at < to ? rows : 0), 0),
  )
  const most = Math.max(...sums)
  const title = fieldTitle(registry, field)
  const shapes = bars.map((bar, n) => {
    const sum = sums[n] ?? 0
    const tall = sum === 0 ? 0 : Math.max(2, (height * sum) / most)
    const conditions = barConditions(field, bar)
    const [first, last] = conditions.map(({ value }) => readable(field, value as string | number))
    const name = `${title} ${first === last ? first : `${first} – ${last}`}: ${describeCount(counts, sum)}`
    const others = without(query, field.name)
    const url = tableUrl(resource, { ...others, where: [...others.where, ...conditions] })
    return html`<a href="${url}" tabindex="-1" aria-label="${name}"><title>${name}</title><rect class="back" x="${n * barWidth}" width="${barWidth}" height="${height}"/><rect x="${n * barWidth + 0.5}" y="${(height - tall).toFixed(1)}" width="${barWidth - 1}" height="${tall.toFixed(1)}"/></a>`
  })
  const ends = [min, max].map((at) => (isMoment(field) ? new Date(at).toISOString().slice(0, 10) : at))
  return html`<figure class="chart"><figcaption>${title}</figcaption><svg viewBox="0 0 ${bars.length * barWidth} ${height}" preserveAspectRatio="none" role="group" aria-label="Distribution of ${title.toLowerCase()}">${shapes}</svg>
    <p class="ends">${ends.map((end) => html`<span>${readable(field, end)}</span>`)}</p></figure>`
}

/** All charts of a table; empty until their values are counted. */
export const renderCharts = (view: TableView, counts: Counts | undefined): Html => {
  const fields = rangeFields(view.resource)
  const charts = counts && fields.map((field) => renderChart(view, field, counts))
  return html`<section class="charts ${!charts && fields.length > 0 && 'later'}" id="charts" aria-label="Distributions">${charts}</section>`
}
