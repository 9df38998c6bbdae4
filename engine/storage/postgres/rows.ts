/** Reads and stores whole rows on PostgreSQL in batches, each one JSON document. */
import type { Resource, RowValues } from '../../descriptor/registry.js'
import type { Run } from './connections.js'
import { bounded, insertFrom, knex, named, prepared } from './prepared.js'

const batch = 5_000

/** Checks references at the end of the transaction. */
export const deferReferences = prepared(knex.raw('set constraints all deferred'))

/** Stores whole rows; those without an id get the next ones, after all that have one. */
export const insertRows = async (run: Run, { table, fields }: Resource, rows: Iterable<RowValues>): Promise<void> => {
  const given = [...rows]
  const insert = async (some: readonly RowValues[], columns: string[]) => {
    const source = knex.select(columns).fromRaw('json_populate_recordset(null::??, ?)', [table, named('json')] as never)
    const statement = prepared(insertFrom(table, columns, source))
    for (let from = 0; from < some.length; from += batch) {
      await run(statement, { json: JSON.stringify(some.slice(from, from + batch)) })
    }
  }
  const hasId = (row: RowValues) => (row['id'] ?? null) !== null
  const columns = fields.map(({ name }) => name)
  await insert(given.filter(hasId), columns)
  await insert(
    given.filter((row) => !hasId(row)),
    columns.filter((name) => name !== 'id'),
  )
}

/** Whole rows after an id, in order of id. */
export const readRows = async (run: Run, { table, fields }: Resource, after: number, count: number) => {
  const query = knex(table)
    .select(fields.map(({ name }) => name))
    .where('id', '>', named('after'))
  const rows = await run(prepared(bounded(query)), { after, limit: count, skipRows: 0 })
  return rows.map((row): RowValues => {
    const values = fields.map(({ name, kind }, n) => {
      const text = row[n] ?? null
      return [name, text === null || kind === 'text' ? text : Number(text)]
    })
    return Object.fromEntries(values)
  })
}
