/** Reads lists in two executors, one for quick reads and one for slow ones. */
import { LRUCache } from 'lru-cache'
import { type ListQuery, selectionKey } from '../../descriptor/listQuery.js'
import type { TableDialect } from '../dialect.js'
import type { Plan } from '../plan.js'
import type { Caller } from '../storage.js'
import type { ListPage, ListTask, PlainTask } from './lists.js'
import { DeadlineExceeded } from './search.js'
import type { Executor } from './worker.js'

export interface Reader extends Pick<TableDialect, 'ids' | 'part' | 'valueCounts'> {
  /** A page of a plan; `tableRows` says how many rows a scan reads. */
  page(plan: Plan, page: ListQuery['page'], tableRows: number, caller?: Caller): Promise<ListPage>
  plain(task: PlainTask, caller?: Caller): Promise<unknown[][]>
}

/** A read that takes longer than this, in milliseconds, moves to the executor for slow ones, so that it holds up no quick one. */
const quickMs = 50

/** A scan of more rows than this takes longer. */
const maxQuickScan = 10_000

/** The most characters of slow queries that are remembered. */
const rememberedLength = 1_000_000

/** Whether a read goes through every row of a large table. */
const isLongScan = ({ strategy, where }: Plan, tableRows: number): boolean =>
  strategy === 'scan' && tableRows > maxQuickScan && where.length === 0

export const createReaders = (quick: Executor, slow: Executor, timeoutMs: number): ((resource: string) => Reader) => {
  const slowQueries = new LRUCache<string, true>({
    maxSize: rememberedLength,
    sizeCalculation: (_, key) => key.length,
  })
  return (resource) => {
    const run = <T>(executor: Executor, group: string, task: object, caller?: Caller, limitMs = timeoutMs) =>
      executor.run<T>({ resource, ...task } as ListTask, {
        // Pages, filters, searches and downloads of a resource do not wait for each other.
        group: `${resource} ${group}`,
        isAbandoned: () => caller?.closed === true,
        timeoutMs: limitMs,
        // A response that has begun is not cut because others are read.
        isPatient: group === 'download',
      })
    const paced = async <T>(key: string, group: string, task: object, isLong: boolean, caller?: Caller): Promise<T> => {
      const started = performance.now()
      if (!isLong && !slowQueries.get(key)) {
        try {
          return await run<T>(quick, group, { ...task, maxMs: quickMs }, caller)
        } catch (error) {
          if ((error as Error).name !== DeadlineExceeded.name) throw error
          slowQueries.set(key, true)
        }
      }
      return run<T>(slow, group, task, caller, timeoutMs - (performance.now() - started))
    }
    return {
      async page(plan, page, tableRows, caller) {
        const key = `${resource}?${selectionKey(plan)}`
        const task = { read: 'page', plan, page }
        const found = await paced<ListPage>(key, plan.strategy, task, isLongScan(plan, tableRows), caller)
        if (found.ms < quickMs) slowQueries.delete(key)
        return found
      },
      plain: (task, caller) =>
        paced(`${resource} ${task.sql} ${task.search}`, 'plain', { read: 'plain', ...task }, false, caller),
      ids: (plan, after, caller) => run(slow, 'download', { read: 'ids', plan, after }, caller),
      part: (ids, caller, format) => run(quick, 'download', { read: 'part', ids, format }, caller),
      valueCounts: (plan, fields, size, caller) =>
        run(slow, 'counts', { read: 'valueCounts', plan, fields, size }, caller),
    }
  }
}
