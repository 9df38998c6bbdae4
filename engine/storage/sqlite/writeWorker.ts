/** Worker thread for writes, so that no reader waits for the disk. */
import { setTimeout as sleep } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { connect } from './connection.js'
import { type OpenedFile, refuseMoved } from './file.js'
import { serveTasks } from './worker.js'
import { type BoundWrite, type Written, writer } from './writes.js'

/**
 * How long a write waits for another process's transaction, the commits before its own included, and how often it tries, in milliseconds. SQLite itself would wait
 * up to 100 ms between tries: with four writing processes, the slowest commit then takes 700 ms instead of 100.
 */
const lockTimeout = 5_000
const lockRetry = 3

const file = workerData as OpenedFile
// Otherwise SQLite would create an empty file where one was moved away.
const database = connect(file.path, { timeout: 0, fileMustExist: true }, file.isForeign)
// Savepoints would otherwise write to a temporary file for every create of a commit.
database.pragma('temp_store = MEMORY')
const write = writer(database, () => refuseMoved(file))

const isBusy = (error: unknown): boolean => String((error as { code?: string }).code).startsWith('SQLITE_BUSY')

const commit = async (writes: readonly BoundWrite[]): Promise<Written[]> => {
  const since = performance.now() - Math.max(0, ...writes.map(({ waitedMs = 0 }) => waitedMs))
  for (;;) {
    try {
      return write(writes)
    } catch (error) {
      if (!isBusy(error) || performance.now() - since > lockTimeout) throw error
      await sleep(lockRetry)
    }
  }
}

serveTasks(commit)
