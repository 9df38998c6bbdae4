/** SQLite: one file, opened for durability, its statements prepared once and its bodies written by the database. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import createKnex from 'knex'
import type { Registry, Resource, RowValues } from '../descriptor/registry.js'
import { loadDemo } from './demo.js'
import { fold } from './fold.js'
import type { Statement } from './slots.js'
import { statementsOf } from './statements.js'
import { type Conflict, type Creation, type Question, type Storage, StorageError, type Table } from './storage.js'
import { addColumns, createIndexes, createTable } from './tables.js'

/** Writes SQL and never connects: the statements run on better-sqlite3 itself. */
const knex = createKnex({ client: 'better-sqlite3', useNullAsDefault: true })

type Values = Readonly<Record<string, unknown>>

/** A prepared statement that takes its values by the names of its slots. */
const prepare = (database: Database.Database, { sql, slots }: Statement) => {
  const prepared = database.prepare(sql)
  const bound = (values: Values) => slots.map((name) => values[name] ?? null)
  return {
    run: (values: Values) => prepared.run(bound(values)),
    first: prepared.reader ? (values: Values) => prepared.pluck().get(bound(values)) : () => undefined,
  }
}

const open = (path: string): Database.Database => {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true })
  // The wait for another writer blocks every request, so it is short; the caller may try again.
  const database = new Database(path, { timeout: 500 })
  database.pragma('journal_mode = WAL')
  // After the journal mode, and on every connection: better-sqlite3's build would settle for NORMAL in WAL.
  database.pragma('synchronous = FULL')
  database.pragma('foreign_keys = ON')
  database.pragma('trusted_schema = OFF')
  database.function('fold', { deterministic: true, directOnly: true }, (text) => fold(String(text)))
  return database
}

/** Makes what the descriptors ask for and the file does not have yet. */
const ensureTables = (database: Database.Database, registry: Registry): void => {
  const columnsOf = (table: string) =>
    (database.pragma(`table_info(${table})`) as { name: string }[]).map((column) => column.name)
  for (const resource of registry) {
    const columns = columnsOf(resource.table)
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
    for (const sql of createIndexes(knex, resource)) database.exec(sql)
  }
}

const emptyPage = ({ limit, offset }: Question): Buffer =>
  Buffer.from(`{"data":[],"meta":{"total":0,"limit":${limit},"offset":${offset}}}`)

/** The largest integer SQLite has: no row's value lies beyond it, and no page begins there. */
const mostInteger = 2n ** 63n - 1n
const isBeyond = (value: string | bigint): boolean =>
  typeof value === 'bigint' && (value > mostInteger || value < -mostInteger)

const tableOver = (database: Database.Database, registry: Registry, resource: Resource): Table => {
  const statements = statementsOf(knex, registry, resource)
  const get = prepare(database, statements.get)
  const insert = prepare(database, statements.insert)
  const checks = statements.checks.map((check) => ({ ...check, found: prepare(database, check.statement).first }))
  const all = prepare(database, statements.all)
  const filtered = [...statements.filtered].map(([field, statement]) => [field, prepare(database, statement)] as const)
  const search = prepare(database, statements.search)

  const conflictsOf = (row: RowValues): Conflict[] =>
    checks
      .filter((check) => check.reads.every((field) => (row[field] ?? null) !== null))
      .filter((check) => (check.found(row) === undefined) === (check.type === 'reference'))
      .map(({ type, field }) => ({ type, field }))

  const store = database.transaction((row: RowValues): Creation => {
    const conflicts = conflictsOf(row)
    if (conflicts.length > 0) return { conflicts }
    const id = Number(insert.run(row).lastInsertRowid)
    return { id, body: get.first({ id }) as Buffer }
  }).immediate

  return {
    async list(question) {
      const { limit, offset, q, filters } = question
      // SQLite's text ends nowhere at a NUL, but nothing that was stored here contains one.
      if (q.includes('\0') || Object.values(filters).some(isBeyond)) return emptyPage(question)
      const statement = q === '' ? (filtered.find(([field]) => field in filters)?.[1] ?? all) : search
      const bounds = {
        limit: BigInt(limit),
        offset: offset > mostInteger ? mostInteger : offset,
        shownOffset: String(offset),
      }
      return statement.first({ ...filters, ...bounds, q: fold(q) }) as Buffer
    },
    async get(id) {
      return get.first({ id }) as Buffer | undefined
    },
    async conflicts(row) {
      return conflictsOf(row)
    },
    async create(row) {
      return store(row)
    },
  }
}

export interface SqliteOptions {
  /** A path, or `:memory:`. */
  readonly path: string
  readonly demo: boolean
}

/** Opens the database, makes what is missing, and loads the demo data where that is wanted and there are no rows. */
export const openSqlite = (registry: Registry, { path, demo }: SqliteOptions): Storage => {
  let database: Database.Database | undefined
  try {
    const opened = open(path)
    database = opened
    opened.transaction(() => ensureTables(opened, registry)).immediate()
    if (demo) loadDemo(opened, knex, registry)
    const tables = new Map(registry.map((resource) => [resource, tableOver(opened, registry, resource)]))
    const ask = opened.prepare('select count(*) from sqlite_schema')
    return {
      table(resource) {
        const table = tables.get(resource)
        if (!table) throw new TypeError(`${resource.path} is not of this registry`)
        return table
      },
      async ping() {
        ask.get()
      },
      async close() {
        opened.close()
      },
    }
  } catch (error) {
    database?.close()
    throw new StorageError(`The database ${path} cannot be used: ${(error as Error).message}`)
  }
}
