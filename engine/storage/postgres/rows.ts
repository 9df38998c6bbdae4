/** Reads and stores whole rows on PostgreSQL in batches, each one JSON document. */
import type { Resource, RowValues } from '../../descriptor/registry.js'
import { quoted } from '../schema.js'
import { prepared, type Run } from './connections.js'
import { columnTypes } from './schema.js'

const batch = 5_000

/** Checks references at the end of the transaction. */
export const deferReferences = prepared({ sql: 'set constraints all deferred', parameters: [] })

const insert = async (run: Run, resource: Resource, rows: readonly RowValues[], hasId: boolean): Promise<void> => {
  const fields = resource.fields.filter(({ name }) => hasId || name !== 'id')
  const names = fields.map(({ name }) => quoted(name)).join(', ')
  const typed = fields.map(({ name, kind }) => `${quoted(name)} ${columnTypes[kind]}`).join(', ')
  const statement = prepared({
    sql: `insert into ${quoted(resource.table)} (${names}) select ${names}
      from rows from (json_to_recordset($1) as (${typed})) with ordinality as given(${names}, n) order by n`,
    parameters: ['json'],
  })
  for (let from = 0; from < rows.length; from += batch) {
    await run(statement, { json: JSON.stringify(rows.slice(from, from + batch)) })
  }
}

/** Stores whole rows; those without an id get the next ones, after all that have one. */
export const insertRows = async (run: Run, resource: Resource, rows: Iterable<RowValues>): Promise<void> => {
  const given = [...rows]
  const hasId = (row: RowValues) => (row['id'] ?? null) !== null
  const withoutId = given.filter((row) => !hasId(row))
  await insert(run, resource, given.filter(hasId), true)
  await insert(run, resource, withoutId, false)
}

/** Whole rows after an id, in order of id. */
export const readRows = async (run: Run, { table, fields }: Resource, after: number, count: number) => {
  const columns = fields.map(({ name }) => quoted(name)).join(', ')
  const sql = `select ${columns} from ${quoted(table)} where id > $1 order by id limit $2`
  const rows = await run(prepared({ sql, parameters: ['after', 'count'] }), { after, count })
  return rows.map((row): RowValues => {
    const values = fields.map(({ name, kind }, n) => {
      const text = row[n] ?? null
      return [name, text === null || kind === 'text' ? text : Number(text)]
    })
    return Object.fromEntries(values)
  })
}
