/** Statements that SQLite has prepared, asked with values by the names of their slots. */
import type { Database } from 'better-sqlite3'
import type { Statement } from '../slots.js'

export type Values = Readonly<Record<string, unknown>>

/** A prepared statement that takes its values by the names of its slots. */
export const prepare = (database: Database, { sql, slots }: Statement) => {
  const statement = database.prepare(sql)
  const prepared = statement.reader ? statement.raw() : statement
  const bound = (values: Values) => slots.map((name) => values[name] ?? null)
  return {
    sql,
    bound,
    ask: (values: readonly unknown[]) => prepared.get(values) as readonly unknown[] | undefined,
    first: (values: Values) => prepared.get(bound(values)) as readonly unknown[] | undefined,
  }
}

export type Prepared = ReturnType<typeof prepare>
