/** Opens the database that DATABASE_URL names. A dialect is a folder beside this file and a line here. */
import type { Registry } from '../descriptor/registry.js'
import type { StorageOptions } from './options.js'
import { type Storage, StorageError } from './storage.js'

type Open = (registry: Registry, url: string, options: StorageOptions) => Promise<Storage>

/** Loaded on demand: a start on one database does not load the driver of the other. */
const dialects: Readonly<Record<string, () => Promise<Open>>> = {
  sqlite: async () => (await import('./sqlite/index.js')).openSqlite,
  postgres: async () => (await import('./postgres/index.js')).openPostgres,
  postgresql: async () => (await import('./postgres/index.js')).openPostgres,
}

/** Opens the storage at a URL such as `sqlite:PATH`, `sqlite::memory:` or `postgres://USER@HOST/NAME`. */
export const openStorage: Open = async (registry, url, options) => {
  const load = dialects[url.slice(0, url.indexOf(':'))]
  if (!load) throw new StorageError(`DATABASE_URL must begin with one of ${Object.keys(dialects).join(', ')}.`)
  const open = await load()
  return open(registry, url, options)
}
