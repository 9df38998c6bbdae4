/** Which requests were made under which key: kept beside the rows, in the same commit, so that neither is there alone. */
import type { Database } from 'better-sqlite3'
import type { Retry } from '../storage.js'

const keysTable = 'registry_keys'

/** How long a request can be sent again, in milliseconds. */
const kept = 24 * 60 * 60 * 1000

/** What was stored for a key. */
export type Replay =
  | { readonly id: number; readonly body: Uint8Array; readonly replayed: true }
  | { readonly mismatch: true }

/** Makes the table of the keys. */
export const ensureKeys = (database: Database): void => {
  database.exec(
    `create table if not exists ${keysTable} (key text primary key, digest text not null, id integer not null, body blob not null, at integer not null);
     create index if not exists ${keysTable}_at on ${keysTable} (at)`,
  )
}

/** Makes the functions that remember keys on a connection. */
export const keysOf = (database: Database) => {
  const find = database.prepare(`select digest, id, body from ${keysTable} where key = ? and at > ?`).raw()
  const keep = database.prepare(
    `insert or replace into ${keysTable} (key, digest, id, body, at) values (?, ?, ?, ?, ?)`,
  )
  const prune = database.prepare(`delete from ${keysTable} where at <= ?`)
  return {
    /** The answer of the request that had this key. */
    replay({ key, digest }: Retry): Replay | undefined {
      const found = find.get(key, Date.now() - kept) as [string, number, Buffer] | undefined
      if (!found) return undefined
      const [before, id, body] = found
      return before === digest ? { id, body, replayed: true } : { mismatch: true }
    },
    /** Remembers an answer, and forgets those that are too old to be asked for. */
    remember({ key, digest }: Retry, id: number, body: Uint8Array): void {
      prune.run(Date.now() - kept)
      keep.run(key, digest, id, body, Date.now())
    },
  }
}
