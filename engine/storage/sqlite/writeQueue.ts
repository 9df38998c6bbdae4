/** Queues writes: all that arrive during one commit share the next. */
import { batchPerTick } from '../../process/batchPerTick.js'
import { OutcomeUnknown } from '../failures.js'
import { type Executor, WorkerDied } from './worker.js'
import type { QueuedWrite, Written } from './writes.js'

interface Pending {
  readonly write: QueuedWrite
  readonly since: number
  readonly resolve: (written: Promise<Written>) => void
}

/** The most characters of text in one commit; a worker has little memory. */
const maxCommitLength = 4 * 1024 * 1024

/** A write with more text than this is long: the search index of a megabyte takes 0.2 to 1 s. */
const longWrite = 64 * 1024

const textLength = (write: QueuedWrite): number => {
  const parts = write.kind === 'import' ? write.groups : write.kind === 'batch' ? write.writes : [write]
  const changes = parts.map(({ change }) => change)
  const values = changes.flatMap((change) => Object.values(change.values))
  return values.reduce((sum: number, value) => sum + (typeof value === 'string' ? value.length : 8), 0)
}

/** The writer starts after this many milliseconds even without a write: a thread that starts later may find its file moved. */
const startDelay = 1_000

export const writeQueue = (writer: Executor, onCommit: () => void) => {
  let pending: Pending[] = []
  let committing: Promise<void> | undefined

  /** As many of the pending writes as one commit takes, one long one among them: short writes wait for no second one. */
  const nextBatch = (): Pending[] => {
    let length = 0
    let hasLong = false
    const batch: Pending[] = []
    const later: Pending[] = []
    for (const item of pending) {
      const added = textLength(item.write)
      const isLong = added > longWrite
      if (batch.length > 0 && (length + added > maxCommitLength || (isLong && hasLong))) later.push(item)
      else {
        batch.push(item)
        length += added
        hasLong ||= isLong
      }
    }
    pending = later
    return batch
  }
  const run = (writes: readonly QueuedWrite[]): Promise<Written[]> =>
    writer.run<Written[]>(writes).catch((error: Error) => {
      // The worker may have committed before it died.
      throw error instanceof WorkerDied ? new OutcomeUnknown(error.message, { cause: error }) : error
    })
  const commitAll = async (): Promise<void> => {
    while (pending.length > 0) {
      const batch = nextBatch()
      const now = performance.now()
      const commit = run(batch.map(({ write, since }) => ({ ...write, waitedMs: now - since }))).finally(onCommit)
      for (const [index, { resolve }] of batch.entries()) resolve(commit.then((written) => written[index] as Written))
      await commit.catch(() => {})
    }
    committing = undefined
  }
  const add = batchPerTick<Pending>((items) => {
    pending.push(...items)
    committing ??= commitAll()
  })
  const starting = setTimeout(() => void run([]).catch(() => {}), startDelay)
  starting.unref()
  return {
    write: (write: QueuedWrite) => new Promise<Written>((resolve) => add({ write, since: performance.now(), resolve })),
    async close(): Promise<void> {
      clearTimeout(starting)
      await committing
      await writer.close()
    },
  }
}

export type WriteQueue = ReturnType<typeof writeQueue>
