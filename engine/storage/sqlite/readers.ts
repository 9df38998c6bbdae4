/** Reads in a pool of readers: a read goes to whichever is free, and a slow one leaves another free. */
import { createSlots, quickMs, readWaitMs, type Task } from '../slots.js'
import type { ReadTask } from './reader.js'
import { DeadlineExceeded } from './search.js'
import type { Executor } from './worker.js'

export type Readers = (task: Task, read: ReadTask) => Promise<unknown[][]>

export const createReaders = (executors: readonly Executor[], timeoutMs: number): Readers => {
  const slots = createSlots(executors.length, readWaitMs(timeoutMs))
  const free = [...executors]
  const run = async (task: Task, read: ReadTask, maxMs: number | undefined): Promise<unknown[][]> => {
    const place = await slots.enter(task)
    const executor = free.pop() as Executor
    const isTried = !place.isSlow && maxMs !== undefined
    try {
      return await executor.run<unknown[][]>(isTried ? { ...read, maxMs } : read, timeoutMs)
    } catch (error) {
      if (!isTried || (error as Error).name !== DeadlineExceeded.name) throw error
    } finally {
      free.push(executor)
      place.leave(executor.lastMs)
    }
    // SQLite cannot interrupt a read and continue it later, so one that turns out to be slow begins again as that.
    return run(task, read, undefined)
  }
  // A response that has begun is not refused, so its reads need not show that they are quick.
  return (task, read) => run(task, read, task.isBegun ? undefined : quickMs)
}
