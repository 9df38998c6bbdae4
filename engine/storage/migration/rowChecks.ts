/** Queries about the rows of a table: how many there are, which ones contradict a descriptor, and what values they have. */
import type { Knex } from 'knex'
import type { MigrationDialect } from './migrationDialect.js'

interface Rows {
  readonly database: MigrationDialect
  readonly table: string
}

/** How many rows match, and the first few of their ids. */
interface ExampleRows {
  readonly count: number
  readonly ids: readonly string[]
}

export const maxExamples = 3

const ask = async <T>({ database }: Rows, query: Knex.QueryBuilder): Promise<T[]> =>
  database.execute<T>(query.toString())

export const rowCount = async (rows: Rows, where = (query: Knex.QueryBuilder) => query): Promise<number> => {
  const [counted] = await ask<{ rows: string | number }>(
    rows,
    where(rows.database.knex(rows.table)).count({ rows: '*' }),
  )
  return Number(counted?.rows)
}

/** The rows that a condition finds. */
export const exampleRows = async (
  rows: Rows,
  where: (query: Knex.QueryBuilder) => Knex.QueryBuilder,
): Promise<ExampleRows> => {
  const query = where(rows.database.knex(rows.table)).select('id').orderBy('id').limit(maxExamples)
  const found = await ask<{ id: number | string }>(rows, query)
  return {
    count: found.length < maxExamples ? found.length : await rowCount(rows, where),
    ids: found.map(({ id }) => String(id)),
  }
}

/** For a sentence: `1 row (id 4) has`, `3 rows (id 4, 9, 12) have`. */
export const idsOf = ({ count, ids }: ExampleRows): string => {
  const more = count > ids.length ? ', …' : ''
  return count === 1 ? `1 row (id ${ids[0]}) has` : `${count} rows (id ${ids.join(', ')}${more}) have`
}

/** A sentence about rows that share values which should be unique; undefined if none do. */
export const duplicatesOf = async (rows: Rows, columns: readonly string[]): Promise<string | undefined> => {
  const shared = rows.database.knex(rows.table).groupBy(columns).havingRaw('count(*) > 1')
  for (const column of columns) shared.whereNotNull(column)
  const first = await ask<{ id: number | string; rows: number | string }>(
    rows,
    shared.clone().min({ id: 'id' }).count({ rows: '*' }).orderBy('id').limit(1),
  )
  if (!first[0]) return undefined
  const groups = await ask(rows, shared.clone().select(rows.database.knex.raw('1')))
  const value = groups.length === 1 ? 'one value occurs' : `${groups.length} values occur`
  return `${value} more than once: ${first[0].rows} rows share that of id ${first[0].id}`
}

/** The values of a column that are not null, as text. */
export const valuesOf = async (rows: Rows, column: string): Promise<{ id: string; value: string }[]> => {
  const { knex } = rows.database
  const text = (name: string, alias: string) => knex.raw('cast(?? as text) as ??', [name, alias])
  const values = knex(rows.table).select(text('id', 'id'), text(column, 'value')).whereNotNull(column)
  // Qualified, because the alias `id` is text.
  return ask(rows, values.orderBy(`${rows.table}.id`))
}
