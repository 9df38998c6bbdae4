/** Counts the values of filters in a result: in bounded time at any size, and once for each version of the table. */
import { EventEmitter, once } from 'node:events'
import { LRUCache } from 'lru-cache'
import { type Selection, selectionKey, wholeTable } from '../descriptor/listQuery.js'
import { filterFields, type Resource } from '../descriptor/registry.js'
import type { Caller, Storage, ValueCounts } from '../storage/storage.js'

/** Up to this many rows are counted exactly; for a larger result, a sample of this size is counted. */
const countedRows = 50_000

/** The counts of a page's filters; undefined if counting took too long. */
export interface Counts {
  readonly counts: ValueCounts | undefined
  readonly isExact: boolean
  /** How many rows the result has. */
  readonly total: number
}

/** How many results have their counts cached. */
const maxResults = 200

/** How long a page waits for its counts, in milliseconds. */
const countTimeoutMs = 400

/** Bounds the wait: when the time is up, the caller counts as disconnected, so that the storage cancels the work. */
const withTimeout = async <T>(client: Caller, work: (caller: Caller) => Promise<T>): Promise<T> => {
  const caller = Object.assign(new EventEmitter(), { closed: client.closed })
  const close = () => {
    caller.closed = true
    caller.emit('close')
  }
  const timer = setTimeout(close, countTimeoutMs)
  client.once('close', close)
  const late = once(caller, 'close').then(() => Promise.reject(new Error('counting took too long')))
  try {
    return await Promise.race([work(caller), late])
  } finally {
    clearTimeout(timer)
    client.off('close', close)
  }
}

/** Makes the function that counts the values of a result's filter fields. */
export const valueCounterOf = (storage: Storage, resource: Resource) => {
  const table = storage.table(resource)
  const names = filterFields(resource).map(({ name }) => name)
  const known = new LRUCache<string, { tag: string; found: Counts }>({ max: maxResults })

  return async ({ where, search }: Selection, total: number, client: Caller): Promise<Counts> => {
    const selection = { where, search, order: wholeTable.order }
    const key = selectionKey(selection)
    const tag = await table.tag()
    const before = known.get(key)
    if (before?.tag === tag) return before.found
    const isSmall = total <= countedRows
    const rows = isSmall ? total : ((await storage.counts()).get(resource) ?? total)
    const share = isSmall ? 1 : Math.min(1, countedRows / rows)
    try {
      const counts = await withTimeout(client, (caller) => table.valueCounts(selection, names, share, caller))
      const found = { counts, isExact: share === 1, total }
      if (key.length < 1_000) known.set(key, { tag, found })
      return found
    } catch {
      // The page is shown without counts.
      return { counts: undefined, isExact: isSmall, total }
    }
  }
}
