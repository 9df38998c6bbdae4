/** A worker thread that runs one task at a time. A worker that dies, or does not meet a task's deadline, is replaced. */
import { parentPort, Worker } from 'node:worker_threads'
import { fairQueue } from '../fairQueue.js'
import { TimedOut, Unavailable } from '../storage.js'

interface TaskOptions {
  /** How long the task may take, waiting included, in milliseconds. */
  readonly timeoutMs?: number
  /** Whether waiting is not included. */
  readonly isPatient?: boolean
  /** Tasks of different groups take turns, so that many of one group do not hold up another. */
  readonly group?: string
  /** Whether the client has left. */
  readonly isAbandoned?: (() => boolean) | undefined
}

export interface Executor {
  /** Runs a task when its turn comes; rejects if it does not end in time. */
  run<T>(message: unknown, options?: TaskOptions): Promise<T>
  close(): Promise<unknown>
}

/** Carries out a task, within the time that is left for it in milliseconds; may be asynchronous. */
type RunTask = (message: never, timeLeftMs: number) => unknown

export const inPlace = (run: RunTask): Executor => ({
  run: async (message, { timeoutMs = Number.POSITIVE_INFINITY } = {}) => run(message as never, timeoutMs) as never,
  close: async () => {},
})

/** What a worker is sent, and what it sends back under the same id. */
interface TaskMessage {
  readonly id: number
  readonly message: unknown
  readonly timeLeftMs: number
}
interface TaskReply {
  readonly id: number
  readonly result?: unknown
  /** An error loses its class and its code on the way between threads. */
  readonly error?: { readonly name: string; readonly message: string; readonly code: string | undefined }
}

export const serveTasks = (run: RunTask): void => {
  const reply = (message: TaskReply): void => parentPort?.postMessage(message)
  parentPort?.on('message', async ({ id, message: task, timeLeftMs }: TaskMessage) => {
    try {
      reply({ id, result: await run(task as never, timeLeftMs) })
    } catch (error) {
      const { name, message, code } = error as Error & { code?: string }
      reply({ id, error: { name, message, code } })
    }
  })
}

/** The worker died while it ran the task, so whether the task was carried out is unknown. */
export class WorkerDied extends Unavailable {}

interface Task {
  readonly id: number
  readonly resolve: (result: never) => void
  readonly reject: (error: Error) => void
}

/** How long after its deadline a task may still end by itself, in milliseconds. */
const grace = 1_000

/** A worker passes bytes on and keeps nothing, so it needs little memory; by default V8 takes far more. */
const resourceLimits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 }

const alone = { all: 1, ofGroup: 1 }

/** Runs a module with its workerData; `onRestart` is called with the cause when a worker has died. */
export const workerThread = (module: URL, data: unknown, onRestart: (cause: string) => void): Executor => {
  const queue = fairQueue(alone, { task: alone })
  let running: Task | undefined
  let worker: Worker | undefined
  let lastId = 0
  let isClosed = false

  const start = (): Worker => {
    const started = new Worker(module, { workerData: data, resourceLimits })
    started.unref()
    started.on('message', ({ id, result, error }: TaskReply) => {
      // The reply of a worker that has been replaced belongs to a task that has already failed.
      if (id !== running?.id) return
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
  const send = async (message: unknown, deadline: number): Promise<never> => {
    worker ??= start()
    const current = worker
    const timeLeftMs = deadline - performance.now()
    // A worker ends a task by itself at its deadline; one that does not hangs.
    const hang = () => replace(current, 'it did not end a task in time')
    const hangTimer = Number.isFinite(timeLeftMs) ? setTimeout(hang, timeLeftMs + grace) : undefined
    try {
      return await new Promise<never>((resolve, reject) => {
        running = { id: ++lastId, resolve, reject }
        current.postMessage({ id: lastId, message, timeLeftMs } satisfies TaskMessage)
      })
    } finally {
      clearTimeout(hangTimer)
      running = undefined
    }
  }

  return {
    async run(message, { timeoutMs = Number.POSITIVE_INFINITY, isPatient = false, group = '', isAbandoned } = {}) {
      const since = performance.now()
      const place = queue.enter({ class: 'task', group, name: '' })
      await place.entered
      try {
        if (isClosed) throw new Unavailable('the worker thread is closed')
        const deadline = (isPatient ? performance.now() : since) + timeoutMs
        if (deadline < performance.now() || isAbandoned?.())
          throw new TimedOut('the client left, or the time limit passed')
        return await send(message, deadline)
      } finally {
        place.leave()
      }
    },
    async close() {
      isClosed = true
      await worker?.terminate()
    },
  }
}
