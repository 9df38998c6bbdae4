/** Reads lists in two executors, one for quick reads and one for slow ones. */
import { LRUCache } from 'lru-cache'
import type { StreamPart } from '../dialect.js'
import { cacheKey, type Plan } from '../plan.js'
import type { Caller, ValueCounts } from '../storage.js'
import type { ListPage, ListTask } from './lists.js'
import { DeadlineExceeded } from './search.js'
import type { Executor } from './worker.js'

export interface Readers {
  /** The page of a query; `tableRows` says how many rows a scan reads. */
  page(resource: string, query: Plan, tableRows: number, caller?: Caller): Promise<ListPage>
  /** The JSON of some rows, joined by commas. */
  rows(resource: string, ids: readonly bigint[]): Promise<Uint8Array>
  /** The next part of a stream. */
  part(resource: string, query: Plan, after: bigint, caller?: Caller): Promise<StreamPart>
  valueCounts(
    resource: string,
    query: Plan,
    fields: readonly string[],
    share: number,
    caller?: Caller,
  ): Promise<ValueCounts>
  close(): Promise<unknown>
}

/** A read that takes longer than this, in milliseconds, moves to the executor for slow ones, so that it holds up no quick one. */
const quickMs = 50

/** A scan of more rows than this takes longer. */
const maxQuickScan = 10_000

/** The most characters of slow queries that are remembered. */
const rememberedLength = 1_000_000

/** How long counting values may take, waiting included: a page is shown without the counts rather than late. */
const countsMs = 400

/** The group of pages without search and filters. */
const pagesOf = (resource: string): string => `${resource} pages`

/** Whether a query reads every row of a large table. */
const isLongScan = ({ by, filters }: Plan, tableRows: number): boolean =>
  by === 'scan' && tableRows > maxQuickScan && Object.keys(filters).length === 0

export const readersOf = (quick: Executor, slow: Executor, timeoutMs: number): Readers => {
  /** The queries that were slow when they last ran. */
  const slowQueries = new LRUCache<string, true>({
    maxSize: rememberedLength,
    sizeCalculation: (_, key) => key.length,
  })
  return {
    async page(resource, query, tableRows, caller) {
      const started = performance.now()
      const task: ListTask = { resource, query }
      // A table with a long row has its pages read here; they do not wait for searches, nor filters and searches for each other.
      const group = query.by === 'all' ? pagesOf(resource) : `${resource} ${query.by}`
      const options = { group, isAbandoned: () => caller?.closed === true }
      const key = cacheKey({ path: resource }, { ...query, limit: 0, offset: 0n })
      if (!isLongScan(query, tableRows) && !slowQueries.get(key)) {
        try {
          return await quick.run({ ...task, maxMs: quickMs }, { ...options, timeoutMs })
        } catch (error) {
          if ((error as Error).name !== DeadlineExceeded.name) throw error
          slowQueries.set(key, true)
        }
      }
      const left = timeoutMs - (performance.now() - started)
      const page = await slow.run<ListPage>(task, { ...options, timeoutMs: left })
      if (page.ms < quickMs) slowQueries.delete(key)
      return page
    },
    rows: (resource, ids) => quick.run({ resource, ids } satisfies ListTask, { group: pagesOf(resource), timeoutMs }),
    // The parts of a stream, and the counts, wait for slow reads but never hold up quick ones.
    part: (resource, query, after, caller) =>
      slow.run({ resource, query, after } satisfies ListTask, {
        group: `${resource} stream`,
        isAbandoned: () => caller?.closed === true,
        timeoutMs,
      }),
    valueCounts: (resource, query, fields, share, caller) =>
      slow.run({ resource, query, fields, share } satisfies ListTask, {
        group: `${resource} counts`,
        isAbandoned: () => caller?.closed === true,
        timeoutMs: Math.min(timeoutMs, countsMs),
      }),
    close: () => Promise.all([quick.close(), slow.close()]),
  }
}
