/** Counts the most frequent values of the filters of a result, by summaries of a bounded number of rows. */
import { EventEmitter, once } from 'node:events'
import type { Selection } from '../descriptor/listQuery.js'
import type { Field, Resource } from '../descriptor/registry.js'
import type { Caller, Table } from '../storage/storage.js'
import { grouped } from './format.js'
import { type Html, html } from './html.js'
import { readSummary } from './rows.js'

/** The fields whose ranges can be asked for; they can have a chart. */
export const rangeFields = ({ fields }: Resource): Field[] => fields.filter((field) => field.range)

/** How many rows are counted at most, and how many values of a field. */
export const maxRows = 100_000
const maxValues = 12

/** The most frequent values of each field, most frequent first; without null and long texts. */
export type ValueCounts = ReadonlyMap<string, readonly (readonly [value: string, rows: number])[]>

/** What was counted for a page; undefined what took too long. */
export interface Counts {
  /** How many rows match. */
  readonly total: number
  readonly values: ValueCounts | undefined
}

/** A number of counted rows; there may be more if not all were counted. */
export const describeCount = (rows: number, total: number): string =>
  total <= maxRows ? grouped(rows) : `≥ ${grouped(rows)}`

/** What figures are based on, if that is not every row. */
export const partNote = (total: number): Html | false =>
  total > maxRows && html`<p class="note">Only ${grouped(maxRows)} of ${grouped(total)} rows are counted.</p>`

/** Longer values are not shown. */
const maxValueLength = 400

export const countValues = async (
  table: Table,
  fields: readonly Field[],
  { where, search }: Selection,
  caller: Caller,
): Promise<ValueCounts> => {
  const counts = new Map<string, [string, number][]>()
  // One after the other, so that a page does not take all readers.
  for (const { name } of fields) {
    const query = { where, search, by: [{ name, field: name }], limit: maxValues, maxRows }
    const { data } = await readSummary(table, query, caller)
    const values = data.map(({ by, count }): [string, number] => [String(by[name] ?? ''), count])
    counts.set(
      name,
      values.filter(([value]) => value !== '' && value.length <= maxValueLength),
    )
  }
  return counts
}

/** The result of some work; undefined if it fails or takes too long: the caller counts as disconnected then, so that the storage cancels it. */
export const inTime = async <T>(
  client: Caller,
  timeoutMs: number,
  work: (caller: Caller) => Promise<T>,
): Promise<T | undefined> => {
  const caller = Object.assign(new EventEmitter(), { closed: client.closed, socket: client.socket ?? null })
  const close = () => {
    caller.closed = true
    caller.emit('close')
  }
  const timer = setTimeout(close, timeoutMs)
  client.once('close', close)
  try {
    return await Promise.race([work(caller), once(caller, 'close').then(() => undefined)])
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
    client.off('close', close)
  }
}
