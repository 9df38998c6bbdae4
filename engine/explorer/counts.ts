/** How often values occur in a result, for its filters: in bounded time at any size, and once for each version of the table. */
import { LRUCache } from 'lru-cache'
import { filterFields, type Resource } from '../descriptor/registry.js'
import type { Storage, ValueCounts } from '../storage/storage.js'
import type { TableState } from './links.js'

/** Up to this many rows are counted exactly; of a larger result, so many rows from all over the table are looked at. */
const countedRows = 50_000

/** The counts of a page's filters; without them where counting took too long. */
export interface Counts {
  readonly counts: ValueCounts | undefined
  readonly isExact: boolean
  /** How many rows the result has. */
  readonly total: number
}

/** Results whose counts are remembered. */
const maxResults = 200

/** How long a page waits for its counts, in milliseconds. */
const longestWait = 1_000

const inTime = <T>(work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('counting took too long')), longestWait)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** Makes the function that counts the values of a result's filter fields. */
export const valueCounterOf = (storage: Storage, resource: Resource) => {
  const table = storage.table(resource)
  const names = filterFields(resource).map(({ name }) => name)
  const known = new LRUCache<string, { tag: string; found: Counts }>({ max: maxResults })

  return async ({ q, filters }: TableState, total: number): Promise<Counts> => {
    const key = JSON.stringify([q, Object.entries(filters).map(([name, value]) => [name, String(value)])])
    const tag = await table.tag()
    const before = known.get(key)
    if (before?.tag === tag) return before.found
    const isSmall = total <= countedRows
    const rows = isSmall ? total : ((await storage.counts()).get(resource) ?? total)
    const share = isSmall ? 1 : Math.min(1, countedRows / rows)
    try {
      const counts = await inTime(table.valueCounts({ q, filters }, names, share))
      const found = { counts, isExact: share === 1, total }
      if (key.length < 1_000) known.set(key, { tag, found })
      return found
    } catch {
      // The table is shown without the counts, rather than not at all.
      return { counts: undefined, isExact: isSmall, total }
    }
  }
}
