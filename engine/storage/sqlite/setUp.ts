/** Creates what the registry needs in a database that is new or was made for earlier descriptors. */
import type { Database } from 'better-sqlite3'
import type { Knex } from 'knex'
import type { Registry, Resource, RowValues } from '../../descriptor/registry.js'
import { compile, parameter } from '../bindings.js'
import type { Progress } from '../options.js'
import { schemaMismatch, unverifiedNotNull } from '../schemaMismatch.js'
import { StorageError } from '../storage.js'
import { addColumns, createTable, quoted } from '../tables.js'
import { blockBits } from './blocks.js'
import { ensureKeys } from './keys.js'
import {
  blocksTable,
  bookkeepingOf,
  type DerivedObject,
  indexesOf,
  searchedText,
  searchTable,
  statesTable,
} from './schema.js'

const batch = 10_000

const ensureTable = (database: Database, knex: Knex, registry: Registry, resource: Resource): void => {
  const found = database.pragma(`table_info(${quoted(resource.table)})`) as { name: string; notnull: 0 | 1 }[]
  const columns = found.map(({ name, notnull }) => ({ name, isNotNull: notnull === 1 }))
  if (columns.length === 0) {
    for (const sql of createTable(knex, registry, resource)) database.exec(sql)
    return
  }
  const hasNulls = (name: string) =>
    database.prepare(`select 1 from ${quoted(resource.table)} where ${quoted(name)} is null limit 1`).get() !==
    undefined
  const problem = schemaMismatch(resource, columns, unverifiedNotNull(resource, columns).filter(hasNulls))
  if (problem) throw new StorageError(problem)
  const added = resource.fields.filter((field) => !columns.some((column) => column.name === field.name))
  if (added.length > 0) for (const sql of addColumns(knex, registry, resource, added)) database.exec(sql)
}

const countOf = (database: Database, { table }: Resource): number =>
  database
    .prepare(`select count(*) from ${quoted(table)}`)
    .pluck()
    .get() as number

/** Adds existing rows to the search index and the blocks, and counts them. */
const indexExistingRows = (database: Database, knex: Knex, resource: Resource, progress: Progress): void => {
  const { table } = resource
  const total = countOf(database, resource)
  const fill = database.prepare(
    `insert into ${searchTable(resource)} (rowid, text)
      select id, ${searchedText(knex, resource)} from ${quoted(table)} where id > ? order by id limit ${batch}`,
  )
  const lastOf = database
    .prepare(`select max(id) from (select id from ${quoted(table)} where id > ? order by id limit ${batch})`)
    .pluck()
    .safeIntegers()
  let last: unknown = -(2n ** 63n)
  for (let done = 0; done < total; done += batch) {
    progress(table, done, total)
    const next = lastOf.get(last)
    fill.run(last)
    last = next
  }
  // Two segments of one size are merged while there is time: see mergeSegments.ts.
  database.exec(`insert into ${searchTable(resource)} (${searchTable(resource)}, rank) values ('usermerge', 2)`)
  // One segment is searched several times as fast as the many that a long fill leaves.
  if (total > batch)
    database.exec(`insert into ${searchTable(resource)} (${searchTable(resource)}) values ('optimize')`)
  database.exec(
    `insert into ${blocksTable(resource)} select id >> ${blockBits}, count(*) from ${quoted(table)} group by 1`,
  )
  database.prepare(`insert or replace into ${statesTable} values (?, ?, hex(randomblob(8)))`).run(table, total)
}

const ensureDerivedObjects = (database: Database, knex: Knex, resource: Resource, progress: Progress): void => {
  const existing = database.prepare('select sql from sqlite_schema where name = ?').pluck()
  const isCurrent = ({ name, sql }: DerivedObject) => existing.get(name) === sql
  const recreate = (wanted: readonly DerivedObject[]) => {
    for (const { type, name } of wanted.toReversed()) database.exec(`drop ${type} if exists ${name}`)
    for (const { sql } of wanted) database.exec(sql)
  }
  for (const index of indexesOf(knex, resource)) {
    if (isCurrent(index)) continue
    progress(resource.table, 0, countOf(database, resource))
    try {
      recreate([index])
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_CONSTRAINT_UNIQUE') throw error
      const columns = index.sql.slice(index.sql.lastIndexOf('('))
      throw new StorageError(
        `rows of "${resource.table}" share values of ${columns}, which its descriptor says are unique`,
      )
    }
  }
  const bookkeeping = bookkeepingOf(knex, resource)
  const isCounted = database.prepare(`select 1 from ${statesTable} where name = ?`).get(resource.table) !== undefined
  if (isCounted && bookkeeping.every(isCurrent)) return
  recreate(bookkeeping)
  indexExistingRows(database, knex, resource, progress)
}

const isReadOnly = (error: unknown): boolean => (error as { code?: string }).code === 'SQLITE_READONLY'

/** Creates all that is missing, in one transaction. */
export const setUp = (database: Database, knex: Knex, registry: Registry, progress: Progress): void => {
  const all = database.transaction(() => {
    for (const resource of registry) ensureTable(database, knex, registry, resource)
    database.exec(
      `create table if not exists ${statesTable} (name text primary key, rows integer not null, state text not null) without rowid`,
    )
    ensureKeys(database)
    for (const resource of registry) ensureDerivedObjects(database, knex, resource, progress)
  })
  try {
    all.immediate()
  } catch (error) {
    if (!isReadOnly(error)) throw error
    // A file that may only be read is served, unless it lacks something.
    try {
      all.deferred()
    } catch (second) {
      if (!isReadOnly(second)) throw second
      throw new StorageError('the file is read-only and lacks what the descriptors ask for; make it writable')
    }
  }
}

/** Stores whole rows; a row without an id gets the next one. */
export const insertRows = (database: Database, knex: Knex, resource: Resource, rows: Iterable<RowValues>): void => {
  const row = Object.fromEntries(resource.fields.map(({ name }) => [name, parameter(knex, name)]))
  const { sql, parameters } = compile(knex(resource.table).insert(row))
  const insert = database.prepare(sql)
  for (const values of rows) insert.run(parameters.map((name) => values[name] ?? null))
}

/** Loads the demo rows, in one transaction, unless any table has a row; returns whether it did. */
export const loadDemo = (database: Database, knex: Knex, registry: Registry): boolean => {
  const count = database.prepare(`select sum(rows) from ${statesTable}`).pluck()
  if (Number(count.get()) > 0) return false
  return database
    .transaction(() => {
      // Another process may have loaded them meanwhile.
      if (Number(count.get()) > 0) return false
      // Rows refer to one another in both directions, so references are checked at the end.
      database.pragma('defer_foreign_keys = ON')
      for (const resource of registry) insertRows(database, knex, resource, resource.demo)
      return true
    })
    .immediate()
}
