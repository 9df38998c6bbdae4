/** Splits a table into ranges of ids, so that a long change can be made in batches. */
import type { Execute } from './migrationDialect.js'

/** Conditions for ranges of `size` rows each, which together cover the table; `rows` is its approximate row count. */
export const batchesOf = async (execute: Execute, table: string, size: number, rows: number): Promise<string[]> => {
  if (rows <= size) return ['true']
  const numbered = `select id, row_number() over (order by id) as n from ${table}`
  const last = await execute<{ id: string }>(
    `select cast(id as text) as id from (${numbered}) as numbered where n % ${size} = 0 order by n`,
  )
  const ends = last.map(({ id }) => id)
  const ranges = ends.map((end, n) => (n === 0 ? `id <= ${end}` : `id > ${ends[n - 1]} and id <= ${end}`))
  return [...ranges, `id > ${ends.at(-1)}`]
}
