/** Reads and stores whole rows on SQLite. */
import type { Database } from 'better-sqlite3'
import { compile, parameter } from '../bindings.js'
import { boundValue, quoted, readValue } from '../schema.js'
import type { CopiedTable, StoredRow } from '../storage.js'
import { knex } from './knex.js'
import { columnOf } from './schema.js'

type Kind = CopiedTable['fields'][number]['kind']

/** JSON is stored as bytes. */
const toSqlite = (kind: Kind, value: StoredRow[string] = null): unknown =>
  kind !== 'json' ? boundValue(columnOf(kind), value) : value === null ? null : Buffer.from(String(value))

const fromSqlite = (kind: Kind, value: unknown): StoredRow[string] => {
  if (kind === 'json') return String(value)
  const read = readValue(columnOf(kind), value)
  return typeof read === 'bigint' && Number.isSafeInteger(Number(read)) ? Number(read) : read
}

export const insertRows = (database: Database, table: CopiedTable, rows: Iterable<StoredRow>): void => {
  const row = Object.fromEntries(table.fields.map(({ name }) => [name, parameter(knex, name)]))
  const { sql, parameters } = compile(knex(table.table).insert(row))
  const insert = database.prepare(sql)
  const kinds = new Map(table.fields.map(({ name, kind }) => [name, kind]))
  for (const values of rows) insert.run(parameters.map((name) => toSqlite(kinds.get(name) as Kind, values[name])))
}

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
