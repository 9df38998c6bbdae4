/** Where lists are read: by worker threads, or in place for a database in memory, which no other thread can see. */
import type { Database } from 'better-sqlite3'
import type { Plan } from '../plan.js'
import type { IsAbandoned } from '../storage.js'
import { type ListPage, type ListSql, listReader } from './lists.js'
import { DeadlineExceeded } from './search.js'
import { WorkerThread } from './worker.js'

export interface Readers {
  page(resource: string, query: Plan, isAbandoned?: IsAbandoned): Promise<ListPage>
  /** The JSON of some rows, joined by commas. */
  rows(resource: string, ids: readonly bigint[]): Promise<Uint8Array>
  close(): Promise<unknown>
}

/** A read that takes longer than this, in milliseconds, moves to the worker for slow ones, so that it holds up no quick one. */
const quickMs = 15

/** Reads in two workers: both kinds of reads have one, and a slow read never delays a quick one for long. */
export const workerReaders = (
  path: string,
  sql: ReadonlyMap<string, ListSql>,
  timeoutMs: number,
  onRestart: (cause: string) => void,
): Readers => {
  const module = new URL('./readWorker.js', import.meta.url)
  const [quick, slow] = [0, 1].map(() => new WorkerThread(module, { path, sql }, onRestart)) as [
    WorkerThread,
    WorkerThread,
  ]
  return {
    async page(resource, query, isAbandoned) {
      const started = performance.now()
      const options = { group: resource, ...(isAbandoned && { isAbandoned }) }
      try {
        return await quick.run({ resource, query, maxMs: quickMs }, { ...options, timeoutMs })
      } catch (error) {
        const left = timeoutMs - (performance.now() - started)
        if ((error as Error).name !== DeadlineExceeded.name || left <= 0) throw error
        return slow.run({ resource, query, maxMs: left }, { ...options, timeoutMs: left })
      }
    },
    rows: (resource, ids) => quick.run({ resource, ids }, { group: resource, timeoutMs }),
    close: () => Promise.all([quick.close({ wait: false }), slow.close({ wait: false })]),
  }
}

export const localReaders = (database: Database, sql: ReadonlyMap<string, ListSql>, timeoutMs: number): Readers => {
  const read = listReader(database, sql)
  return {
    page: async (resource, query) => read({ resource, query, maxMs: timeoutMs }, timeoutMs) as ListPage,
    rows: async (resource, ids) => read({ resource, ids }, timeoutMs) as Uint8Array,
    close: async () => {},
  }
}
