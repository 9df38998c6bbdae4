/** Reads lists in a pool of readers: a read goes to whichever is free, and a slow one leaves another free. */
import { type ListQuery, selectionKey } from '../../descriptor/listQuery.js'
import type { TableDialect } from '../dialect.js'
import type { Plan } from '../plan.js'
import { createSlots, quickMs, readWaitMs, type Task } from '../slots.js'
import type { Caller } from '../storage.js'
import type { ListPage, ListTask, PlainTask } from './lists.js'
import { DeadlineExceeded } from './search.js'
import type { Executor } from './worker.js'

export interface Reader extends Pick<TableDialect, 'ids' | 'part' | 'valueCounts'> {
  page(plan: Plan, page: ListQuery['page'], caller?: Caller): Promise<ListPage>
  plain(task: PlainTask, caller?: Caller): Promise<unknown[][]>
}

/** What the time of a plan depends on. A scan takes the same time whatever it looks for. */
const latencyKey = (resource: string, plan: Plan): string =>
  plan.strategy === 'scan'
    ? `${resource} scan ${plan.where.map(({ field, operator }) => `${field} ${operator}`)}`
    : `${resource}?${selectionKey(plan)}`

export const createReaders = (executors: readonly Executor[], timeoutMs: number): ((resource: string) => Reader) => {
  const slots = createSlots(executors.length, readWaitMs(timeoutMs))
  const free = [...executors]
  return (resource) => {
    const run = async <T>(task: Omit<Task, 'table'>, message: ListTask, maxQuickMs?: number): Promise<T> => {
      const place = await slots.enter({ table: resource, keys: [`${resource} ${message.read}`], ...task })
      const executor = free.pop() as Executor
      const isTried = !place.isSlow && maxQuickMs !== undefined
      try {
        return await executor.run<T>(isTried ? { ...message, maxMs: maxQuickMs } : message, timeoutMs)
      } catch (error) {
        if (!isTried || (error as Error).name !== DeadlineExceeded.name) throw error
      } finally {
        free.push(executor)
        place.leave(executor.lastMs)
      }
      // SQLite cannot interrupt a read and continue it later, so one that turns out to be slow begins again as that.
      return run<T>(task, message)
    }
    return {
      page(plan, page, caller) {
        const task = { caller, keys: [latencyKey(resource, plan)], isLong: plan.strategy === 'scan' }
        return run(task, { resource, read: 'page', plan, page }, quickMs)
      },
      plain(task, caller) {
        const keys = [`${resource} ${task.sql} ${task.search}`]
        return run({ caller, keys }, { resource, read: 'plain', ...task }, quickMs)
      },
      ids: (plan, after, caller) =>
        run({ caller, isLong: true, isBegun: true }, { resource, read: 'ids', plan, after }),
      part: (ids, caller, format) =>
        run({ caller, isBegun: true }, { resource, read: 'part', ids, ...(format && { format }) }),
      valueCounts: (plan, fields, size, caller) =>
        run({ caller, isLong: true }, { resource, read: 'valueCounts', plan, fields, size }),
    }
  }
}
