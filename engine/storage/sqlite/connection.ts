/** How a connection to the file is opened, in whichever thread: set for durability before anything else. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { fold } from '../fold.js'

/** Each connection keeps so many kilobytes of pages; the system keeps the rest of the file, once for all of them. */
const cacheKilobytes = 4_000

/** Opens for reading and writing; the timeout is how long SQLite itself waits for another writer, in milliseconds. */
export const connect = (path: string, timeout: number): Database.Database => {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true })
  return set(new Database(path, { timeout }))
}

/** The same for a file that was there a moment ago: were it gone, a new one would be made and lose what is written to it. */
export const connectAgain = (path: string, timeout: number): Database.Database =>
  set(new Database(path, { timeout, fileMustExist: true }))

/** Holds a text against a folded one, for what SQLite's own patterns cannot tell: used by questions alone, never in the schema. */
const addContains = (database: Database.Database): Database.Database =>
  database.function('registry_contains', { deterministic: true }, (text: unknown, folded: unknown) =>
    fold(String(text)).includes(String(folded)) ? 1 : 0,
  )

const set = (database: Database.Database): Database.Database => {
  database.pragma('journal_mode = WAL')
  // After the journal mode, and on every connection: better-sqlite3's build would settle for NORMAL in WAL.
  database.pragma('synchronous = FULL')
  database.pragma('foreign_keys = ON')
  database.pragma('trusted_schema = OFF')
  database.pragma(`cache_size = -${cacheKilobytes}`)
  return addContains(database)
}

/** Opens for reading alone. */
export const connectToRead = (path: string): Database.Database => {
  const database = new Database(path, { readonly: true, timeout: 500 })
  database.pragma(`cache_size = -${cacheKilobytes}`)
  return addContains(database)
}
