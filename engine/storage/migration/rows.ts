/** Queries about the rows of a table: how many there are, which ones contradict a descriptor, and what values they have. */
import type { Knex } from 'knex'
import type { Column } from '../../descriptor/kinds/index.js'
import { literal, quoted } from '../schema.js'
import type { Execute, MigrationDialect } from './migrationDialect.js'

interface ExampleRows {
  readonly count: number
  readonly ids: readonly string[]
}

type Restriction = (query: Knex.QueryBuilder) => Knex.QueryBuilder

export const maxExamples = 3

/** An id for the terminal: clients choose texts, which may have any characters. */
const shownId = (id: number | string): string => (/^[\w-]+$/.test(String(id)) ? String(id) : JSON.stringify(id))

/** For a sentence: `1 row (id 4) has`, `3 rows (id 4, 9, 12) have`. */
export const describeRows = ({ count, ids: exampleIds }: ExampleRows): string => {
  const ids = exampleIds.map(shownId)
  const more = count > ids.length ? ', …' : ''
  return count === 1 ? `1 row (id ${ids[0]}) has` : `${count} rows (id ${ids.join(', ')}${more}) have`
}

export const rowQueries = ({ execute, knex }: MigrationDialect, table: string) => {
  const ask = <T>(query: Knex.QueryBuilder): Promise<T[]> => execute<T>(query.toString())
  const count = async (where: Restriction = (query) => query): Promise<number> => {
    const [counted] = await ask<{ rows: string | number }>(where(knex(table)).count({ rows: '*' }))
    return Number(counted?.rows)
  }
  return {
    count,
    async examples(where: Restriction): Promise<ExampleRows> {
      const rows = await ask<{ id: number | string }>(where(knex(table)).select('id').orderBy('id').limit(maxExamples))
      return {
        count: rows.length < maxExamples ? rows.length : await count(where),
        ids: rows.map(({ id }) => String(id)),
      }
    },
    values(column: string, { storedText }: Column): Promise<{ id: string; value: string }[]> {
      const text = (name: string, alias: string) => knex.raw('cast(?? as text) as ??', [name, alias])
      const value = storedText ? knex.raw(`${storedText(quoted(column))} as ??`, ['value']) : text(column, 'value')
      const values = knex(table).select(text('id', 'id'), value).whereNotNull(column)
      // Qualified, because the alias `id` is text.
      return ask(values.orderBy(`${table}.id`))
    },
    /** A sentence about rows that share values which should be unique; undefined if none do. */
    async duplicates(columns: readonly string[]): Promise<string | undefined> {
      // Not min(id): PostgreSQL has none of UUIDs.
      const numbered = knex(table).select(
        'id',
        knex.raw(`count(*) over (partition by ${columns.map(() => '??').join()}) as n`, columns as string[]),
        knex.raw(
          `row_number() over (partition by ${columns.map(() => '??').join()} order by id) as place`,
          columns as string[],
        ),
      )
      for (const column of columns) numbered.whereNotNull(column)
      const first = knex.from(numbered.as('numbered')).select('id', 'n').where('n', '>', 1).where('place', 1)
      const groups = await ask<{ id: number | string; n: number | string }>(first.orderBy('id'))
      if (!groups[0]) return undefined
      const value = groups.length === 1 ? 'one value occurs' : `${groups.length} values occur`
      return `${value} more than once: ${groups[0].n} rows share that of id ${shownId(groups[0].id)}`
    },
  }
}

/** Conditions for ranges of `size` rows each, which together cover a table of about so many rows. */
export const splitIntoBatches = async (
  execute: Execute,
  table: string,
  size: number,
  rows: number,
): Promise<string[]> => {
  if (rows <= size) return ['true']
  const numbered = `select id, row_number() over (order by id) as n from ${table}`
  const last = await execute<{ id: string }>(
    `select cast(id as text) as id from (${numbered}) as numbered where n % ${size} = 0 order by n`,
  )
  // In quotes, an id of any kind is compared as the column is.
  const ends = last.map(({ id }) => literal(id))
  const ranges = ends.map((end, n) => (n === 0 ? `id <= ${end}` : `id > ${ends[n - 1]} and id <= ${end}`))
  return [...ranges, `id > ${ends.at(-1)}`]
}
