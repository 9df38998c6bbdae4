/** Reads lists in two executors, one for quick reads and one for slow ones. */
import type { Plan } from '../plan.js'
import type { Caller } from '../storage.js'
import type { ListPage, ListTask } from './lists.js'
import { DeadlineExceeded } from './search.js'
import type { Executor } from './worker.js'

export interface Readers {
  page(resource: string, query: Plan, caller?: Caller): Promise<ListPage>
  /** The JSON of some rows, joined by commas. */
  rows(resource: string, ids: readonly bigint[]): Promise<Uint8Array>
  close(): Promise<unknown>
}

/** A read that takes longer than this, in milliseconds, moves to the executor for slow ones, so that it holds up no quick one. */
const quickMs = 15

export const readersOf = (quick: Executor, slow: Executor, timeoutMs: number): Readers => ({
  async page(resource, query, caller) {
    const started = performance.now()
    const task: ListTask = { resource, query }
    const options = { group: resource, isAbandoned: () => caller?.closed === true }
    try {
      return await quick.run({ ...task, maxMs: quickMs }, { ...options, timeoutMs })
    } catch (error) {
      const left = timeoutMs - (performance.now() - started)
      if ((error as Error).name !== DeadlineExceeded.name || left <= 0) throw error
      return slow.run(task, { ...options, timeoutMs: left })
    }
  },
  rows: (resource, ids) => quick.run({ resource, ids } satisfies ListTask, { group: resource, timeoutMs }),
  close: () => Promise.all([quick.close(), slow.close()]),
})
