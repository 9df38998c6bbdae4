/** Counts commits to the database, by this process or another. */
import type { Database } from 'better-sqlite3'
import { oncePerTick } from '../../process/batchPerTick.js'

export interface CommitCounter {
  /** Stays the same until something is committed: what was read before then still holds. */
  count(): number
  /** To be called after a commit of this process. */
  committed(): void
}

export const commitCounter = (database: Database): CommitCounter => {
  // SQLite changes this number when another connection has committed.
  const dataVersion = database.prepare('pragma data_version').pluck()
  // One check serves all requests of a tick: each of them arrived before it.
  const isFirstLook = oncePerTick()
  let last: unknown
  let count = 0
  return {
    count() {
      if (!isFirstLook()) return count
      const now = dataVersion.get()
      if (now !== last) count++
      last = now
      return count
    },
    committed() {
      count++
    },
  }
}
