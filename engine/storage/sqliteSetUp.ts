/** Makes, in a database that may be new or from an earlier descriptor, all that the registry asks for. */
import type { Database } from 'better-sqlite3'
import type { Knex } from 'knex'
import type { Registry, Resource } from '../descriptor/registry.js'
import { compile, slot } from './slots.js'
import { bookkeepingOf, indexesOf, type Kept, searchedText, searchTable, statesTable } from './sqliteSchema.js'
import { StorageError } from './storage.js'
import { addColumns, createTable } from './tables.js'

/** Told now and then while rows that were there before are being indexed. */
export type Progress = (table: string, done: number, total: number) => void

const batch = 10_000

const ensureTable = (database: Database, knex: Knex, registry: Registry, resource: Resource): void => {
  const columns = (database.pragma(`table_info(${resource.table})`) as { name: string }[]).map((column) => column.name)
  const gained = resource.fields.filter((field) => !columns.includes(field.name))
  if (columns.length === 0) for (const sql of createTable(knex, registry, resource)) database.exec(sql)
  else if (gained.length > 0) {
    const required = gained.find((field) => field.required)
    if (required) {
      throw new StorageError(
        `table "${resource.table}" has no column "${required.name}", and one that is required cannot be added to rows that exist`,
      )
    }
    for (const sql of addColumns(knex, registry, resource, gained)) database.exec(sql)
  }
}

/** Puts the rows that are there already into the search index, and counts them. */
const catchUp = (database: Database, knex: Knex, resource: Resource, progress: Progress): void => {
  const { table } = resource
  const total = database.prepare(`select count(*) from ${table}`).pluck().get() as number
  const fill = database.prepare(
    `insert into ${searchTable(resource)} (rowid, text)
      select id, ${searchedText(knex, resource)} from ${table} where id > ? order by id limit ${batch}`,
  )
  const lastOf = database
    .prepare(`select max(id) from (select id from ${table} where id > ? order by id limit ${batch})`)
    .pluck()
  let last: unknown = Number.MIN_SAFE_INTEGER
  for (let done = 0; done < total; done += batch) {
    progress(table, done, total)
    const next = lastOf.get(last)
    fill.run(last)
    last = next
  }
  database.prepare(`insert or replace into ${statesTable} values (?, ?, hex(randomblob(8)))`).run(table, total)
}

const ensureKept = (database: Database, knex: Knex, resource: Resource, progress: Progress): void => {
  const existing = database.prepare('select sql from sqlite_schema where name = ?').pluck()
  const isAsWanted = ({ name, sql }: Kept) => existing.get(name) === sql
  const remake = (wanted: readonly Kept[]) => {
    for (const { type, name } of wanted.toReversed()) database.exec(`drop ${type} if exists ${name}`)
    for (const { sql } of wanted) database.exec(sql)
  }
  for (const index of indexesOf(knex, resource)) if (!isAsWanted(index)) remake([index])
  const bookkeeping = bookkeepingOf(knex, resource)
  const isCounted = database.prepare(`select 1 from ${statesTable} where name = ?`).get(resource.table) !== undefined
  if (isCounted && bookkeeping.every(isAsWanted)) return
  remake(bookkeeping)
  catchUp(database, knex, resource, progress)
}

/** Brings the database to what the registry asks for, all of it or nothing. */
export const setUp = (database: Database, knex: Knex, registry: Registry, progress: Progress): void =>
  database
    .transaction(() => {
      for (const resource of registry) ensureTable(database, knex, registry, resource)
      database.exec(
        `create table if not exists ${statesTable} (name text primary key, rows integer not null, state text not null) without rowid`,
      )
      for (const resource of registry) ensureKept(database, knex, resource, progress)
    })
    .immediate()

/** Loads the demo rows, in one transaction, unless any table has a row. */
export const loadDemo = (database: Database, knex: Knex, registry: Registry): void =>
  database
    .transaction(() => {
      const { rows } = database.prepare(`select sum(rows) as rows from ${statesTable}`).get() as { rows: number }
      if (rows > 0) return
      // Rows refer to one another in both directions, so the references are checked once all are there.
      database.pragma('defer_foreign_keys = ON')
      for (const { table, fields, demo } of registry) {
        const row = Object.fromEntries(fields.map(({ name }) => [name, slot(knex, name)]))
        const { sql, slots } = compile(knex(table).insert(row))
        const insert = database.prepare(sql)
        for (const values of demo) insert.run(slots.map((name) => values[name] ?? null))
      }
    })
    .immediate()
