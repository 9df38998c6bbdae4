/** A thread that answers one message with one answer, in their order; started when it is first asked, and again if it dies. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { Unavailable } from '../storage.js'

/** The message that ends a thread. */
export const closing = 'close'

type Answered = { readonly value: unknown } | { readonly error: string }

interface Waiting {
  readonly resolve: (value: never) => void
  readonly reject: (error: Error) => void
}

/** A thread passes bytes on and keeps nothing, so it needs little; unbidden, V8 would take far more. */
const resourceLimits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 }

export class Thread {
  readonly #module: URL
  readonly #path: string
  readonly #waiting: Waiting[] = []
  #worker: Worker | undefined

  /** Runs a module of this folder, which is given the path of the database. */
  constructor(module: string, path: string) {
    this.#module = new URL(`./${module}.js`, import.meta.url)
    this.#path = path
  }

  ask<T>(message: unknown): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#worker ??= this.#start()
      this.#worker.postMessage(message)
    })
  }

  /** Lets it finish what it is doing and close its connection. */
  async close(): Promise<void> {
    const worker = this.#worker
    if (!worker) return
    worker.ref()
    const ended = once(worker, 'exit')
    worker.postMessage(closing)
    await ended
  }

  #start(): Worker {
    const worker = new Worker(this.#module, { workerData: this.#path, resourceLimits })
    worker.unref()
    worker.on('message', (answered: Answered) => {
      const asker = this.#waiting.shift()
      if ('value' in answered) asker?.resolve(answered.value as never)
      else asker?.reject(new Unavailable(answered.error))
    })
    const fail = (error?: Error) => {
      this.#worker = undefined
      for (const asker of this.#waiting.splice(0)) asker.reject(new Unavailable(error?.message ?? 'a thread has ended'))
    }
    worker.on('error', fail)
    worker.on('exit', () => fail())
    return worker
  }
}
