/** Prepares a PostgreSQL database at start: checks it, migrates it, and loads the demo data into an empty one. */
import { Client } from 'pg'
import type { Registry } from '../../descriptor/registry.js'
import { loadDemo, migrate } from '../migrate.js'
import type { Execute } from '../migrationDialect.js'
import type { StorageOptions } from '../options.js'
import { quoted, statesTable } from '../schema.js'
import { StorageError } from '../storage.js'
import { executeOn, migrationDialect } from './migration.js'
import type { Server } from './server.js'

/** What searches can use: whether there is a trigram index, and whether it knows non-ASCII letters. */
export interface SearchIndex {
  readonly isThere: boolean
  readonly isAscii: boolean
}

const refuseEncoding = async (execute: Execute): Promise<void> => {
  const [server] = await execute<{ encoding: string }>(`select current_setting('server_encoding') as encoding`)
  if (server?.encoding === 'UTF8') return
  throw new StorageError(`its encoding is ${server?.encoding}; use a database with the encoding UTF8`)
}

const operatorClass = async (execute: Execute): Promise<string | undefined> => {
  const [found] = await execute<{ name: string }>(
    `select quote_ident(nspname) || '.gin_trgm_ops' as name
      from pg_opclass join pg_namespace on pg_namespace.oid = opcnamespace where opcname = 'gin_trgm_ops'`,
  )
  return found?.name
}

/** The operator class of the trigram index, if the extension is installed or can be. */
const trigramsOf = async (execute: Execute, warn: StorageOptions['warn']): Promise<string | undefined> => {
  const installed = await operatorClass(execute)
  if (installed) return installed
  try {
    await execute('create extension if not exists pg_trgm')
  } catch (error) {
    warn(
      `Searches scan whole tables because pg_trgm is not available: ${(error as Error).message}. Create the extension in this database and restart.`,
    )
  }
  return operatorClass(execute)
}

const searchIndexOf = async (execute: Execute, trigrams: string | undefined): Promise<SearchIndex> => {
  if (!trigrams) return { isThere: false, isAscii: true }
  const schema = trigrams.slice(0, trigrams.lastIndexOf('.'))
  const [shown] = await execute<{ count: number }>(`select cardinality(${schema}.show_trgm('éüß')) as count`)
  return { isThere: true, isAscii: shown?.count === 0 }
}

/** Prepares the database on a separate connection without a statement timeout. */
export const setUp = async (
  server: Server,
  registry: Registry,
  { demo, progress, warn, opened, pool }: StorageOptions,
): Promise<SearchIndex> => {
  const client = new Client({ ...server.config({ statement_timeout: '0' }), connectionTimeoutMillis: pool.waitMs })
  client.on('error', () => {})
  const execute = executeOn(client)
  try {
    await client.connect()
    await refuseEncoding(execute)
    const trigrams = await trigramsOf(execute, warn)
    const dialect = migrationDialect(client, trigrams, warn)
    const steps = await migrate(dialect, registry, progress)
    const isLoaded = demo && (await loadDemo(dialect, registry))
    // Without a vacuum, a rewritten table has no visibility map, and index-only counts would read every row.
    const rewritten = new Set(steps.filter(({ rows = 0 }) => rows > 0).map(({ table }) => table))
    for (const table of rewritten) await execute(`vacuum analyze ${quoted(table)}`)
    opened?.({ created: steps.some(({ table }) => table === statesTable), demo: isLoaded })
    return await searchIndexOf(execute, trigrams)
  } finally {
    await client.end()
  }
}
