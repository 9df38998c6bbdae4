/** Knows whether anything was committed since it last looked, by this process or another. */
import type { Database } from 'better-sqlite3'

export interface Changes {
  /** A number that stays the same for as long as nothing is committed: all that was read before then still holds. */
  seen(): number
  /** To be told of a commit of this process: what comes after it must look again. */
  committed(): void
}

/** Watches the database of a connection. */
export const changesOf = (database: Database): Changes => {
  // SQLite changes this number when another connection has committed; a commit of this very one we are told of.
  const version = database.prepare('pragma data_version').pluck()
  let last: unknown
  let seen = 0
  let isFresh = false
  const forget = () => {
    isFresh = false
  }
  return {
    seen() {
      // One look serves all requests that are answered in one turn of the event loop: each of them had arrived before.
      if (isFresh) return seen
      isFresh = true
      setImmediate(forget)
      const now = version.get()
      if (now !== last) seen++
      last = now
      return seen
    },
    committed() {
      seen++
      isFresh = false
    },
  }
}
