/** Prepares a PostgreSQL database at start: checks it, migrates it, and loads the demo data into an empty one. */
import type { Client } from 'pg'
import { isLogged, managedResources, type Registry, type Resource } from '../../descriptor/registry.js'
import { publicDatabaseUrl } from '../../process/databaseUrl.js'
import { NothingToDo, StorageError } from '../failures.js'
import { keysTable } from '../keys.js'
import { loadDemo } from '../loadDemo.js'
import type { CatalogueTable } from '../migration/catalogue.js'
import { checkCounts, reportCountDifferences } from '../migration/countDifferences.js'
import { describeStart } from '../migration/dataSteps.js'
import { migrate } from '../migration/migrate.js'
import type { Execute, MigrationDialect } from '../migration/migrationDialect.js'
import { compareValues } from '../migration/ruleDifferences.js'
import type { ChangeOptions, Migrated, MigrateOptions, StorageOptions } from '../options.js'
import { quoted } from '../schema.js'
import { askForUpkeep, logStatesTable } from './changeLog.js'
import { describeError, errorCode } from './errors.js'
import { migrationDialect } from './migration.js'
import { type Connect, executeOn } from './migrationSteps.js'
import { findLockable } from './pathTables.js'
import { hasRight, type Right, writeRights } from './rights.js'
import { openClient, reachServer, type Server } from './server.js'
import { findOrCreateTrigrams, operatorClass, probeSearchIndex } from './trigrams.js'

type Warn = (message: string) => void

const readSetting = async (execute: Execute, name: string): Promise<string | undefined> => {
  const [setting] = await execute<{ value: string }>('select current_setting($1) as value', [name])
  return setting?.value
}

/** Warns of the rights that writes and the upkeep of totals need and this role lacks. */
const reportMissingRights = async (execute: Execute, registry: Registry, warn: Warn): Promise<void> => {
  const counterRights = [keysTable, logStatesTable].map((table): Right => ({ table, verb: 'insert' }))
  const needed = [...writeRights(registry), ...counterRights]
  const [rights] = await execute<{ has: (boolean | null)[] }>(`select array[${needed.map(hasRight).join()}] as has`)
  const missing = needed.filter((_, n) => rights?.has[n] === false)
  if (missing.length === 0) return
  const verbs = [...new Set(missing.map(({ verb }) => verb))]
  const lacking = verbs.map((verb) => {
    const tables = missing.filter((right) => right.verb === verb).map(({ table }) => `"${table}"`)
    return `${verb === 'insert' ? 'insert into' : verb} ${tables.join(', ')}`
  })
  warn(
    `This role may not ${lacking.join(' and not ')}, so such writes or the upkeep of totals fail. Grant it ${verbs.join(', ').toUpperCase()}; see "Roles" in docs/postgres.md.`,
  )
}

/** Counts the rows of restored tables, if this role may: until then each read counts them, and gives them another version. */
const countRestored = async (execute: Execute, registry: Registry): Promise<void> => {
  const tables = managedResources(registry).map(({ table }) => table)
  if (tables.length === 0) return
  const uncounted = await execute<{ name: string }>(
    'select name from unnest($1::text[]) as name, registry_state(name) where total is null and is_long',
    [tables],
  )
  for (const { name } of uncounted) await execute(askForUpkeep(name))
}

/** Without a vacuum, changed rows are not in the visibility map, and index-only counts would read every row. */
const vacuum = async (execute: Execute, changed: readonly { readonly table: string }[], warn: Warn): Promise<void> => {
  for (const table of new Set(changed.map((one) => one.table)))
    await execute(`vacuum (analyze, truncate false) ${quoted(table)}`).catch((error: Error) =>
      warn(`The table "${table}" could not be vacuumed: ${error.message}.`),
    )
}

/** Runs work on a connection without timeouts, which it closes afterwards; `connect` opens further ones. */
const withClient = async <T>(
  server: Server,
  waitMs: number,
  work: (client: Client, connect: Connect) => Promise<T>,
): Promise<T> => {
  const config = server.config({ statement_timeout: '0', lock_timeout: '0' })
  const connect = () => openClient({ ...config, connectionTimeoutMillis: waitMs })
  const client = await connect()
  try {
    return await work(client, connect)
  } finally {
    await client.end()
  }
}

const migrateWith = async (
  client: Client,
  connect: Connect,
  server: Server,
  registry: Registry,
  options: ChangeOptions,
) => {
  const { warn, derivedObjects = true } = options
  const execute = executeOn(client)
  const encoding = await readSetting(execute, 'server_encoding')
  if (encoding !== 'UTF8') throw new StorageError(`its encoding is ${encoding}; use a database with the encoding UTF8`)
  const isManaged = managedResources(registry).length > 0
  const isPlain = server.isPlain || !derivedObjects
  const logged = registry.find(isLogged)
  if (isPlain && logged)
    throw new StorageError(
      `the resource ${logged.path} has ${logged.changes ? 'changes' : 'history'}, which needs triggers on its table, and ${derivedObjects ? 'a database of this kind has none that see all writes' : 'DERIVED_OBJECTS=false creates none'}`,
    )
  const findTrigrams = isPlain ? operatorClass : findOrCreateTrigrams
  const trigrams = isManaged ? await findTrigrams(execute, warn) : undefined
  const dialect = migrationDialect(client, connect, trigrams, warn, isPlain)
  const plan = await migrate(dialect, registry, options)
  const changed = plan.steps.filter(({ rows = 0 }) => rows > 0)
  await vacuum(execute, changed, warn)
  return { isPlain, execute, dialect, trigrams, plan }
}

const readPlainTables = async ({ catalogue }: MigrationDialect, registry: Registry, isPlain: boolean) => {
  const tables = new Map<Resource, CatalogueTable | undefined>()
  for (const resource of registry.filter(({ existing }) => existing || isPlain))
    tables.set(resource, await catalogue(resource.table))
  return tables
}

export const setUp = (server: Server, registry: Registry, options: StorageOptions) => {
  const { warn, pool } = options
  return withClient(server, pool.waitMs, async (client, connect) => {
    const migrated = await migrateWith(client, connect, server, registry, options)
    const { isPlain, execute, dialect, trigrams, plan } = migrated
    // A standby, or a database whose transactions are read-only.
    const isReader = (await readSetting(execute, 'transaction_read_only')) === 'on'
    if (isReader) warn('The database is read-only: reads work, and writes get 503.')
    else await reportMissingRights(execute, registry, warn)
    const isLoadable = !isReader && !server.isDistributed
    const isLoaded = options.demo && isLoadable && (await loadDemo(dialect, registry))
    if (!isPlain) {
      await countRestored(execute, registry)
      await reportCountDifferences(dialect, registry, warn)
    }
    const created = plan.steps.some(({ table }) => table === keysTable)
    options.opened?.({ created, demo: isLoaded, changes: describeStart(plan, created) })
    return {
      searchIndex: await probeSearchIndex(execute, trigrams),
      lockable: await findLockable(execute, registry, server.isDistributed),
      unmanagedTables: await readPlainTables(dialect, registry, isPlain),
    }
  })
}

/** Runs work; adds the database to the message of an error, and the grant to that of a missing right. */
export const withDatabaseInErrors = async <T>(url: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof NothingToDo) throw error
    const advice =
      'Grant this role SELECT, INSERT, UPDATE and DELETE on all tables, UPDATE on all sequences and EXECUTE on all functions; see "Roles" in docs/postgres.md.'
    const message = `${describeError(error as Error)}${errorCode(error) === '42501' ? `. ${advice}` : ''}`
    throw new StorageError(`The database ${publicDatabaseUrl(url)} cannot be used: ${message}`)
  }
}

const reachToMigrate = (url: string, waitMs: number, warn: Warn): Promise<Server> =>
  reachServer(url, { pool: { waitMs, preparedStatements: 'off' }, warn })

export const migratePostgres = (registry: Registry, url: string, options: MigrateOptions): Promise<Migrated> =>
  withDatabaseInErrors(url, async () => {
    const server = await reachToMigrate(url, options.waitMs, options.warn)
    return withClient(server, options.waitMs, async (client, connect) => {
      const { isPlain, execute, dialect, plan } = await migrateWith(client, connect, server, registry, options)
      const miscounted = isPlain ? [] : await checkCounts(dialect, registry, options)
      if (options.isRecounting) await vacuum(execute, miscounted, options.warn)
      return { ...plan, miscounted, broken: await compareValues(dialect, registry) }
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
    const warn = () => {}
    const server = await reachToMigrate(url, waitMs, warn)
    return withClient(server, waitMs, async (client, connect) => {
      const execute = executeOn(client)
      await execute('begin read only')
      return work(migrationDialect(client, connect, await operatorClass(execute), warn, isPlain || server.isPlain))
    })
  })
