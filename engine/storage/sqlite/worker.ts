/** A worker thread that runs one task at a time. A worker that dies, or does not meet a task's deadline, is replaced. */
import { parentPort, Worker } from 'node:worker_threads'
import { TimedOut, Unavailable } from '../storage.js'

export interface TaskOptions {
  /** How long the task may take, waiting included, in milliseconds. */
  readonly timeoutMs?: number
  /** Tasks of different groups take turns, so that many of one group do not hold up another. */
  readonly group?: string
  /** Whether nobody waits for the result any more. */
  readonly isAbandoned?: (() => boolean) | undefined
}

/** What runs the tasks of one kind. */
export interface Executor {
  /** Runs a task when its turn comes; rejects if it does not end in time. */
  run<T>(message: unknown, options?: TaskOptions): Promise<T>
  /** Ends the executor, and with it the task that it runs. */
  close(): Promise<unknown>
}

/** Carries out a task, within the time that is left for it in milliseconds; may be asynchronous. */
export type RunTask = (message: never, timeLeftMs: number) => unknown

/** Runs tasks in the calling thread. */
export const inPlace = (run: RunTask): Executor => ({
  run: async (message, { timeoutMs = Number.POSITIVE_INFINITY } = {}) => run(message as never, timeoutMs) as never,
  close: async () => {},
})

/** What a worker is sent, and what it sends back under the same id. */
interface Request {
  readonly id: number
  readonly message: unknown
  readonly timeLeftMs: number
}
interface Reply {
  readonly id: number
  readonly result?: unknown
  /** An error loses its class and its code on the way between threads. */
  readonly error?: { readonly name: string; readonly message: string; readonly code: string | undefined }
}

/** The worker's side of a WorkerThread. */
export const serveTasks = (run: RunTask): void => {
  const reply = (message: Reply): void => parentPort?.postMessage(message)
  parentPort?.on('message', async ({ id, message: task, timeLeftMs }: Request) => {
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

interface Task extends TaskOptions {
  readonly id: number
  readonly message: unknown
  readonly deadline: number
  readonly resolve: (result: never) => void
  readonly reject: (error: Error) => void
}

/** How long after its deadline a task may still end by itself, in milliseconds. */
const grace = 1_000

/** A worker passes bytes on and keeps nothing, so it needs little memory; by default V8 takes far more. */
const resourceLimits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 }

export class WorkerThread implements Executor {
  readonly #module: URL
  readonly #data: unknown
  readonly #onRestart: (cause: string) => void
  readonly #waiting: Task[] = []
  #running: Task | undefined
  #hangTimer: NodeJS.Timeout | undefined
  #worker: Worker | undefined
  #lastId = 0
  #lastGroup: string | undefined

  /** Runs a module with its workerData; `onRestart` is called with the cause when a worker has died. */
  constructor(module: URL, data: unknown, onRestart: (cause: string) => void) {
    this.#module = module
    this.#data = data
    this.#onRestart = onRestart
  }

  run<T>(message: unknown, options: TaskOptions = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      const deadline = performance.now() + (options.timeoutMs ?? Number.POSITIVE_INFINITY)
      this.#waiting.push({ ...options, id: ++this.#lastId, message, deadline, resolve, reject })
      this.#next()
    })
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #next(): void {
    const task = this.#running ? undefined : this.#take()
    if (!task) return
    this.#running = task
    this.#lastGroup = task.group
    this.#worker ??= this.#start()
    const worker = this.#worker
    const timeLeftMs = task.deadline - performance.now()
    // A worker ends a task by itself at its deadline; one that does not hangs.
    const hang = () => this.#replace(worker, 'it did not end a task in time')
    if (Number.isFinite(timeLeftMs)) this.#hangTimer = setTimeout(hang, timeLeftMs + grace)
    worker.postMessage({ id: task.id, message: task.message, timeLeftMs } satisfies Request)
  }

  /** Takes the next task that someone still waits for, of another group than the last one if possible. */
  #take(): Task | undefined {
    while (this.#waiting.length > 0) {
      const other = this.#waiting.findIndex(({ group }) => group !== this.#lastGroup)
      const [task] = this.#waiting.splice(Math.max(0, other), 1) as [Task]
      if (task.deadline > performance.now() && !task.isAbandoned?.()) return task
      task.reject(new TimedOut('nobody waits for the task any more'))
    }
    return undefined
  }

  #start(): Worker {
    const worker = new Worker(this.#module, { workerData: this.#data, resourceLimits })
    worker.unref()
    worker.on('message', ({ id, result, error }: Reply) => {
      // The reply of a worker that was replaced meanwhile belongs to a task that has already failed.
      if (id !== this.#running?.id) return
      if (error) this.#running.reject(Object.assign(new Error(error.message), error))
      else this.#running.resolve(result as never)
      this.#finish()
    })
    worker.on('error', (error) => this.#replace(worker, error.message))
    worker.on('exit', (code) => this.#replace(worker, `it exited with code ${code}`))
    return worker
  }

  /** Gives up a worker that died or hangs; the tasks that wait go to its successor. */
  #replace(worker: Worker, cause: string): void {
    if (worker !== this.#worker) return
    this.#worker = undefined
    void worker.terminate()
    if (this.#running) this.#onRestart(cause)
    this.#running?.reject(new WorkerDied(`a worker thread was replaced: ${cause}`))
    this.#finish()
  }

  #finish(): void {
    clearTimeout(this.#hangTimer)
    this.#running = undefined
    this.#next()
  }
}
