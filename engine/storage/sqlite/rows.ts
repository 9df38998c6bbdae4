/** Reads and stores whole rows on SQLite. */
import type { Database } from 'better-sqlite3'
import { compile, parameter } from '../bindings.js'
import { quoted } from '../schema.js'
import type { CopiedTable, StoredRow } from '../storage.js'
import { knex } from './knex.js'

type Kind = CopiedTable['fields'][number]['kind']

/** JSON is stored as bytes, and a boolean as 1 or 0. */
const toSqlite = (kind: Kind, value: StoredRow[string] = null): unknown => {
  if (kind === 'json' && typeof value === 'string') return Buffer.from(value)
  return typeof value === 'boolean' ? Number(value) : value
}

const fromSqlite = (kind: Kind, value: unknown): StoredRow[string] => {
  if (kind === 'json') return String(value)
  if (typeof value !== 'bigint') return value as StoredRow[string]
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** Stores whole rows; those without an id get the next ones. */
export const insertRows = (database: Database, table: CopiedTable, rows: Iterable<StoredRow>): void => {
  const row = Object.fromEntries(table.fields.map(({ name }) => [name, parameter(knex, name)]))
  const { sql, parameters } = compile(knex(table.table).insert(row))
  const insert = database.prepare(sql)
  const kinds = new Map(table.fields.map(({ name, kind }) => [name, kind]))
  for (const values of rows) insert.run(parameters.map((name) => toSqlite(kinds.get(name) as Kind, values[name])))
}

/** Whole rows after a value of the cursor, in its order. */
export const readRows = (
  database: Database,
  { table, fields, cursor = 'id' }: CopiedTable,
  after: StoredRow[string] | undefined,
  count: number,
): StoredRow[] => {
  const columns = fields.map(({ name }) => quoted(name)).join(', ')
  const condition = after === undefined ? '' : `where ${quoted(cursor)} > @after`
  const sql = `select ${columns} from ${quoted(table)} ${condition} order by ${quoted(cursor)} limit @count`
  const rows = database.prepare(sql).raw().safeIntegers().all({ after, count }) as unknown[][]
  return rows.map((row) => Object.fromEntries(fields.map(({ name, kind }, n) => [name, fromSqlite(kind, row[n])])))
}
