/** Worker thread for writes, so that no reader waits for the disk. */
import { setTimeout as sleep } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { connect } from './connection.js'
import { fileGuard } from './file.js'
import { segmentMerger } from './mergeSegments.js'
import { serveTasks } from './worker.js'
import { type BoundWrite, type Written, writer } from './writes.js'

/**
 * How long a write waits for another process's transaction, the commits before its own included, and how often it tries, in milliseconds. SQLite itself would wait
 * up to 100 ms between tries: with four writing processes, the slowest commit then takes 700 ms instead of 100.
 */
const lockTimeout = 5_000
const lockRetry = 3

/** After this long without a write, in milliseconds, the search indexes are merged. */
const idle = 1_000

const path = workerData as string
// Otherwise SQLite would create an empty file where one was moved away.
const database = connect(path, { timeout: 0, fileMustExist: true })
// Savepoints would otherwise write to a temporary file for every create of a commit.
database.pragma('temp_store = MEMORY')
const write = writer(database, fileGuard(path))
const mergeStep = segmentMerger(database)
let merging: NodeJS.Timeout | undefined

const isBusy = (error: unknown): boolean => String((error as { code?: string }).code).startsWith('SQLITE_BUSY')

const mergeAfter = (milliseconds: number): void => {
  clearTimeout(merging)
  merging = setTimeout(merge, milliseconds)
}

const merge = (): void => {
  try {
    mergeAfter(mergeStep() ? 0 : idle)
  } catch {
    // Another process is writing, or the disk fails; the next create reports it.
    mergeAfter(idle)
  }
}

const commit = async (writes: readonly BoundWrite[]): Promise<Written[]> => {
  const since = performance.now() - Math.max(0, ...writes.map(({ waitedMs = 0 }) => waitedMs))
  for (;;) {
    try {
      return write(writes)
    } catch (error) {
      if (!isBusy(error) || performance.now() - since > lockTimeout) throw error
      await sleep(lockRetry)
    } finally {
      mergeAfter(idle)
    }
  }
}

serveTasks(commit)
