/** Counts commits to the database, by this process or another. */
import type { Database } from 'better-sqlite3'

export interface CommitCounter {
  /** Stays the same until something is committed: what was read before then still holds. */
  count(): number
  /** To be called after a commit of this process. */
  committed(): void
}

export const commitCounter = (database: Database): CommitCounter => {
  // SQLite changes this number when another connection has committed.
  const dataVersion = database.prepare('pragma data_version').pluck()
  let last: unknown
  let count = 0
  let isFresh = false
  const expire = () => {
    isFresh = false
  }
  return {
    count() {
      // One check serves all requests of a tick: each of them arrived before it.
      if (isFresh) return count
      isFresh = true
      setImmediate(expire)
      const now = dataVersion.get()
      if (now !== last) count++
      last = now
      return count
    },
    committed() {
      count++
      isFresh = false
    },
  }
}
