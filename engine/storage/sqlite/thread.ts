/**
 * Worker threads, each of which runs one task at a time: one that dies, or does not meet a task's deadline, is replaced. Of those
 * that read, a read goes to whichever is free, and a slow one leaves another free.
 */
import { parentPort, type TransferListItem, Worker } from 'node:worker_threads'
import { Unavailable } from '../failures.js'
import { createSlots, quickMs, readWaitMs, type Task } from '../slots.js'
import type { ReadTask } from './reader.js'
import { DeadlineExceeded } from './search.js'

export interface Executor {
  /** Runs a task after those before it; rejects if it does not end within this many milliseconds. A function makes the message when it begins. */
  run<T>(message: unknown, timeoutMs?: number, transferred?: readonly TransferListItem[]): Promise<T>
  /** How long the last task took, in milliseconds; without the time until its thread and this one got to it. */
  readonly lastMs: number
  close(): Promise<unknown>
}

/** Carries out a task, within the time that is left for it in milliseconds; may be asynchronous. */
type RunTask = (message: never, timeLeftMs: number) => unknown

/** What a worker is sent, and what it sends back under the same id. */
interface TaskMessage {
  readonly id: number
  readonly message: unknown
  readonly timeLeftMs: number
}
interface TaskReply {
  readonly id: number
  readonly result?: unknown
  readonly ms: number
  /** An error loses its class and its code on the way between threads. */
  readonly error?: { readonly name: string; readonly message: string; readonly code: string | undefined }
}

export const serveTasks = (run: RunTask): void => {
  const reply = (message: TaskReply): void => parentPort?.postMessage(message)
  parentPort?.on('message', async ({ id, message: task, timeLeftMs }: TaskMessage) => {
    const started = performance.now()
    try {
      const result = await run(task as never, timeLeftMs)
      reply({ id, ms: performance.now() - started, result })
    } catch (error) {
      const { name, message, code } = error as Error & { code?: string }
      reply({ id, ms: performance.now() - started, error: { name, message, code } })
    }
  })
}

/** The worker died while it ran the task, so whether the task was carried out is unknown. */
export class WorkerDied extends Unavailable {}

interface WorkerTask {
  readonly id: number
  readonly resolve: (result: never) => void
  readonly reject: (error: Error) => void
}

/** How long after its deadline a task may still end by itself, in milliseconds. */
const grace = 1_000

/** A worker passes bytes on and keeps nothing, so it needs little memory; by default V8 takes far more. */
const resourceLimits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 }

/** Runs a module with its workerData; `onRestart` is called with the cause when a worker has died. */
export const workerThread = (module: URL, data: unknown, onRestart: (cause: string) => void): Executor => {
  let last: Promise<unknown> = Promise.resolve()
  let running: WorkerTask | undefined
  let worker: Worker | undefined
  let lastId = 0
  let isClosed = false
  let lastMs = 0

  const start = (): Worker => {
    const started = new Worker(module, { workerData: data, resourceLimits })
    started.unref()
    started.on('message', ({ id, ms, result, error }: TaskReply) => {
      // The reply of a worker that has been replaced belongs to a task that has already failed.
      if (id !== running?.id) return
      lastMs = ms
      if (error) running.reject(Object.assign(new Error(error.message), error))
      else running.resolve(result as never)
    })
    // Of SQLite's own errors, only the code crosses threads.
    started.on('error', ({ message, code }: Error & { code?: string }) => replace(started, message ?? code))
    started.on('exit', (code) => replace(started, `it exited with code ${code}`))
    return started
  }
  const replace = (dead: Worker, cause: string): void => {
    if (dead !== worker) return
    worker = undefined
    void dead.terminate()
    if (running && !isClosed) onRestart(cause)
    running?.reject(new WorkerDied(`a worker thread was replaced: ${cause}`))
  }
  const send = async (
    message: unknown,
    timeLeftMs: number,
    transferred: readonly TransferListItem[],
  ): Promise<never> => {
    if (isClosed) throw new Unavailable('the worker thread is closed')
    worker ??= start()
    const current = worker
    // A worker ends a task by itself at its deadline; one that does not hangs.
    const hang = () => replace(current, 'it did not end a task in time')
    const hangTimer = Number.isFinite(timeLeftMs) ? setTimeout(hang, timeLeftMs + grace) : undefined
    try {
      return await new Promise<never>((resolve, reject) => {
        running = { id: ++lastId, resolve, reject }
        current.postMessage({ id: lastId, message, timeLeftMs } satisfies TaskMessage, transferred)
      })
    } finally {
      clearTimeout(hangTimer)
      running = undefined
    }
  }

  return {
    get lastMs() {
      return lastMs
    },
    run(message, timeoutMs = Number.POSITIVE_INFINITY, transferred = []) {
      const make = (): unknown => (typeof message === 'function' ? message() : message)
      const result = last.then(() => send(make(), timeoutMs, transferred))
      last = result.catch(() => {})
      return result
    },
    async close() {
      isClosed = true
      await worker?.terminate()
    },
  }
}

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
