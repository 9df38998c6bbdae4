/** Prepares a PostgreSQL database at start: checks it, migrates it, and loads the demo data into an empty one. */
import { managedResources, type Registry, type Resource } from '../../descriptor/registry.js'
import { publicDatabaseUrl } from '../../process/databaseUrl.js'
import type { ColumnTypes } from '../existing/source.js'
import { keysTable } from '../keys.js'
import { loadDemo } from '../loadDemo.js'
import { checkCounts, reportCountDifferences } from '../migration/countDifferences.js'
import { migrate } from '../migration/migrate.js'
import type { Execute, MigrationDialect } from '../migration/migrationDialect.js'
import { changesOf, type MigrationPlan } from '../migration/migrationPlan.js'
import type { Migrated, MigrateOptions, StorageOptions } from '../options.js'
import { quoted } from '../schema.js'
import { NothingToDo, StorageError } from '../storage.js'
import { logStatesTable } from './changeLog.js'
import { codeOf, messageOf } from './errors.js'
import { migrationDialect } from './migration.js'
import { executeOn } from './migrationSteps.js'
import { openClient, reachServer, type Server } from './server.js'
import { findOrCreateTrigrams, operatorClass, probeSearchIndex } from './trigrams.js'

type Warn = (message: string) => void

const refuseEncoding = async (execute: Execute): Promise<void> => {
  const [server] = await execute<{ encoding: string }>(`select current_setting('server_encoding') as encoding`)
  if (server?.encoding === 'UTF8') return
  throw new StorageError(`its encoding is ${server?.encoding}; use a database with the encoding UTF8`)
}

/** Whether nothing can be written: a standby, or a database whose transactions are read-only. */
const isReadOnly = async (execute: Execute): Promise<boolean> => {
  const [found] = await execute<{ is: boolean }>(`select current_setting('transaction_read_only')::boolean as is`)
  return found?.is === true
}

/** Warns of tables that creates and the upkeep of totals need and this role may not insert into. */
const reportMissingRights = async (execute: Execute, registry: Registry, warn: Warn): Promise<void> => {
  const created = [...registry.filter(({ create }) => create).map(({ table }) => table), keysTable, logStatesTable]
  const missing = await execute<{ name: string }>(
    `select name from unnest($1::text[]) as name
      where not has_any_column_privilege(to_regclass(quote_ident(name)), 'insert')`,
    [created],
  )
  if (missing.length === 0) return
  const names = missing.map(({ name }) => `"${name}"`).join(', ')
  warn(
    `This role may not insert into ${names}, so creates or the upkeep of totals fail. Grant it INSERT; see "Roles" in docs/postgres.md.`,
  )
}

/** Without a vacuum, changed rows are not in the visibility map, and index-only counts would read every row. */
const vacuum = async (execute: Execute, changed: readonly { readonly table: string }[], warn: Warn): Promise<void> => {
  for (const table of new Set(changed.map((one) => one.table)))
    await execute(`vacuum (analyze, truncate false) ${quoted(table)}`).catch((error: Error) =>
      warn(`The table "${table}" could not be vacuumed: ${error.message}.`),
    )
}

interface MigratedDatabase {
  readonly isPlain: boolean
  readonly execute: Execute
  readonly dialect: MigrationDialect
  readonly trigrams: string | undefined
  readonly plan: MigrationPlan
}

const connectorTo = (server: Server, waitMs: number) => () =>
  openClient({ ...server.config({ statement_timeout: '0', lock_timeout: '0' }), connectionTimeoutMillis: waitMs })

/** Migrates on separate connections without timeouts, and runs `work` before they are closed. */
const withMigrated = async <T>(
  server: Server,
  registry: Registry,
  options: MigrateOptions,
  work: (migrated: MigratedDatabase) => Promise<T>,
): Promise<T> => {
  const { warn, waitMs } = options
  const connect = connectorTo(server, waitMs)
  const client = await connect()
  try {
    const execute = executeOn(client)
    await refuseEncoding(execute)
    const isManaged = managedResources(registry).length > 0
    const isPlain = server.isPlain || options.derivedObjects === false
    const findTrigrams = isPlain ? operatorClass : findOrCreateTrigrams
    const trigrams = isManaged ? await findTrigrams(execute, warn) : undefined
    const dialect = migrationDialect(client, connect, trigrams, warn, isPlain)
    const plan = await migrate(dialect, registry, options)
    const changed = plan.steps.filter(({ rows = 0 }) => rows > 0)
    await vacuum(execute, changed, warn)
    return await work({ isPlain, execute, dialect, trigrams, plan })
  } finally {
    await client.end()
  }
}

const readTypes = async ({ catalogue }: MigrationDialect, registry: Registry, isPlain: boolean) => {
  const types = new Map<Resource, ColumnTypes>()
  for (const resource of registry.filter(({ existing }) => existing || isPlain)) {
    const columns = (await catalogue(resource.table))?.columns ?? []
    types.set(resource, new Map(columns.map(({ name, type }) => [name, type])))
  }
  return types
}

export const setUp = (server: Server, registry: Registry, options: StorageOptions) =>
  withMigrated(
    server,
    registry,
    { ...options, waitMs: options.pool.waitMs },
    async ({ isPlain, execute, dialect, trigrams, plan }) => {
      const isReader = await isReadOnly(execute)
      if (isReader) options.warn('The database is read-only: reads work, and creates get 503.')
      else await reportMissingRights(execute, registry, options.warn)
      const isLoaded = options.demo && !isReader && (await loadDemo(dialect, registry))
      if (!isPlain) await reportCountDifferences(dialect, registry, options.warn)
      const created = plan.steps.some(({ table }) => table === keysTable)
      options.opened?.({ created, demo: isLoaded, changes: created ? [] : changesOf(plan) })
      return {
        searchIndex: await probeSearchIndex(execute, trigrams),
        types: await readTypes(dialect, registry, isPlain),
      }
    },
  )

/** Runs work; adds the database to the message of an error, and the grant to that of a missing right. */
export const withDatabaseInErrors = async <T>(url: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof NothingToDo) throw error
    const advice =
      'Grant this role SELECT and INSERT on all tables and EXECUTE on all functions; see "Roles" in docs/postgres.md.'
    const message = `${messageOf(error as Error)}${codeOf(error) === '42501' ? `. ${advice}` : ''}`
    throw new StorageError(`The database ${publicDatabaseUrl(url)} cannot be used: ${message}`)
  }
}

const reachToMigrate = (url: string, { waitMs, warn }: Pick<MigrateOptions, 'waitMs' | 'warn'>): Promise<Server> =>
  reachServer(url, { pool: { waitMs, preparedStatements: 'off' }, warn })

export const migratePostgres = (registry: Registry, url: string, options: MigrateOptions): Promise<Migrated> =>
  withDatabaseInErrors(url, async () => {
    const server = await reachToMigrate(url, options)
    return withMigrated(server, registry, options, async ({ isPlain, execute, dialect, plan }) => {
      const miscounted = isPlain ? [] : await checkCounts(dialect, registry, options)
      if (options.isRecounting) await vacuum(execute, miscounted, options.warn)
      return { ...plan, miscounted }
    })
  })

/** Opens a connection that only reads, runs work on it, and closes it. */
export const usePostgres = <T>(
  url: string,
  waitMs: number,
  work: (database: MigrationDialect) => Promise<T>,
  isPlain = false,
): Promise<T> =>
  withDatabaseInErrors(url, async () => {
    const server = await reachToMigrate(url, { waitMs, warn: () => {} })
    const connect = connectorTo(server, waitMs)
    const client = await connect()
    try {
      const execute = executeOn(client)
      await execute('begin read only')
      return await work(
        migrationDialect(client, connect, await operatorClass(execute), () => {}, isPlain || server.isPlain),
      )
    } finally {
      await client.end()
    }
  })
