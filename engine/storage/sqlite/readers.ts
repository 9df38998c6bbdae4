/** Reads lists in two executors, one for quick reads and one for slow ones. */
import type { StreamPart } from '../dialect.js'
import type { Plan } from '../plan.js'
import type { Caller, ValueCounts } from '../storage.js'
import type { ListPage, ListTask } from './lists.js'
import { DeadlineExceeded } from './search.js'
import type { Executor } from './worker.js'

export interface Readers {
  page(resource: string, query: Plan, caller?: Caller): Promise<ListPage>
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
const quickMs = 15

/** How long counting values may take, waiting included: a page is shown without the counts rather than late. */
const countsMs = 1_000

/** The group of pages without search and filters. */
const pagesOf = (resource: string): string => `${resource} pages`

export const readersOf = (quick: Executor, slow: Executor, timeoutMs: number): Readers => ({
  async page(resource, query, caller) {
    const started = performance.now()
    const task: ListTask = { resource, query }
    // A table with a long row has its pages read here; they do not wait for searches.
    const group = query.by === 'all' ? pagesOf(resource) : resource
    const options = { group, isAbandoned: () => caller?.closed === true }
    try {
      return await quick.run({ ...task, maxMs: quickMs }, { ...options, timeoutMs })
    } catch (error) {
      const left = timeoutMs - (performance.now() - started)
      if ((error as Error).name !== DeadlineExceeded.name || left <= 0) throw error
      return slow.run(task, { ...options, timeoutMs: left })
    }
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
})
