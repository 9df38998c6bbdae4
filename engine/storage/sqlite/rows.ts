/** Reads and stores whole rows on SQLite. */

import type { Database } from 'better-sqlite3'
import { boundValue, readValue } from '../../descriptor/kinds/index.js'
import { quoted } from '../schema.js'
import type { CopiedTable, StoredRow } from '../storage.js'
import { columnOf } from './schema.js'

type Field = CopiedTable['fields'][number]

/** The body of a response is stored as bytes. */
const toSqlite = (field: Field, value: StoredRow[string] = null): unknown => {
  if (field.kind !== 'body') return boundValue(columnOf(field), value)
  return value === null ? null : Buffer.from(String(value))
}

const fromSqlite = (field: Field, value: unknown): StoredRow[string] => {
  if (field.kind === 'body') return String(value)
  const read = readValue(columnOf(field), value)
  return typeof read === 'bigint' && Number.isSafeInteger(Number(read)) ? Number(read) : read
}

export const insertRows = (database: Database, table: CopiedTable, rows: Iterable<StoredRow>): void => {
  const { fields } = table
  const columns = fields.map(({ name }) => quoted(name)).join(', ')
  const insert = database.prepare(
    `insert into ${quoted(table.table)} (${columns}) values (${fields.map(() => '?').join(', ')})`,
  )
  for (const values of rows) insert.run(fields.map((field) => toSqlite(field, values[field.name])))
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
  return rows.map((row) => Object.fromEntries(fields.map((field, n) => [field.name, fromSqlite(field, row[n])])))
}
