/** Queues creates: all that arrive during one commit share the next. */
import type { Database } from 'better-sqlite3'
import { batchPerTick } from '../../batchPerTick.js'
import { writeError } from './errors.js'
import { WorkerThread } from './worker.js'
import { type Write, type Written, writer } from './writes.js'

export interface WriteQueue {
  write(write: Write): Promise<Written>
  close(): Promise<void>
}

interface Pending {
  readonly write: Write
  readonly resolve: (written: Written) => void
  readonly reject: (error: Error) => void
}

/** The most characters of text in one commit; a worker has little memory. */
const maxCommitLength = 4 * 1024 * 1024

const lengthOf = ({ insert }: Write): number =>
  insert.values.reduce((sum: number, value) => sum + (typeof value === 'string' ? value.length : 8), 0)

/** The writer starts after this many milliseconds even without a create, because it also merges the search indexes. */
const startDelay = 1_000

/** Writes in a worker thread. */
export const workerWrites = (path: string, onCommit: () => void, onRestart: (cause: string) => void): WriteQueue => {
  const worker = new WorkerThread(new URL('./writeWorker.js', import.meta.url), path, onRestart)
  const starting = setTimeout(() => void worker.run([]).catch(() => {}), startDelay)
  starting.unref()
  const pending: Pending[] = []
  let isCommitting = false

  /** As many of the pending writes as one commit takes. */
  const nextBatch = (): Pending[] => {
    let length = 0
    const end = pending.findIndex(({ write }, index) => {
      length += lengthOf(write)
      return index > 0 && length > maxCommitLength
    })
    return pending.splice(0, end === -1 ? pending.length : end)
  }
  const commit = async (): Promise<void> => {
    if (isCommitting) return
    isCommitting = true
    while (pending.length > 0) {
      const batch = nextBatch()
      try {
        const written = await worker.run<Written[]>(batch.map(({ write }) => write))
        onCommit()
        for (const [index, { resolve }] of batch.entries()) resolve(written[index] as Written)
      } catch (error) {
        onCommit()
        for (const { reject } of batch) reject(writeError(error as Error))
      }
    }
    isCommitting = false
  }
  const add = batchPerTick<Pending>((items) => {
    pending.push(...items)
    void commit()
  })
  return {
    write: (write) => new Promise((resolve, reject) => add({ write, resolve, reject })),
    close() {
      clearTimeout(starting)
      return worker.close({ wait: true })
    },
  }
}

/** Writes in place, for a database in memory. */
export const localWrites = (database: Database, onCommit: () => void): WriteQueue => {
  const run = writer(database, () => {})
  return {
    async write(write) {
      const [written] = run([write])
      onCommit()
      return written as Written
    },
    close: async () => {},
  }
}
