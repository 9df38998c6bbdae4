/** Prepares an SQLite file at start: checks it, migrates it, and loads the demo data into an empty one. */
import type BetterSqlite3 from 'better-sqlite3'
import type { Registry } from '../../descriptor/registry.js'
import { sqlitePath } from '../../process/databaseUrl.js'
import { NothingToDo, StorageError } from '../failures.js'
import { loadDemo } from '../loadDemo.js'
import { checkCounts, reportCountDifferences } from '../migration/countDifferences.js'
import { describeStart } from '../migration/dataSteps.js'
import { migrate } from '../migration/migrate.js'
import type { MigrationDialect } from '../migration/migrationDialect.js'
import type { MigrationPlan } from '../migration/migrationPlan.js'
import { compareValues } from '../migration/ruleDifferences.js'
import type { ChangeOptions, Migrated, MigrateOptions, StorageOptions } from '../options.js'
import { addNumberFunction, connect, connectionsOf } from './connection.js'
import { Database, driver } from './driver.js'
import { explainError, isNew, makeFolder, refuseUnreadable, refuseUnsound, refuseUnusable } from './file.js'
import { migrationDialect } from './migration.js'

/** How long a start, and how long a read, waits for another process's lock, in milliseconds. */
export const startTimeout = 5_000
const readLockTimeout = 50

interface MigratedFile {
  readonly database: BetterSqlite3.Database
  readonly dialect: MigrationDialect
  readonly plan: MigrationPlan
  readonly isCreated: boolean
}

/** Opens the file, creates what the registry needs and the file lacks, and runs `work`; closes the file if that fails. */
const withMigrated = async <T>(
  registry: Registry,
  path: string,
  options: ChangeOptions,
  work: (migrated: MigratedFile) => Promise<T>,
  name = path,
): Promise<T> => {
  let database: BetterSqlite3.Database | undefined
  const settings = connectionsOf(registry)
  try {
    refuseUnusable(path, options.warn, settings.isUnmanaged)
    makeFolder(path)
    const isCreated = isNew(path)
    if (!isCreated) refuseUnsound(path, registry)
    database = connect(path, { timeout: startTimeout }, settings)
    const dialect = migrationDialect(database, options.warn)
    const plan = await migrate(dialect, registry, options)
    return await work({ database, dialect, plan, isCreated })
  } catch (error) {
    database?.close()
    if (error instanceof NothingToDo) throw error
    throw new StorageError(`The database ${name} cannot be used: ${explainError(path, error as Error)}`)
  }
}

/** Returns the connection of the main thread, which only reads from here on. `name` is the file in messages. */
export const setUp = (
  registry: Registry,
  path: string,
  name: string,
  options: StorageOptions,
): Promise<BetterSqlite3.Database> => {
  const prepare = async ({ database, dialect, plan, isCreated }: MigratedFile) => {
    const isLoaded = options.demo && (await loadDemo(dialect, registry))
    await reportCountDifferences(dialect, registry, options.warn)
    options.opened?.({ created: isCreated, demo: isLoaded, driver, changes: describeStart(plan, isCreated) })
    // From here on, waiting for a lock would block every request of this process, and so would a write.
    database.pragma(`busy_timeout = ${readLockTimeout}`)
    database.pragma('query_only = ON')
    return database
  }
  return withMigrated(registry, path, options, prepare, name)
}

export const migrateSqlite = (registry: Registry, url: string, options: MigrateOptions): Promise<Migrated> =>
  withMigrated(registry, sqlitePath(url) as string, options, async ({ database, dialect, plan }) => {
    const miscounted = await checkCounts(dialect, registry, options)
    const broken = await compareValues(dialect, registry)
    database.close()
    return { ...plan, miscounted, broken }
  })

/** Opens a connection that only reads, runs work on it, and closes it. A file that does not exist is an empty database. */
export const useSqlite = async <T>(
  url: string,
  _waitMs: number,
  work: (database: MigrationDialect) => Promise<T>,
): Promise<T> => {
  const path = sqlitePath(url) as string
  let database: BetterSqlite3.Database | undefined
  try {
    refuseUnreadable(path)
    const isAvailable = !isNew(path)
    database = new Database(isAvailable ? path : ':memory:', { readonly: isAvailable, timeout: startTimeout })
    addNumberFunction(database)
    return await work(migrationDialect(database))
  } catch (error) {
    throw new StorageError(`The database ${path} cannot be used: ${explainError(path, error as Error)}`)
  } finally {
    database?.close()
  }
}
