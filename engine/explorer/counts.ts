/** Counts the most frequent values of the filters of a result, by summaries of a bounded number of rows. */
import { EventEmitter, once } from 'node:events'
import type { Selection } from '../descriptor/listQuery.js'
import { type Field, filterFields, type Resource } from '../descriptor/registry.js'
import type { Caller, Storage, Table } from '../storage/storage.js'
import { grouped } from './format.js'
import { type Html, html } from './html.js'
import { readSummary } from './rows.js'

/** The fields whose ranges can be asked for; they also have a chart. */
export const rangeFields = ({ fields }: Resource): Field[] => fields.filter((field) => field.range)

/** How many rows are counted at most, and how many values of a field. */
export const maxRows = 100_000
const maxValues = 12

/** How often values occur among matching rows. */
export interface ValueCounts {
  /** How many rows were counted. */
  readonly rows: number
  /** The most frequent values of each field, most frequent first; without null and long texts. */
  readonly values: ReadonlyMap<string, readonly (readonly [value: string, rows: number])[]>
}

/** The counts of a page's filters; undefined if counting took too long. */
export interface Counts {
  readonly counts: ValueCounts | undefined
  /** How many rows match. */
  readonly total: number
}

/** A number of counted rows; there may be more if not all were counted. */
export const describeCount = (rows: number, total: number): string =>
  total <= maxRows ? grouped(rows) : `≥ ${grouped(rows)}`

/** What figures are based on, if that is not every row. */
export const partNote = (total: number): Html | false =>
  total > maxRows && html`<p class="note">Only ${grouped(maxRows)} of ${grouped(total)} rows are counted.</p>`

/** Longer values are not shown. */
const maxValueLength = 400

const countValues = async (
  table: Table,
  fields: readonly Field[],
  { where, search }: Selection,
  caller: Caller,
): Promise<ValueCounts> => {
  const values = new Map<string, [string, number][]>()
  let rows = 0
  // One after the other, so that a page does not take all readers.
  for (const { name } of fields) {
    const query = { where, search, by: [{ name, field: name }], limit: maxValues, maxRows }
    const { data, meta } = await readSummary(table, query, caller)
    const counted = data.map(({ by, count }): [unknown, number] => [by[name], count])
    rows = meta.rows
    values.set(
      name,
      counted.flatMap(([value, count]) => {
        const text = String(value ?? '')
        return value === null || text.length > maxValueLength ? [] : [[text, count]]
      }),
    )
  }
  return { rows, values }
}

/** Bounds the wait: when the time is up, the caller counts as disconnected, so that the storage cancels the work. */
export const withTimeout = async <T>(
  client: Caller,
  timeoutMs: number,
  work: (caller: Caller) => Promise<T>,
): Promise<T> => {
  const caller = Object.assign(new EventEmitter(), { closed: client.closed, socket: client.socket ?? null })
  const close = () => {
    caller.closed = true
    caller.emit('close')
  }
  const timer = setTimeout(close, timeoutMs)
  client.once('close', close)
  const late = once(caller, 'close').then(() => Promise.reject(new Error('counting took too long')))
  try {
    return await Promise.race([work(caller), late])
  } finally {
    clearTimeout(timer)
    client.off('close', close)
  }
}

export const countFilters = async (
  storage: Storage,
  resource: Resource,
  selection: Selection,
  total: number,
  client: Caller,
  timeoutMs: number,
): Promise<Counts> => {
  // The page is shown without counts that took too long.
  const counts = await withTimeout(client, timeoutMs, (caller) =>
    countValues(storage.table(resource), filterFields(resource), selection, caller),
  ).catch(() => undefined)
  return { counts, total }
}
