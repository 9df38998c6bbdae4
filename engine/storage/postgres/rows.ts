/** Whole rows on PostgreSQL, many at once: each batch is one JSON document that the server takes apart. */
import type { Resource, RowValues } from '../../descriptor/registry.js'
import { quoted } from '../tables.js'
import { type Ask, prepared } from './connections.js'
import { columnTypes } from './schema.js'

const batch = 5_000

/** Leaves the references of a transaction to be checked at its end. */
export const deferReferences = prepared({ sql: 'set constraints all deferred', slots: [] })

const insert = async (ask: Ask, resource: Resource, rows: readonly RowValues[], isNamed: boolean): Promise<void> => {
  const fields = resource.fields.filter(({ name }) => isNamed || name !== 'id')
  const names = fields.map(({ name }) => quoted(name)).join(', ')
  const typed = fields.map(({ name, kind }) => `${quoted(name)} ${columnTypes[kind]}`).join(', ')
  const statement = prepared({
    sql: `insert into ${quoted(resource.table)} (${names}) select ${names}
      from rows from (json_to_recordset($1) as (${typed})) with ordinality as given(${names}, n) order by n`,
    slots: ['json'],
  })
  for (let from = 0; from < rows.length; from += batch) {
    await ask(statement, { json: JSON.stringify(rows.slice(from, from + batch)) })
  }
}

/** Stores rows as they are; those without an id are given the next ones, after all that have one. */
export const insertRows = async (ask: Ask, resource: Resource, rows: Iterable<RowValues>): Promise<void> => {
  const given = [...rows]
  const isNamed = (row: RowValues) => (row['id'] ?? null) !== null
  const unnamed = given.filter((row) => !isNamed(row))
  await insert(ask, resource, given.filter(isNamed), true)
  await insert(ask, resource, unnamed, false)
}

/** Whole rows after an id, in the order of their ids. */
export const readRows = async (ask: Ask, { table, fields }: Resource, after: number, count: number) => {
  const columns = fields.map(({ name }) => quoted(name)).join(', ')
  const sql = `select ${columns} from ${quoted(table)} where id > $1 order by id limit $2`
  const rows = await ask(prepared({ sql, slots: ['after', 'count'] }), { after, count })
  return rows.map((row): RowValues => {
    const values = fields.map(({ name, kind }, n) => {
      const text = row[n] ?? null
      return [name, text === null || kind === 'text' ? text : Number(text)]
    })
    return Object.fromEntries(values)
  })
}
