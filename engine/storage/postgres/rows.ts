/** Reads and stores whole rows on PostgreSQL in batches, each one JSON document. */
import { boundValue, type Column, columnIn, jsonFieldNames, readValue } from '../../descriptor/kinds/index.js'
import { quoted } from '../schema.js'
import { parameter, sql } from '../sql.js'
import type { CopiedTable, StoredRow } from '../storage.js'
import { prepared } from './prepared.js'
import type { Run } from './run.js'
import { columnOf } from './schema.js'

type Field = CopiedTable['fields'][number]

const batch = 5_000

/** Checks references at the end of the transaction. */
export const deferReferences = prepared('set constraints all deferred')

/** JSON has no notation for these numbers; the server reads them from strings. */
const asJson = (_: string, value: unknown): unknown => {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'number') return value
  return Object.is(value, -0) ? '-0' : Number.isFinite(value) ? value : String(value)
}

/** Stores whole rows; those without an id get the next ones, after all that have one. */
export const insertRows = async (
  run: Run,
  { table, fields }: CopiedTable,
  rows: Iterable<StoredRow>,
): Promise<void> => {
  const storedRows = [...rows]
  // JSON is passed as its text, so that its numbers keep their digits.
  const jsonNames = new Set(jsonFieldNames(fields.filter((field) => field.kind !== 'body')))
  const stored = (name: string) => (jsonNames.has(name) ? `(${quoted(name)} #>> '{}')::json` : quoted(name))
  const asBound = (row: StoredRow) =>
    jsonNames.size === 0
      ? row
      : Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            name,
            jsonNames.has(name) ? boundValue(columnIn('postgres', { kind: 'json' }), value) : value,
          ]),
        )
  const insert = async (some: readonly StoredRow[], columns: string[]) => {
    const statement = prepared(
      sql`insert into ${quoted(table)} (${columns.map(quoted).join(', ')})
        select ${columns.map(stored).join(', ')} from json_populate_recordset(null::${quoted(table)}, ${parameter('json')})`,
    )
    for (let from = 0; from < some.length; from += batch) {
      await run(statement, { json: JSON.stringify(some.slice(from, from + batch).map(asBound), asJson) })
    }
  }
  const hasId = (row: StoredRow) => (row['id'] ?? null) !== null
  const columns = fields.map(({ name }) => name)
  await insert(storedRows.filter(hasId), columns)
  await insert(
    storedRows.filter((row) => !hasId(row)),
    columns.filter((name) => name !== 'id'),
  )
}

/** What is selected for a column: its own text where the kind reads it, else the text that its JSON has. */
const selected = (field: Field): string => {
  const { read, json }: Partial<Column> = field.kind === 'body' ? {} : columnOf(field)
  const name = quoted(field.name)
  return json && !read ? `${json(name)} as ${name}` : name
}

const parsed = (field: Field, text: string | null): StoredRow[string] =>
  field.kind === 'body' ? text : readValue(columnOf(field), text)

const cursorType = (fields: readonly Field[], cursor: string): string => {
  const field = fields.find(({ name }) => name === cursor)
  return field && field.kind !== 'body' ? columnOf(field).type : 'text'
}

export const readRows = async (
  run: Run,
  { table, fields, cursor = 'id' }: CopiedTable,
  after: StoredRow[string] | undefined,
  count: number,
): Promise<StoredRow[]> => {
  const column = quoted(cursor)
  const isAfter = after === undefined ? '' : sql` where ${column} > ${parameter('after', cursorType(fields, cursor))}`
  const page = sql`select ${fields.map(selected).join(', ')} from ${quoted(table)}${isAfter} order by ${column} limit ${parameter('limit')}`
  const rows = await run(prepared(page), { after, limit: count })
  return rows.map((row) => Object.fromEntries(fields.map((field, n) => [field.name, parsed(field, row[n] ?? null)])))
}
