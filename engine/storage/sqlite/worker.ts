/** A worker thread: one for writes, so that no reader waits for the disk, and others for reads whose cost grows with the table. */
import { setTimeout as sleep } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { connect, type OpenedFile, refuseMoved } from './connection.js'
import { reader } from './reader.js'
import { serveTasks } from './thread.js'
import { isBusy, lockRetry, serveTransaction, type TransactionTask } from './transactionTask.js'
import { type QueuedWrite, type Writer, type Written, writer } from './writes.js'

export interface WorkerData {
  readonly file: OpenedFile
  /**
   * Of the thread that writes, how long a write waits for another process's transaction, the commits before its own included, in
   * milliseconds.
   */
  readonly writeTimeoutMs?: number
}

/** How long a read waits for another process's lock, in milliseconds. */
const readLockTimeout = 500

/** Makes the function that makes writes in one commit. One that has waited too long for it fails, and the others go on waiting. */
const committer =
  ({ makeAll }: Writer, timeoutMs: number) =>
  async (writes: readonly QueuedWrite[]): Promise<Written[]> => {
    const since = performance.now()
    const written: Written[] = []
    let waiting = [...writes.entries()]
    while (waiting.length > 0) {
      try {
        const outcomes = makeAll(waiting.map(([, one]) => one))
        for (const [n, [index]] of waiting.entries()) written[index] = outcomes[n] as Written
        break
      } catch (error) {
        if (!isBusy(error)) throw error
        const { message, code } = error as Error & { code?: string }
        const isLate = ({ waitedMs = 0 }: QueuedWrite) => waitedMs + performance.now() - since > timeoutMs
        for (const [index, one] of waiting) if (isLate(one)) written[index] = { error: { message, code } }
        waiting = waiting.filter(([index]) => !written[index])
        await sleep(lockRetry)
      }
    }
    return written
  }

const { file, writeTimeoutMs } = workerData as WorkerData
const options = writeTimeoutMs === undefined ? { timeout: readLockTimeout, readonly: true } : { timeout: 0 }
// Otherwise SQLite would create an empty file where one was moved away.
const database = connect(file.path, { ...options, fileMustExist: true }, file)
if (writeTimeoutMs === undefined) {
  refuseMoved(file)
  serveTasks(reader(database))
} else {
  // Savepoints would otherwise write to a temporary file for every create of a commit.
  database.pragma('temp_store = MEMORY')
  const writes = writer(database, () => refuseMoved(file))
  const commit = committer(writes, writeTimeoutMs)
  const transact = serveTransaction(database, writes)
  serveTasks((task: readonly QueuedWrite[] | TransactionTask) => ('port' in task ? transact(task) : commit(task)))
}
