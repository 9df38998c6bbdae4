/** Chooses the database that a deployment's address names. */
import type { Registry } from '../descriptor/registry.js'
import { openSqlite, type SqliteOptions } from './sqlite.js'
import { type Storage, StorageError } from './storage.js'

export type StorageOptions = Omit<SqliteOptions, 'path'>

/** Opens the storage at `sqlite:PATH` or `sqlite::memory:`. */
export const openStorage = async (registry: Registry, url: string, options: StorageOptions): Promise<Storage> => {
  if (url.startsWith('sqlite:')) return openSqlite(registry, { ...options, path: url.slice('sqlite:'.length) })
  throw new StorageError('This release serves SQLite alone; set DATABASE_URL to sqlite:PATH.')
}
