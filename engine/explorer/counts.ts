/** Counts the values of fields in a result: of a bounded number of rows, and once for each version of the table. */
import { EventEmitter, once } from 'node:events'
import { LRUCache } from 'lru-cache'
import { defaultListQuery, type Selection, selectionKey } from '../descriptor/listQuery.js'
import { type Field, filterFields, type Resource } from '../descriptor/registry.js'
import type { Caller, Storage, ValueCounts } from '../storage/storage.js'
import { grouped } from './format.js'

/** The fields whose ranges can be asked for; they also have a chart. */
export const rangeFields = ({ fields }: Resource): Field[] => fields.filter((field) => field.range)

/** What is counted, among so many rows at most: of filters the most frequent values, of charts every value. */
const uses = {
  filters: { fields: filterFields, maxRows: 100_000, maxValues: 12 },
  charts: { fields: rangeFields, maxRows: 100_000, maxValues: 10_000 },
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

/** How many results have their counts cached, and how many values these have together. */
const [maxResults, maxCachedValues] = [2_000, 100_000]

const cachedValues = ({ result: { counts } }: { result: Counts }): number =>
  [...(counts?.values.values() ?? [])].reduce((sum, values) => sum + values.length, 1)

/** By resource, use and selection; a tag belongs to one version of one table. */
const known = new LRUCache<string, { tag: string; result: Counts }>({
  max: maxResults,
  maxSize: maxCachedValues,
  sizeCalculation: cachedValues,
})

/** Bounds the wait: when the time is up, the caller counts as disconnected, so that the storage cancels the work. */
const withTimeout = async <T>(client: Caller, timeoutMs: number, work: (caller: Caller) => Promise<T>): Promise<T> => {
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
  const { fields, maxRows, maxValues } = uses[use]
  const names = fields(resource).map(({ name }) => name)

  return async ({ where, search }: Selection, total: number, client: Caller, timeoutMs: number): Promise<Counts> => {
    const selection = { where, search, order: defaultListQuery.order }
    const key = `${resource.path} ${use} ${selectionKey(selection)}`
    const tag = await table.tag()
    const before = known.get(key)
    if (before?.tag === tag) return before.result
    const isExact = total <= maxRows
    try {
      const counts = await withTimeout(client, timeoutMs, (caller) =>
        table.valueCounts(selection, names, { maxRows, maxValues }, caller),
      )
      const result = { counts, isExact, total }
      if (key.length < 1_000) known.set(key, { tag, result })
      return result
    } catch {
      // The page is shown without counts.
      return { counts: undefined, isExact, total }
    }
  }
}
