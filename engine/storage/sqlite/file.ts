/** Checks the database file before anything is written to it, and makes that of `sqlite::memory:`. */
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { managedResources, type Registry } from '../../descriptor/registry.js'
import { defaultDatabaseUrl } from '../../process/databaseUrl.js'
import { StorageError } from '../failures.js'
import { countsTable } from '../schema.js'
import { Database } from './driver.js'

/** Larger files are not checked at each start: that would take longer than the start itself. */
const maxCheckedSize = 16 * 1024 * 1024

export const isNew = (path: string): boolean => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0

const may = (path: string, mode: number): boolean => {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

/** Whether this user may not write to the database. */
export const isReadOnly = (path: string): boolean => !may(path, constants.W_OK)

const nearestExisting = (folder: string): string => (existsSync(folder) ? folder : nearestExisting(dirname(folder)))

const existingFolder = (path: string): string => nearestExisting(dirname(resolve(path)))

/** Refuses a path that is not a file which this user may read, with advice. */
export const refuseUnreadable = (path: string): void => {
  const folder = existingFolder(path)
  if (!statSync(folder).isDirectory()) throw new Error(`${folder} is a file, not a folder; use another path`)
  const file = statSync(path, { throwIfNoEntry: false })
  if (file?.isDirectory()) throw new Error(`it is a folder; name a file in it, such as ${path}/registry.sqlite`)
  if (file && !may(path, constants.R_OK))
    throw new Error('this user may not read the file; change its permissions or its owner')
}

const unwritableFolder = (folder: string): string =>
  `this user may not write to the folder ${folder}, where SQLite also creates files; change its permissions`

/** Refuses a path that this user cannot use, with advice; warns of a read-only file. */
export const refuseUnusable = (path: string, warn: (message: string) => void, isUnmanaged: boolean): void => {
  refuseUnreadable(path)
  if (isUnmanaged && isNew(path)) throw new Error('there is no database; correct DATABASE_URL')
  const folder = existingFolder(path)
  if (!isUnmanaged && !may(folder, constants.W_OK)) throw new Error(unwritableFolder(folder))
  const file = statSync(path, { throwIfNoEntry: false })
  if (!file || !isReadOnly(path)) return
  if (file.size === 0) throw new Error('the file is empty and read-only; change its permissions')
  warn(`The database ${path} is read-only: reads are served, and creates respond with 503.`)
}

/** Creates the folder of the default path. A missing folder of another path is probably mistyped, or not mounted yet. */
export const makeFolder = (path: string): void => {
  const folder = dirname(path)
  if (existsSync(folder)) return
  if (folder !== dirname(defaultDatabaseUrl.replace('sqlite:', ''))) {
    throw new Error(`the folder ${folder} does not exist; create it, or correct the path`)
  }
  mkdirSync(folder)
}

export const explainError = (path: string, error: Error & { code?: string }): string => {
  const code = error.code ?? ''
  const folder = existingFolder(path)
  if (code === 'SQLITE_NOTADB') return 'it is not an SQLite database; use another file'
  if (code.startsWith('SQLITE_CORRUPT')) return `it is damaged (${error.message}); restore a backup`
  if (code.startsWith('SQLITE_BUSY')) return 'another process has locked it; try again when that is done'
  // Even a read creates files beside a database in WAL mode.
  const isRefused = /^SQLITE_(?:CANTOPEN|READONLY)/.test(code)
  return isRefused && !may(folder, constants.W_OK) ? unwritableFolder(folder) : error.message
}

/** Refuses a file that is damaged or belongs to another program, without writing to it. */
export const refuseUnsound = (path: string, registry: Registry): void => {
  const database = new Database(path, { readonly: true, timeout: 5_000 })
  try {
    const tables = database
      .prepare(
        `select name from sqlite_schema where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\'`,
      )
      .pluck()
      .all() as string[]
    const ours = new Set([countsTable, ...registry.map(({ table }) => table)])
    if (managedResources(registry).length > 0 && tables.length > 0 && !tables.some((table) => ours.has(table))) {
      throw new Error(
        `it belongs to another program, with the tables ${tables.slice(0, 5).join(', ')}; use another file`,
      )
    }
    if (statSync(path).size > maxCheckedSize) return
    const [damage = ''] = String(database.pragma('quick_check(1)', { simple: true })).split('\n')
    if (damage !== 'ok') throw new Error(`it is damaged (${damage}); restore a backup`)
  } finally {
    database.close()
  }
}

/** The folders of temporary files, which are removed with their storage or their process. */
const folders = new Set<string>()

const remove = (folder: string): void => {
  folders.delete(folder)
  rmSync(folder, { recursive: true, force: true })
}

process.on('exit', () => folders.forEach(remove))

/** A path in a new folder that only this user may enter, and the function that removes it. */
export const temporaryFile = (): { readonly path: string; remove(): void } => {
  try {
    const folder = mkdtempSync(join(tmpdir(), 'resource-registry-'))
    folders.add(folder)
    return { path: join(folder, 'registry.sqlite'), remove: () => remove(folder) }
  } catch (error) {
    const reason = `the folder ${tmpdir()} cannot be used (${(error as Error).message}); set TMPDIR to another`
    throw new StorageError(`sqlite::memory: needs a temporary file, but ${reason}.`)
  }
}
