/** Stores many whole rows at once on PostgreSQL, each batch as one JSON document that the server takes apart. */
import type { Resource, RowValues } from '../descriptor/registry.js'
import { columnTypes } from './postgresSchema.js'
import { quoted } from './tables.js'

/** Runs one statement with its values. */
export type Run = (sql: string, values: readonly unknown[]) => Promise<unknown>

const batch = 5_000

const insert = async (run: Run, resource: Resource, rows: readonly RowValues[], isNamed: boolean): Promise<void> => {
  const fields = resource.fields.filter(({ name }) => isNamed || name !== 'id')
  const names = fields.map(({ name }) => quoted(name)).join(', ')
  const typed = fields.map(({ name, kind }) => `${quoted(name)} ${columnTypes[kind]}`).join(', ')
  const sql = `insert into ${quoted(resource.table)} (${names})
    select ${names} from rows from (json_to_recordset($1) as (${typed})) with ordinality as given(${names}, n) order by n`
  for (let from = 0; from < rows.length; from += batch) await run(sql, [JSON.stringify(rows.slice(from, from + batch))])
}

/** Stores rows as they are; those without an id are given the next ones, after all that have one. */
export const insertRows = async (run: Run, resource: Resource, rows: Iterable<RowValues>): Promise<void> => {
  const given = [...rows]
  const isNamed = (row: RowValues) => (row['id'] ?? null) !== null
  await insert(run, resource, given.filter(isNamed), true)
  await insert(
    run,
    resource,
    given.filter((row) => !isNamed(row)),
    false,
  )
}
