/** The database file itself: what it is before anything is written to it, and whether it is still at its path. */
import { statSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { Registry } from '../../descriptor/registry.js'
import { StorageError } from '../storage.js'
import { statesTable } from './schema.js'

/** Which file is at a path: another after it was replaced, nothing where there is none. */
export const identityOf = (path: string): string | undefined => {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true })
  return found && `${found.dev}:${found.ino}`
}

/** Makes the function that throws where the file that was at a path is no longer there. */
export const fileGuard = (path: string): (() => void) => {
  if (path === ':memory:') return () => {}
  const opened = identityOf(path)
  return () => {
    if (identityOf(path) !== opened) throw new Error('the database file is no longer at its path')
  }
}

/** A larger file is not looked through at every start: that would take longer than the start itself. */
const mostLookedThrough = 16 * 1024 * 1024

const tablesOf = (database: Database.Database): string[] =>
  database
    .prepare(`select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\'`)
    .pluck()
    .all() as string[]

/** Refuses a file that is damaged or another program's, by reading alone: not a byte of it is changed. */
export const refuseUnsound = (path: string, registry: Registry): void => {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) return
  const database = new Database(path, { readonly: true, timeout: 5_000 })
  try {
    const tables = tablesOf(database)
    const ours = new Set([statesTable, ...registry.map(({ table }) => table)])
    if (tables.length > 0 && !tables.some((table) => ours.has(table))) {
      throw new StorageError(
        `it is another program's, with the tables ${tables.slice(0, 5).join(', ')}; name another file`,
      )
    }
    if (size > mostLookedThrough) return
    const [found = ''] = String(database.pragma('quick_check(1)', { simple: true })).split('\n')
    if (found !== 'ok') throw new StorageError(`it is damaged (${found}); restore a backup`)
  } finally {
    database.close()
  }
}
