/** Opens or migrates the database that DATABASE_URL names. A dialect is a folder beside this file and a line here. */
import type { Registry } from '../descriptor/registry.js'
import { StorageError } from './failures.js'
import type { CatalogueTable } from './migration/catalogue.js'
import { approvalsFrom } from './migration/difference.js'
import type { MigrationDialect } from './migration/migrationDialect.js'
import { type MigrationPlan, planMigration } from './migration/migrationPlan.js'
import { compareValues } from './migration/ruleDifferences.js'
import type { Migrated, MigrateOptions, StorageOptions } from './options.js'
import type { Storage } from './storage.js'

interface StorageModule {
  open(registry: Registry, url: string, options: StorageOptions): Promise<Storage>
  migrate(registry: Registry, url: string, options: MigrateOptions): Promise<Migrated>
  /** Opens a connection that only reads, runs work on it, and closes it; `waitMs` is how long to wait for it. */
  use<T>(url: string, waitMs: number, work: (database: MigrationDialect) => Promise<T>, isPlain?: boolean): Promise<T>
}

const sqlite = async (): Promise<StorageModule> => ({
  open: (await import('./sqlite/index.js')).openSqlite,
  migrate: (await import('./sqlite/setUp.js')).migrateSqlite,
  use: (await import('./sqlite/setUp.js')).useSqlite,
})
const postgres = async (): Promise<StorageModule> => ({
  open: (await import('./postgres/index.js')).openPostgres,
  migrate: (await import('./postgres/setUp.js')).migratePostgres,
  use: (await import('./postgres/setUp.js')).usePostgres,
})

/** Loaded on demand: a start on one database does not load the driver of the other. */
const dialects: Readonly<Record<string, () => Promise<StorageModule>>> = { sqlite, postgres, postgresql: postgres }

const loadDialect = (url: string): Promise<StorageModule> => {
  const load = dialects[url.slice(0, url.indexOf(':'))]
  if (!load) throw new StorageError(`DATABASE_URL must begin with one of ${Object.keys(dialects).join(', ')}.`)
  return load()
}

/** Opens the storage at a URL such as `sqlite:PATH`, `sqlite::memory:` or `postgres://USER@HOST/NAME`. */
export const openStorage: StorageModule['open'] = async (registry, url, options) =>
  (await loadDialect(url)).open(registry, url, options)

export const migrateStorage: StorageModule['migrate'] = async (registry, url, options) =>
  (await loadDialect(url)).migrate(registry, url, options)

/** Plans a migration without changing anything; `withValues` also finds the rows whose values do not fit their fields. */
export const planStorage = async (
  registry: Registry,
  url: string,
  waitMs: number,
  { withValues = false, derivedObjects = true } = {},
): Promise<MigrationPlan> => {
  const { use } = await loadDialect(url)
  const plan = async (database: MigrationDialect): Promise<MigrationPlan> => {
    const { steps, differences } = await planMigration(database, registry, approvalsFrom([]))
    return { steps, differences: [...differences, ...(withValues ? await compareValues(database, registry) : [])] }
  }
  return use(url, waitMs, plan, !derivedObjects)
}

/** Every table of a database, without those of the engine. */
export const storageTables = async (url: string, waitMs: number): Promise<CatalogueTable[]> =>
  (await loadDialect(url)).use(url, waitMs, async (database) => {
    const tables = []
    for (const name of await database.tableNames())
      tables.push((await database.catalogue(name, true)) as CatalogueTable)
    return tables
  })
