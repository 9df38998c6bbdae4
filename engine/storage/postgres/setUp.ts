/** Makes, in a database that may be new or from an earlier descriptor, all that the registry asks for. */
import { Client } from 'pg'
import type { Registry, Resource } from '../../descriptor/registry.js'
import { type Column, doubtful, misfitOf } from '../misfit.js'
import type { Opened, StorageOptions } from '../options.js'
import { StorageError } from '../storage.js'
import { quoted } from '../tables.js'
import { configOf } from './address.js'
import { type Ask, askOn } from './connections.js'
import { blocksTable, statesTable } from './functions.js'
import { ensureFunctions, ensureKept, type Run, trigramsOf } from './kept.js'
import { keysTable } from './keys.js'
import { deferReferences, insertRows } from './rows.js'
import { addColumns, addReferences, createTable } from './schema.js'

/** Held while a process sets up: another that starts at the same moment waits, and then finds all of it made. */
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

/** Makes the table, or gives it the columns its descriptor has gained; answers with what is left to do: its references. */
const ensureTable = async (run: Run, registry: Registry, resource: Resource): Promise<string[]> => {
  const table = quoted(resource.table)
  const columns = await run<Column>(
    `select attname as name, attnotnull as "isFilled" from pg_attribute
      where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
    [table],
  )
  if (columns.length === 0) {
    await run(createTable(resource))
    return addReferences(registry, resource, resource.fields)
  }
  const unfilled: string[] = []
  for (const column of doubtful(resource, columns)) {
    const found = await run(`select 1 from ${table} where ${quoted(column)} is null limit 1`)
    if (found.length > 0) unfilled.push(column)
  }
  const problem = misfitOf(resource, columns, unfilled)
  if (problem) throw new StorageError(problem)
  const gained = resource.fields.filter((field) => !columns.some((column) => column.name === field.name))
  if (gained.length > 0) await run(addColumns(resource, gained))
  return addReferences(registry, resource, gained)
}

/** Loads the demo rows, unless any table has a row; answers whether it did. */
const loadDemo = async (run: Run, ask: Ask, registry: Registry): Promise<boolean> => {
  const [counted] = await run<{ rows: string }>(`select coalesce(sum(rows), 0) as rows from ${statesTable}`)
  if (Number(counted?.rows) > 0) return false
  // Rows refer to one another in both directions, so the references are checked once all are there.
  await ask(deferReferences)
  for (const resource of registry) await insertRows(ask, resource, resource.demo)
  return true
}

/** What searches can count on: an index of trigrams, and whether it knows letters beyond ASCII as such. */
export interface SearchIndex {
  readonly isThere: boolean
  readonly isAscii: boolean
}

/** Makes all of it; tables that had to be gone through are added to a set. */
const make = async (
  run: Run,
  ask: Ask,
  registry: Registry,
  { demo, progress, warn }: StorageOptions,
  goneThrough: Set<string>,
): Promise<SearchIndex & Opened> => {
  await run(lock)
  const [server] = await run<{ encoding: string }>(`select current_setting('server_encoding') as encoding`)
  if (server?.encoding !== 'UTF8') {
    throw new StorageError(`its encoding is ${server?.encoding}, which has not every letter; take one in UTF8`)
  }
  const [states] = await run<{ found: unknown }>(`select to_regclass('${statesTable}') as found`)
  const created = states?.found === null
  for (const sql of ownTables) await run(sql)
  const basis = await ensureFunctions(run)
  const trigrams = await trigramsOf(run, warn)
  const references: string[] = []
  for (const resource of registry) references.push(...(await ensureTable(run, registry, resource)))
  for (const sql of references) await run(sql)
  const says = async ({ table }: Resource) => {
    const [counted] = await run<{ count: string }>(`select count(*) from ${quoted(table)}`)
    progress(table, 0, Number(counted?.count))
    if (Number(counted?.count) > 0) goneThrough.add(table)
  }
  for (const resource of registry) await ensureKept({ run, basis, says }, resource, trigrams)
  const opened = { created, demo: demo && (await loadDemo(run, ask, registry)) }
  if (!trigrams) return { isThere: false, isAscii: true, ...opened }
  const schema = trigrams.slice(0, trigrams.lastIndexOf('.'))
  const [shown] = await run<{ count: number }>(`select cardinality(${schema}.show_trgm('éüß')) as count`)
  return { isThere: true, isAscii: shown?.count === 0, ...opened }
}

/** Brings the database to what the registry asks for, all of it or nothing, on a connection of its own without haste. */
export const setUp = async (url: string, registry: Registry, options: StorageOptions): Promise<SearchIndex> => {
  const client = new Client({
    ...configOf(url, { statement_timeout: '0' }),
    connectionTimeoutMillis: options.pool.waitMs,
  })
  client.on('error', () => {})
  const run: Run = async (sql, values) => (await client.query(sql, values && [...values])).rows
  try {
    await client.connect()
    await run('begin')
    const goneThrough = new Set<string>()
    const { created, demo, ...search } = await make(run, askOn(client), registry, options, goneThrough)
    await run('commit')
    // A table written anew is not known to be visible to all, and no count could be read off an index alone.
    for (const table of goneThrough) await run(`vacuum analyze ${quoted(table)}`)
    options.opened?.({ created, demo })
    return search
  } finally {
    await client.end()
  }
}
