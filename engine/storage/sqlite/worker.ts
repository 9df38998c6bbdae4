/** A worker thread that runs one task at a time. A worker that dies, or does not meet a task's deadline, is replaced. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { TimedOut, Unavailable } from '../storage.js'

/** What the worker is sent, and what it sends back under the same id. */
export interface Request {
  readonly id: number
  readonly message: unknown
  /** The time that is left for the task, in milliseconds. */
  readonly timeLeftMs: number
}
export type Reply = { readonly id: number } & ({ readonly result: unknown } | { readonly error: Failure })

/** An error as it crosses threads. */
export interface Failure {
  readonly name: string
  readonly message: string
  readonly code: string | undefined
}

/** The message that lets a worker close its connection and end. */
export const closeMessage = 'close'

export interface TaskOptions {
  /** How long the task may take, waiting included, in milliseconds. */
  readonly timeoutMs?: number
  /** Tasks of different groups take turns, so that many of one group do not hold up another. */
  readonly group?: string
  /** Whether nobody waits for the result any more. */
  readonly isAbandoned?: () => boolean
}

interface Task extends TaskOptions {
  readonly id: number
  readonly message: unknown
  readonly deadline: number
  timer: NodeJS.Timeout | undefined
  readonly resolve: (result: never) => void
  readonly reject: (error: Error) => void
}

/** How long after its deadline a task may still end by itself, in milliseconds. */
const grace = 1_000

/** A worker passes bytes on and keeps nothing, so it needs little memory; by default V8 takes far more. */
const resourceLimits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 }

export class WorkerThread {
  readonly #module: URL
  readonly #data: unknown
  readonly #onRestart: (cause: string) => void
  readonly #queue: Task[] = []
  #running: Task | undefined
  #worker: Worker | undefined
  #lastId = 0
  #lastGroup: string | undefined

  /** Runs a module with its workerData; `onRestart` is called with the cause when a worker has died. */
  constructor(module: URL, data: unknown, onRestart: (cause: string) => void) {
    this.#module = module
    this.#data = data
    this.#onRestart = onRestart
  }

  /** Runs a task when its turn comes; rejects if it does not end in time. */
  run<T>(message: unknown, options: TaskOptions = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      const { timeoutMs = Number.POSITIVE_INFINITY } = options
      const deadline = performance.now() + timeoutMs
      const timer = Number.isFinite(timeoutMs) ? setTimeout(() => this.#expire(id), timeoutMs) : undefined
      this.#queue.push({ ...options, id, message, deadline, timer, resolve, reject })
      this.#next()
    })
  }

  /** Ends the worker: after its current task, or at once. */
  async close({ wait }: { wait: boolean }): Promise<void> {
    const worker = this.#worker
    if (!worker) return
    if (!wait) return void worker.terminate()
    worker.ref()
    const ended = once(worker, 'exit')
    worker.postMessage(closeMessage)
    await ended
  }

  /** Takes the next task that someone still waits for, of another group than the last one if possible. */
  #take(): Task | undefined {
    while (this.#queue.length > 0) {
      const other = this.#queue.findIndex(({ group }) => group !== this.#lastGroup)
      const [task] = this.#queue.splice(Math.max(0, other), 1) as [Task]
      clearTimeout(task.timer)
      if (task.deadline > performance.now() && !task.isAbandoned?.()) return task
      task.reject(new TimedOut('nobody waits for the task any more'))
    }
    return undefined
  }

  #next(): void {
    if (this.#running) return
    const task = this.#take()
    if (!task) return
    this.#running = task
    this.#lastGroup = task.group
    const timeLeftMs = task.deadline - performance.now()
    // A worker ends a task by itself at its deadline; one that does not hangs.
    const hang = () => this.#replace(this.#worker, 'it did not end a task in time')
    task.timer = Number.isFinite(timeLeftMs) ? setTimeout(hang, timeLeftMs + grace) : undefined
    this.#worker ??= this.#start()
    this.#worker.postMessage({ id: task.id, message: task.message, timeLeftMs } satisfies Request)
  }

  /** Rejects a task that waits. */
  #expire(id: number): void {
    const index = this.#queue.findIndex((task) => task.id === id)
    if (index === -1) return
    const [task] = this.#queue.splice(index, 1)
    task?.reject(new TimedOut('the task waited too long for its turn'))
  }

  #settle(end: (task: Task) => void): void {
    const task = this.#running
    this.#running = undefined
    clearTimeout(task?.timer)
    if (task) end(task)
    this.#next()
  }

  #start(): Worker {
    const worker = new Worker(this.#module, { workerData: this.#data, resourceLimits })
    worker.unref()
    worker.on('message', (reply: Reply) => {
      // A reply that was on its way when its worker was replaced belongs to a task that has already failed.
      if (worker !== this.#worker || reply.id !== this.#running?.id) return
      this.#settle((task) => {
        if ('result' in reply) task.resolve(reply.result as never)
        else task.reject(Object.assign(new Error(reply.error.message), reply.error))
      })
    })
    worker.on('error', (error) => this.#replace(worker, error.message))
    worker.on('exit', (code) => this.#replace(worker, `it exited with code ${code}`))
    return worker
  }

  /** Gives up a worker that died or hangs; the tasks that wait go to its successor. */
  #replace(worker: Worker | undefined, cause: string): void {
    if (!worker || worker !== this.#worker) return
    this.#worker = undefined
    void worker.terminate()
    if (this.#running) this.#onRestart(cause)
    this.#settle((task) => task.reject(new WorkerDied(`a worker thread was replaced: ${cause}`)))
  }
}

/** The worker died while it ran the task, so whether the task was carried out is unknown. */
export class WorkerDied extends Unavailable {}
