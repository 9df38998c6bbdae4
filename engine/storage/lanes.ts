/** Threads for the questions whose cost grows with the table, so that one slow question never stalls the rest. */
import { Worker } from 'node:worker_threads'
import { Unavailable } from './storage.js'

export interface Asked {
  readonly sql: string
  readonly values: readonly unknown[]
}

type Answered = { readonly row: readonly unknown[] } | { readonly error: string }

interface Waiting {
  readonly resolve: (row: readonly unknown[]) => void
  readonly reject: (error: Error) => void
}

/** A thread with a connection of its own that answers one question after another. */
class Lane {
  readonly #worker: Worker
  readonly #waiting: Waiting[] = []

  constructor(path: string) {
    this.#worker = new Worker(new URL('./lane.js', import.meta.url), { workerData: path })
    this.#worker.unref()
    this.#worker.on('message', (answered: Answered) => {
      const asker = this.#waiting.shift()
      if ('row' in answered) asker?.resolve(answered.row)
      else asker?.reject(new Unavailable(answered.error))
    })
    this.#worker.on('error', (error: Error) => {
      for (const asker of this.#waiting.splice(0)) asker.reject(new Unavailable(error.message))
    })
  }

  ask(asked: Asked): Promise<readonly unknown[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#worker.postMessage(asked)
    })
  }

  close(): Promise<unknown> {
    return this.#worker.terminate()
  }
}

/** One lane for questions that an index answers and one for scans, each opened when it is first needed. */
export class Lanes {
  readonly #path: string
  readonly #lanes = new Map<'indexed' | 'scans', Lane>()

  constructor(path: string) {
    this.#path = path
  }

  ask(which: 'indexed' | 'scans', asked: Asked): Promise<readonly unknown[]> {
    const lane = this.#lanes.get(which) ?? new Lane(this.#path)
    this.#lanes.set(which, lane)
    return lane.ask(asked)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#lanes.values()].map((lane) => lane.close()))
  }
}
