/** Opens connections to the file, in any thread, and sets them up for durability. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'

/** The page cache of each connection, in kilobytes; the operating system caches the rest of the file once for all. */
const cacheKilobytes = 4_000

/** Opens for reading and writing; the timeout is how long SQLite waits for another writer, in milliseconds. */
export const connect = (path: string, timeout: number): Database.Database => {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true })
  return configure(new Database(path, { timeout }))
}

/** The same for a file that must exist: in the place of one that was moved away, SQLite would create an empty file. */
export const connectAgain = (path: string, timeout: number): Database.Database =>
  configure(new Database(path, { timeout, fileMustExist: true }))

const configure = (database: Database.Database): Database.Database => {
  database.pragma('journal_mode = WAL')
  // After the journal mode, and on every connection: better-sqlite3's build defaults to NORMAL in WAL mode.
  database.pragma('synchronous = FULL')
  database.pragma('foreign_keys = ON')
  database.pragma('trusted_schema = OFF')
  database.pragma(`cache_size = -${cacheKilobytes}`)
  return database
}

/** Opens for reading only. */
export const connectToRead = (path: string): Database.Database => {
  const database = new Database(path, { readonly: true, timeout: 500 })
  database.pragma(`cache_size = -${cacheKilobytes}`)
  return database
}
