/** Commits that are shared: whatever waits to be written when a commit begins becomes durable with it, in one sync. */
import type { Database } from 'better-sqlite3'
import { Unavailable } from './storage.js'

interface Job {
  readonly run: () => unknown
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** How long writes wait for another process to finish its own, and how often they look. */
const patience = 5_000
const pause = 3

const isBusy = (error: unknown): boolean => String((error as { code?: string }).code).startsWith('SQLITE_BUSY')

/** Makes the queue of a connection's writes; `wrote` is told of every commit. */
export const sharedCommits = (database: Database, wrote: () => void): (<T>(run: () => T) => Promise<T>) => {
  let waiting: Job[] = []
  let since = 0

  /** Within the transaction each job is a savepoint, so one that fails takes nothing with it but itself. */
  const each = database.transaction((job: Job) => job.run())
  const together = database.transaction((jobs: readonly Job[]) =>
    jobs.map((job) => {
      try {
        const value = each(job) as never
        return () => job.resolve(value)
      } catch (error) {
        if (!database.inTransaction) throw error
        return () => job.reject(error)
      }
    }),
  )

  const flush = (): void => {
    const jobs = waiting
    let settle: (() => void)[]
    try {
      // Waiting inside SQLite would hold up every reader of this process, so a busy database is asked again later.
      database.pragma('busy_timeout = 0')
      settle = together.immediate(jobs)
      wrote()
    } catch (error) {
      if (isBusy(error) && performance.now() - since < patience) {
        setTimeout(flush, pause)
        return
      }
      const { code, message } = error as { code?: string; message: string }
      const failure = code?.startsWith('SQLITE_') ? new Unavailable(message, { cause: error }) : error
      settle = jobs.map((job) => () => job.reject(failure))
    } finally {
      if (database.open) database.pragma('busy_timeout = 500')
    }
    waiting = waiting.slice(jobs.length)
    if (waiting.length > 0) begin()
    for (const tell of settle) tell()
  }
  /** After the requests that have arrived by now were read: they may bring writes of their own. */
  const begin = (): void => {
    since = performance.now()
    setImmediate(flush)
  }

  return (run) =>
    new Promise((resolve, reject) => {
      waiting.push({ run, resolve, reject })
      if (waiting.length === 1) begin()
    })
}
