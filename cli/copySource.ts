/** Checks the source of a copy without writing to it: opening a database creates the tables that it lacks. */
import { statSync } from 'node:fs'
import { Client } from 'pg'
import type { Registry } from '../engine/descriptor/registry.js'
import { publicDatabaseUrl, sqlitePath } from '../engine/process/databaseUrl.js'
import type { StorageOptions } from '../engine/storage/options.js'
import { reachServer } from '../engine/storage/postgres/server.js'
import { quoted } from '../engine/storage/schema.js'
import { Database } from '../engine/storage/sqlite/driver.js'
import { CommandError } from '../support/options.js'

/** Runs a query and returns its first column. */
type Select = (sql: string) => Promise<unknown[]>

const refuse = (url: string, what: string): never => {
  throw new CommandError(`--from is ${publicDatabaseUrl(url)}, but ${what}.`)
}

const withSqlite = async (url: string, path: string, work: (select: Select) => Promise<void>): Promise<void> => {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) refuse(url, 'there is no such file')
  if (found?.isDirectory()) refuse(url, 'that is a folder')
  if (found?.size === 0) refuse(url, 'that file is empty')
  const database = new Database(path, { readonly: true, timeout: 5_000 })
  await work(async (sql) => database.prepare(sql).pluck().all()).finally(() => database.close())
}

const withPostgres = async (
  url: string,
  pool: StorageOptions['pool'],
  work: (select: Select) => Promise<void>,
): Promise<void> => {
  // Warnings are shown later, when the database is opened.
  const server = await reachServer(url, { pool, warn: () => {} })
  const client = new Client({ ...server.config({}), connectionTimeoutMillis: pool.waitMs })
  client.on('error', () => {})
  try {
    await client.connect()
    await work(async (text) => (await client.query({ text, rowMode: 'array' })).rows.flat())
  } finally {
    await client.end()
  }
}

/** Throws if the source does not exist, or has none of the tables, or no row in them. */
export const checkSource = async (registry: Registry, url: string, { pool }: StorageOptions): Promise<void> => {
  const path = sqlitePath(url)
  const check = async (select: Select): Promise<void> => {
    const existing = await select(
      path !== undefined
        ? `select name from sqlite_schema where type = 'table'`
        : `select relname from pg_class where oid = to_regclass(quote_ident(relname))`,
    )
    const tables = registry.map(({ table }) => table).filter((table) => existing.includes(table))
    if (tables.length === 0) refuse(url, 'it has none of the tables that the descriptors name')
    for (const table of tables) if ((await select(`select 1 from ${quoted(table)} limit 1`)).length > 0) return
    throw new CommandError('--from has no rows; there is nothing to copy.')
  }
  await (path === undefined ? withPostgres(url, pool, check) : withSqlite(url, path, check)).catch((error: Error) => {
    throw error instanceof CommandError
      ? error
      : new CommandError(`--from is ${publicDatabaseUrl(url)}, which cannot be read: ${error.message}`)
  })
}
