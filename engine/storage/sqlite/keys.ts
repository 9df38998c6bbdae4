/** Idempotency keys on SQLite, stored in the same commit as their rows. */
import type { Database } from 'better-sqlite3'
import { keysTable } from '../schema.js'
import type { Retry } from '../storage.js'

/** How long a key is valid, in milliseconds. */
const lifetime = 24 * 60 * 60 * 1000

/** The result of an earlier request with the same key. */
export type Replay =
  | { readonly id: number; readonly body: Uint8Array; readonly replayed: true }
  | { readonly mismatch: true }

/** Finds and stores keys on a connection. */
export const keysOf = (database: Database) => {
  const find = database.prepare(`select digest, id, body from ${keysTable} where key = ? and at > ?`).raw()
  const store = database.prepare(
    `insert or replace into ${keysTable} (key, digest, id, body, at) values (?, ?, ?, ?, ?)`,
  )
  const prune = database.prepare(`delete from ${keysTable} where at <= ?`)
  return {
    /** The result of the request that had this key, if any. */
    replay({ key, digest }: Retry): Replay | undefined {
      const found = find.get(key, Date.now() - lifetime) as [string, number, Buffer] | undefined
      if (!found) return undefined
      const [before, id, body] = found
      return before === digest ? { id, body, replayed: true } : { mismatch: true }
    },
    /** Stores a result and deletes those that have expired. */
    remember({ key, digest }: Retry, id: number, body: Uint8Array): void {
      prune.run(Date.now() - lifetime)
      store.run(key, digest, id, body, Date.now())
    },
  }
}
