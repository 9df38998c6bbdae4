/** Opens or migrates the database that DATABASE_URL names. A dialect is a folder beside this file and a line here. */
import type { Registry } from '../descriptor/registry.js'
import { StorageError } from './failures.js'
import { planAdditions } from './migration/additions.js'
import type { CatalogueTable } from './migration/catalogue.js'
import { entriesOnCopy, type MigrationEntry, readMigrationState, wrongFiles } from './migration/dataSteps.js'
import { approvalsFrom, isAddition } from './migration/difference.js'
import { draftMigration } from './migration/draft.js'
import { countFiles } from './migration/migrate.js'
import type { MigrationDialect } from './migration/migrationDialect.js'
import type { MigrationFile } from './migration/migrationFiles.js'
import { type MigrationPlan, planMigration } from './migration/migrationPlan.js'
import { compareValues } from './migration/ruleDifferences.js'
import type { DatabaseName } from './migration/sqlStatements.js'
import type { Migrated, MigrateOptions, StorageOptions } from './options.js'
import type { Storage } from './storage.js'

/** What a start would do, and the files of `migrations/` that prevent it or differ. */
export interface StoragePlan extends MigrationPlan {
  readonly files: {
    readonly pending: readonly string[]
    readonly wrong: readonly { readonly name: string; readonly message: string }[]
  }
}

interface StorageModule {
  readonly name: DatabaseName
  open(registry: Registry, url: string, options: StorageOptions): Promise<Storage>
  migrate(registry: Registry, url: string, options: MigrateOptions): Promise<Migrated>
  /** Opens a connection that only reads, runs work on it, and closes it; `waitMs` is how long to wait for it. */
  use<T>(url: string, waitMs: number, work: (database: MigrationDialect) => Promise<T>, isPlain?: boolean): Promise<T>
}

const sqlite = async (): Promise<StorageModule> => ({
  name: 'sqlite',
  open: (await import('./sqlite/index.js')).openSqlite,
  migrate: (await import('./sqlite/setUp.js')).migrateSqlite,
  use: (await import('./sqlite/setUp.js')).useSqlite,
})
const postgres = async (): Promise<StorageModule> => ({
  name: 'postgres',
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

/**
 * Plans a migration without changing anything; `withValues` also finds the rows whose values do not fit their fields. While `files` have not
 * run, its steps are those that precede them.
 */
export const planStorage = async (
  registry: Registry,
  url: string,
  waitMs: number,
  { withValues = false, derivedObjects = true, files = [] as readonly MigrationFile[] } = {},
): Promise<StoragePlan> => {
  const { use } = await loadDialect(url)
  const plan = async (database: MigrationDialect): Promise<StoragePlan> => {
    const state = await readMigrationState(database, registry, files)
    const isWaiting = state.pending.length > 0
    const first = await countFiles(database, registry, { files })
    const whole = await planMigration(database, registry, approvalsFrom([]), first)
    const differences = isWaiting ? whole.differences.filter((one) => !isAddition(one)) : whole.differences
    return {
      steps: isWaiting ? await planAdditions(database, registry, files) : whole.steps,
      differences: [...differences, ...(withValues ? await compareValues(database, registry) : [])],
      files: { pending: state.pending.map(({ file }) => file), wrong: wrongFiles(state) },
    }
  }
  return use(url, waitMs, plan, !derivedObjects)
}

/** Drafts a file of `migrations/` for a database. */
export const draftStorage = async (
  registry: Registry,
  url: string,
  { waitMs, derivedObjects = true }: Pick<MigrateOptions, 'waitMs' | 'derivedObjects'>,
): Promise<string> =>
  (await loadDialect(url)).use(url, waitMs, (database) => draftMigration(database, registry), !derivedObjects)

/** Which files have run on a database, for the copy of its rows in another one. */
export const migrationEntries = async (
  registry: Registry,
  [from, to]: readonly [url: string, url: string],
  files: readonly MigrationFile[],
  waitMs: number,
): Promise<MigrationEntry[]> => {
  const [source, target] = [await loadDialect(from), await loadDialect(to)]
  const { entries } = await source.use(from, waitMs, (database) => readMigrationState(database, registry, files))
  return entriesOnCopy(entries, files, [source.name, target.name])
}

/** Every table of a database, without those of the engine. */
export const storageTables = async (url: string, waitMs: number): Promise<CatalogueTable[]> =>
  (await loadDialect(url)).use(url, waitMs, async (database) => {
    const tables = []
    for (const name of await database.tableNames())
      tables.push((await database.catalogue(name, true)) as CatalogueTable)
    return tables
  })
