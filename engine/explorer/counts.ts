/** Counts the values of fields in a result, by summaries of a bounded number of rows. */
import { EventEmitter, once } from 'node:events'
import type { Selection } from '../descriptor/listQuery.js'
import { type Field, filterFields, type Resource } from '../descriptor/registry.js'
import type { Group } from '../descriptor/summary.js'
import type { Caller, Storage, Table } from '../storage/storage.js'
import { grouped, isMoment } from './format.js'

/** The fields whose ranges can be asked for; they also have a chart. */
export const rangeFields = ({ fields }: Resource): Field[] => fields.filter((field) => field.range)

/** What is counted, among so many rows at most: of filters the most frequent values, of charts every value, of times their days. */
const uses = {
  filters: { fields: filterFields, maxRows: 100_000, maxValues: 12, isByDay: false },
  charts: { fields: rangeFields, maxRows: 100_000, maxValues: 10_000, isByDay: true },
}

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
  readonly isExact: boolean
  readonly total: number
}

/** A number of counted rows; there are more if not all were counted. */
export const describeCount = ({ isExact }: Counts, rows: number): string =>
  isExact ? grouped(rows) : `> ${grouped(rows)}`

/** Longer values are not shown. */
const maxValueLength = 400

interface Summary {
  readonly data: readonly { readonly by: Readonly<Record<string, unknown>>; readonly count: number }[]
  readonly meta: { readonly rows: number }
}

const countValues = async (
  table: Table,
  fields: readonly Field[],
  { where, search }: Selection,
  { maxRows, maxValues, isByDay }: (typeof uses)[keyof typeof uses],
  caller: Caller,
): Promise<ValueCounts> => {
  const values = new Map<string, [string, number][]>()
  let rows = 0
  // One after the other, so that a page does not take all readers.
  for (const field of fields) {
    const { name } = field
    const group: Group =
      isByDay && isMoment(field) ? { name: `${name}.day`, field: name, part: 'day' } : { name, field: name }
    const { body } = await table.summary({ where, search, by: [group], limit: maxValues, maxRows }, caller)
    const { data, meta } = JSON.parse(String(body)) as Summary
    const counted = data.map(({ by, count }): [unknown, number] => [by[group.name], count])
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

export const createValueCounter = (storage: Storage, resource: Resource, use: keyof typeof uses) => {
  const table = storage.table(resource)
  const fields = uses[use].fields(resource)
  return async (selection: Selection, total: number, client: Caller, timeoutMs: number): Promise<Counts> => {
    const isExact = total <= uses[use].maxRows
    try {
      const counts = await withTimeout(client, timeoutMs, (caller) =>
        countValues(table, fields, selection, uses[use], caller),
      )
      return { counts, isExact, total }
    } catch {
      // The page is shown without counts.
      return { counts: undefined, isExact, total }
    }
  }
}
