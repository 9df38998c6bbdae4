/** Opens connections to the file, in any thread, and sets them up for durability. */
import type BetterSqlite3 from 'better-sqlite3'
import { Database } from './driver.js'
import { addNumberFunction } from './numberText.js'

/** The page cache of each connection, in kilobytes; the operating system caches the rest of the file once for all. */
const cacheKilobytes = 4_000

/**
 * The timeout is how long SQLite waits for another connection's lock, in milliseconds. The journal of a file that belongs to other programs
 * stays as it is.
 */
export const connect = (
  path: string,
  options: BetterSqlite3.Options & { timeout: number },
  isUnmanaged = false,
): BetterSqlite3.Database => {
  const database = new Database(path, { fileMustExist: isUnmanaged, ...options })
  if (!isUnmanaged) database.pragma('journal_mode = WAL')
  // After the journal mode, and on every connection: better-sqlite3's build defaults to NORMAL in WAL mode.
  database.pragma('synchronous = FULL')
  database.pragma('foreign_keys = ON')
  database.pragma('trusted_schema = OFF')
  database.pragma(`cache_size = -${cacheKilobytes}`)
  addNumberFunction(database)
  return database
}
