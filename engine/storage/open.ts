/** Chooses the database that a deployment's address names: a dialect is a file beside this one and a line here. */
import type { Registry } from '../descriptor/registry.js'
import type { StorageOptions } from './options.js'
import { type Storage, StorageError } from './storage.js'

type Open = (registry: Registry, url: string, options: StorageOptions) => Promise<Storage>

/** Each is loaded where it is wanted: a start on one does not wait for the driver of the other. */
const dialects: Readonly<Record<string, () => Promise<Open>>> = {
  sqlite: async () => (await import('./sqlite.js')).openSqlite,
  postgres: async () => (await import('./postgres.js')).openPostgres,
  postgresql: async () => (await import('./postgres.js')).openPostgres,
}

/** Opens the storage at an address such as `sqlite:PATH`, `sqlite::memory:` or `postgres://USER@HOST/NAME`. */
export const openStorage: Open = async (registry, url, options) => {
  const load = dialects[url.slice(0, url.indexOf(':'))]
  if (!load) throw new StorageError(`DATABASE_URL begins with none of ${Object.keys(dialects).join(', ')}.`)
  const open = await load()
  return open(registry, url, options)
}
