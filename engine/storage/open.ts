/** Chooses the database that a deployment's address names: a dialect is a file beside this one and a line here. */
import type { Registry } from '../descriptor/registry.js'
import type { StorageOptions } from './options.js'
import { openPostgres } from './postgres.js'
import { openSqlite } from './sqlite.js'
import { type Storage, StorageError } from './storage.js'

type Open = (registry: Registry, url: string, options: StorageOptions) => Promise<Storage>

const dialects: Readonly<Record<string, Open>> = {
  sqlite: openSqlite,
  postgres: openPostgres,
  postgresql: openPostgres,
}

/** Opens the storage at an address such as `sqlite:PATH`, `sqlite::memory:` or `postgres://USER@HOST/NAME`. */
export const openStorage: Open = async (registry, url, options) => {
  const open = dialects[url.slice(0, url.indexOf(':'))]
  if (!open) throw new StorageError(`DATABASE_URL begins with none of ${Object.keys(dialects).join(', ')}.`)
  return open(registry, url, options)
}
