/** Knows whether anything was committed since it last looked, by this process or another. */
import type { Database } from 'better-sqlite3'

/** Counts the changes that were seen: while it returns the same number, all that was read before still holds. */
export const changesOf = (database: Database): { seen: () => number; wrote: () => void } => {
  // SQLite changes this number when another connection has committed; for this connection's own writes we are told.
  const version = database.prepare('pragma data_version').pluck()
  let last: unknown
  let seen = 0
  let isFresh = false
  const forget = () => {
    isFresh = false
  }
  return {
    seen() {
      // One look serves every request of one turn of the event loop: each of them arrived before the turn began.
      if (isFresh) return seen
      isFresh = true
      setImmediate(forget)
      const now = version.get()
      if (now !== last) seen++
      last = now
      return seen
    },
    wrote() {
      seen++
    },
  }
}
