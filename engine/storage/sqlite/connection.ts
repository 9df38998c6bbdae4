/** Opens connections to the file, in any thread, sets them up for durability, and notices that the file is no longer at its path. */
import { statSync } from 'node:fs'
import type BetterSqlite3 from 'better-sqlite3'
import { managedResources, type Registry } from '../../descriptor/registry.js'
import { Database } from './driver.js'

/** Identifies the file at a path; undefined if there is none. */
export const fileIdentity = (path: string): string | undefined => {
  const file = statSync(path, { throwIfNoEntry: false, bigint: true })
  return file && `${file.dev}:${file.ino}`
}

export interface OpenedFile {
  readonly path: string
  readonly identity: string | undefined
  /** Whether the whole file belongs to other programs, so that even its journal stays as it is. */
  readonly isUnmanaged: boolean
  /** Whether what is deleted is overwritten, so that erased values of a history are in none of its bytes. */
  readonly isOverwritten: boolean
}

/** What a registry means for the connections to its file. */
export const connectionsOf = (registry: Registry): Pick<OpenedFile, 'isUnmanaged' | 'isOverwritten'> => ({
  isUnmanaged: managedResources(registry).length === 0,
  isOverwritten: registry.some(({ history }) => history),
})

/** Throws if the file has been moved or replaced since it was opened. */
export const refuseMoved = ({ path, identity }: OpenedFile): void => {
  if (fileIdentity(path) !== identity)
    throw new Error('the database file was moved or replaced; put it back, or restart the service')
}

/** Whether a decimal is as far from the number as from a neighbour of it, such as 1e23. */
const isHalfway = (text: string, value: number): boolean => {
  const [, whole = '', fraction = '', exponent = ''] = /^-?(\d)\.?(\d*)e(.+)$/.exec(text) ?? []
  const zeros = Number(exponent) - fraction.length
  if (Math.abs(value) < 2 ** 53 || zeros < 0) return false
  const decimal = BigInt(whole + fraction) * 10n ** BigInt(zeros)
  const exact = BigInt(Math.abs(value))
  const neighbour = 2n * decimal - exact
  return decimal !== exact && BigInt(Number(neighbour)) === neighbour
}

/** The fewest digits that identify a number; PostgreSQL does not print a decimal that is halfway. */
const shortest = (value: number): string => {
  let text = value.toExponential()
  for (let digits = 1; Number(text) !== value || isHalfway(text, value); digits++) text = value.toExponential(digits)
  return text
}

/** A number as PostgreSQL prints it, so that responses are the same on both databases; SQLite itself prints 1.0e+21 and 0.33333333333333332. */
export const numberText = (value: number): string => {
  const size = Math.abs(value)
  if (size === 0) return '0'
  return size >= 1e-4 && size < 1e15 ? String(value) : shortest(value).replace(/e([+-])(\d)$/, 'e$10$2')
}

export const addNumberFunction = (database: BetterSqlite3.Database): void => {
  database.function('registry_number', { deterministic: true, directOnly: true }, (value) => numberText(Number(value)))
}

/** The page cache of each connection, in kilobytes; the operating system caches the rest of the file once for all. */
const cacheKilobytes = 4_000

/**
 * The timeout is how long SQLite waits for another connection's lock, in milliseconds. The journal of a file that belongs to other programs
 * stays as it is.
 */
export const connect = (
  path: string,
  options: BetterSqlite3.Options & { timeout: number },
  { isUnmanaged, isOverwritten }: Pick<OpenedFile, 'isUnmanaged' | 'isOverwritten'> = {
    isUnmanaged: false,
    isOverwritten: false,
  },
): BetterSqlite3.Database => {
  const database = new Database(path, { fileMustExist: isUnmanaged, ...options })
  if (!isUnmanaged) database.pragma('journal_mode = WAL')
  // After the journal mode, and on every connection: better-sqlite3's build defaults to NORMAL in WAL mode.
  database.pragma('synchronous = FULL')
  database.pragma('foreign_keys = ON')
  database.pragma('trusted_schema = OFF')
  if (isOverwritten) database.pragma('secure_delete = ON')
  database.pragma(`cache_size = -${cacheKilobytes}`)
  addNumberFunction(database)
  return database
}
