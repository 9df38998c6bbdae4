/** Runs in a thread: the writes, so that no reader waits for a disk. What arrives during one commit shares the next. */
import { parentPort, workerData } from 'node:worker_threads'
import { connectAgain } from './connection.js'
import { identityOf } from './file.js'
import { closing } from './thread.js'
import { tidier } from './tidying.js'
import { type Write, type Written, writer } from './writes.js'

/** How long writes wait for another process to finish its own, and how often they look. */
const patience = 5_000
const pause = 3

/** After this long without a write there is time to tidy up. */
const idle = 1_000

const path = workerData as string
const database = connectAgain(path, 0)
// What a savepoint may have to take back would else go through a temporary file, for every create of a commit.
database.pragma('temp_store = MEMORY')
const identity = identityOf(path)
const write = writer(database)
const tidy = tidier(database)
let waiting: Write[][] = []
let since = 0
let tidying: NodeJS.Timeout | undefined

const isBusy = (error: unknown): boolean => String((error as { code?: string }).code).startsWith('SQLITE_BUSY')

const tidyUp = (): void => {
  try {
    tidying = setTimeout(tidyUp, tidy() ? 0 : idle)
  } catch {
    // Another process is writing, or nobody can; whoever must write will be told.
    tidying = setTimeout(tidyUp, idle)
  }
}

const commit = (): void => {
  let written: Written[]
  try {
    written = write(waiting.flat())
    // What was written to a file that nobody will find again is not stored.
    if (identityOf(path) !== identity) throw new Error('the database file is not where it was')
  } catch (error) {
    if (isBusy(error) && performance.now() - since < patience) return void setTimeout(commit, pause)
    written = waiting.flat().map(() => ({ error: (error as Error).message }))
  }
  // Each message is owed one answer, with as many results as it brought writes.
  for (const { length } of waiting) parentPort?.postMessage({ value: written.splice(0, length) })
  waiting = []
  tidying = setTimeout(tidyUp, idle)
}

parentPort?.on('message', (writes: Write[] | typeof closing) => {
  clearTimeout(tidying)
  if (writes === closing) {
    database.close()
    // Ends the thread, whatever it has planned.
    process.exit()
  }
  waiting.push(writes)
  if (waiting.length > 1) return
  since = performance.now()
  setImmediate(commit)
})
