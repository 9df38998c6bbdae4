/** Creates what the registry needs in a database that is new or was made for earlier descriptors. */
import { Client } from 'pg'
import type { Registry, Resource } from '../../descriptor/registry.js'
import { keysTable } from '../keys.js'
import type { Opened, StorageOptions } from '../options.js'
import { type Column, schemaMismatch, unverifiedNotNull } from '../schemaMismatch.js'
import { StorageError } from '../storage.js'
import { quoted } from '../tables.js'
import { configOf } from './address.js'
import { type Run, runOn } from './connections.js'
import { type Execute, ensureDerivedObjects, ensureFunctions, trigramsOf } from './derivedObjects.js'
import { blocksTable, statesTable } from './functions.js'
import { deferReferences, insertRows } from './rows.js'
import { addColumns, addReferences, createTable } from './schema.js'

/** Held during set-up: another process that starts at the same time waits, and then finds everything created. */
const lock = 'select pg_advisory_xact_lock(7238116901)'

const ownTables = [
  `create table if not exists ${statesTable} (name text not null, rows bigint not null, state bigint not null)`,
  `create index if not exists ${statesTable}_name on ${statesTable} (name)`,
  `create table if not exists ${blocksTable} (name text not null, block bigint not null, rows bigint not null)`,
  `create index if not exists ${blocksTable}_name on ${blocksTable} (name, block)`,
  `create table if not exists ${keysTable} (key text primary key, digest text not null, id bigint not null,
    body text not null, at bigint not null)`,
  `create index if not exists ${keysTable}_at on ${keysTable} (at)`,
]

/** Creates the table or its new columns; returns the statements that add its foreign keys. */
const ensureTable = async (execute: Execute, registry: Registry, resource: Resource): Promise<string[]> => {
  const table = quoted(resource.table)
  const columns = await execute<Column>(
    `select attname as name, attnotnull as "isNotNull" from pg_attribute
      where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
    [table],
  )
  if (columns.length === 0) {
    await execute(createTable(resource))
    return addReferences(registry, resource, resource.fields)
  }
  const withNulls: string[] = []
  for (const column of unverifiedNotNull(resource, columns)) {
    const found = await execute(`select 1 from ${table} where ${quoted(column)} is null limit 1`)
    if (found.length > 0) withNulls.push(column)
  }
  const problem = schemaMismatch(resource, columns, withNulls)
  if (problem) throw new StorageError(problem)
  const added = resource.fields.filter((field) => !columns.some((column) => column.name === field.name))
  if (added.length > 0) await execute(addColumns(resource, added))
  return addReferences(registry, resource, added)
}

/** Loads the demo rows, unless any table has a row; returns whether it did. */
const loadDemo = async (execute: Execute, run: Run, registry: Registry): Promise<boolean> => {
  const [counted] = await execute<{ rows: string }>(`select coalesce(sum(rows), 0) as rows from ${statesTable}`)
  if (Number(counted?.rows) > 0) return false
  // Rows refer to one another in both directions, so references are checked at the end.
  await run(deferReferences)
  for (const resource of registry) await insertRows(run, resource, resource.demo)
  return true
}

/** What searches can use: whether there is a trigram index, and whether it knows non-ASCII letters. */
export interface SearchIndex {
  readonly isThere: boolean
  readonly isAscii: boolean
}

/** Creates everything; tables whose rows were rewritten are added to a set. */
const createMissing = async (
  execute: Execute,
  run: Run,
  registry: Registry,
  { demo, progress, warn }: StorageOptions,
  rewrittenTables: Set<string>,
): Promise<SearchIndex & Opened> => {
  await execute(lock)
  const [server] = await execute<{ encoding: string }>(`select current_setting('server_encoding') as encoding`)
  if (server?.encoding !== 'UTF8') {
    throw new StorageError(`its encoding is ${server?.encoding}; use a database with the encoding UTF8`)
  }
  const [states] = await execute<{ found: unknown }>(`select to_regclass('${statesTable}') as found`)
  const created = states?.found === null
  for (const sql of ownTables) await execute(sql)
  const functionsDigest = await ensureFunctions(execute)
  const trigrams = await trigramsOf(execute, warn)
  const references: string[] = []
  for (const resource of registry) references.push(...(await ensureTable(execute, registry, resource)))
  for (const sql of references) await execute(sql)
  const reportRewrite = async ({ table }: Resource) => {
    const [counted] = await execute<{ count: string }>(`select count(*) from ${quoted(table)}`)
    progress(table, 0, Number(counted?.count))
    if (Number(counted?.count) > 0) rewrittenTables.add(table)
  }
  for (const resource of registry)
    await ensureDerivedObjects({ execute, functionsDigest, reportRewrite }, resource, trigrams)
  const opened = { created, demo: demo && (await loadDemo(execute, run, registry)) }
  if (!trigrams) return { isThere: false, isAscii: true, ...opened }
  const schema = trigrams.slice(0, trigrams.lastIndexOf('.'))
  const [shown] = await execute<{ count: number }>(`select cardinality(${schema}.show_trgm('éüß')) as count`)
  return { isThere: true, isAscii: shown?.count === 0, ...opened }
}

/** Creates all that is missing in one transaction, on its own connection without a statement timeout. */
export const setUp = async (url: string, registry: Registry, options: StorageOptions): Promise<SearchIndex> => {
  const client = new Client({
    ...configOf(url, { statement_timeout: '0' }),
    connectionTimeoutMillis: options.pool.waitMs,
  })
  client.on('error', () => {})
  const execute: Execute = async (sql, values) => (await client.query(sql, values && [...values])).rows
  try {
    await client.connect()
    await execute('begin')
    const rewrittenTables = new Set<string>()
    const { created, demo, ...search } = await createMissing(execute, runOn(client), registry, options, rewrittenTables)
    await execute('commit')
    // Without a vacuum, a rewritten table has no visibility map, and index-only counts would read every row.
    for (const table of rewrittenTables) await execute(`vacuum analyze ${quoted(table)}`)
    options.opened?.({ created, demo })
    return search
  } finally {
    await client.end()
  }
}
