/** Prepares a PostgreSQL database at start: checks it, migrates it, and loads the demo data into an empty one. */
import { Client } from 'pg'
import { publicDatabaseUrl } from '../../databaseUrl.js'
import type { Registry } from '../../descriptor/registry.js'
import { driftedResources, recount, reportDrift } from '../drift.js'
import { keysTable } from '../keys.js'
import { loadDemo } from '../loadDemo.js'
import { migrate } from '../migrate.js'
import type { Execute, MigrationDialect, Step } from '../migrationDialect.js'
import type { Migrated, MigrateOptions, StorageOptions } from '../options.js'
import { quoted } from '../schema.js'
import { StorageError } from '../storage.js'
import { messageOf } from './errors.js'
import { migrationDialect } from './migration.js'
import { executeOn } from './migrationSteps.js'
import { reachServer, type Server } from './server.js'

/** What searches can use: whether there is a trigram index, and whether it knows non-ASCII letters. */
export interface SearchIndex {
  readonly isThere: boolean
  readonly isAscii: boolean
}

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

/** The operator class, if this role may use it or an index already does: an index is read without rights on the schema. */
const operatorClass = async (execute: Execute): Promise<string | undefined> => {
  const [found] = await execute<{ name: string }>(
    `select quote_ident(nspname) || '.gin_trgm_ops' as name
      from pg_opclass join pg_namespace on pg_namespace.oid = opcnamespace
      where opcname = 'gin_trgm_ops' and (has_schema_privilege(opcnamespace, 'usage')
        or exists (select 1 from pg_index where pg_opclass.oid = any(indclass)))`,
  )
  return found?.name
}

const scans = 'Searches scan whole tables because pg_trgm is not available'

/** The operator class of the trigram index, if the extension is installed or can be. */
const trigramsOf = async (execute: Execute, warn: Warn): Promise<string | undefined> => {
  const installed = await operatorClass(execute)
  if (installed) return installed
  const [extension] = await execute<{ schema: string }>(
    `select nspname as schema from pg_extension join pg_namespace on pg_namespace.oid = extnamespace where extname = 'pg_trgm'`,
  )
  if (extension) {
    warn(
      `${scans}: this role may not use the schema "${extension.schema}" that it is in. Grant USAGE on it and restart.`,
    )
    return undefined
  }
  try {
    await execute('create extension if not exists pg_trgm')
  } catch (error) {
    warn(`${scans}: ${(error as Error).message}. Create the extension in this database and restart.`)
  }
  return operatorClass(execute)
}

const searchIndexOf = async (execute: Execute, trigrams: string | undefined): Promise<SearchIndex> => {
  if (!trigrams) return { isThere: false, isAscii: true }
  const schema = trigrams.slice(0, trigrams.lastIndexOf('.'))
  // A role that may not use the schema searches only ASCII letters by the index.
  const shown = await execute<{ count: number }>(`select cardinality(${schema}.show_trgm('éüß')) as count`).catch(
    () => [],
  )
  return { isThere: true, isAscii: (shown[0]?.count ?? 0) === 0 }
}

/** Without a vacuum, changed rows are not in the visibility map, and index-only counts would read every row. */
const vacuum = async (execute: Execute, steps: readonly Step[], warn: Warn): Promise<void> => {
  const changed = new Set(steps.filter(({ rows = 0 }) => rows > 0).map(({ table }) => table))
  for (const table of changed)
    await execute(`vacuum (analyze, truncate false) ${quoted(table)}`).catch((error: Error) =>
      warn(`The table "${table}" could not be vacuumed: ${error.message}.`),
    )
}

interface Prepared {
  readonly execute: Execute
  readonly dialect: MigrationDialect
  readonly trigrams: string | undefined
  readonly steps: readonly Step[]
}

/** Migrates on separate connections without timeouts, and runs `work` before they are closed. */
const withMigrated = async <T>(
  server: Server,
  registry: Registry,
  options: MigrateOptions,
  work: (prepared: Prepared) => Promise<T>,
): Promise<T> => {
  const { warn, waitMs } = options
  const connect = async (): Promise<Client> => {
    const config = server.config({ statement_timeout: '0', lock_timeout: '0' })
    const client = new Client({ ...config, connectionTimeoutMillis: waitMs })
    client.on('error', () => {})
    await client.connect()
    return client
  }
  const client = await connect()
  try {
    const execute = executeOn(client)
    await refuseEncoding(execute)
    const trigrams = await trigramsOf(execute, warn)
    const dialect = migrationDialect(client, connect, trigrams, warn)
    const steps = await migrate(dialect, registry, options)
    await vacuum(execute, steps, warn)
    return await work({ execute, dialect, trigrams, steps })
  } finally {
    await client.end()
  }
}

/** Prepares the database to be served. */
export const setUp = (server: Server, registry: Registry, options: StorageOptions): Promise<SearchIndex> =>
  withMigrated(
    server,
    registry,
    { ...options, waitMs: options.pool.waitMs },
    async ({ execute, dialect, trigrams, steps }) => {
      const isReader = await isReadOnly(execute)
      if (isReader) options.warn('The database is read-only: reads work, and creates get 503.')
      const isLoaded = options.demo && !isReader && (await loadDemo(dialect, registry))
      await reportDrift(dialect, registry, options.warn)
      options.opened?.({ created: steps.some(({ table }) => table === keysTable), demo: isLoaded })
      return searchIndexOf(execute, trigrams)
    },
  )

/** Brings the database up to date without serving it, and compares the stored counts with all rows. */
export const migratePostgres = async (registry: Registry, url: string, options: MigrateOptions): Promise<Migrated> => {
  const check = async ({ execute, dialect, steps }: Prepared): Promise<Migrated> => {
    const drifted = await driftedResources(dialect, registry, 'all')
    if (options.isRecounting && drifted.length > 0) {
      await recount(dialect, drifted, options)
      await vacuum(
        execute,
        drifted.map(({ table }) => ({ table, about: '', sql: [], rows: 1 })),
        options.warn,
      )
    }
    return { steps, drifted }
  }
  try {
    const { waitMs, warn } = options
    const server = await reachServer(url, { pool: { waitMs, preparedStatements: 'off' }, warn })
    return await withMigrated(server, registry, options, check)
  } catch (error) {
    throw new StorageError(`The database ${publicDatabaseUrl(url)} cannot be used: ${messageOf(error as Error)}`)
  }
}
