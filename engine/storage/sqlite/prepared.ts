/** Statements of SQLite, asked with values by the names of their slots. */
import type { Database } from 'better-sqlite3'
import type { Statement } from '../slots.js'

export type Values = Readonly<Record<string, unknown>>

/** A statement that takes its values by the names of its slots; prepared when it is first asked, for a start has enough to do. */
export const prepare = (database: Database, { sql, slots }: Statement) => {
  let statement: ReturnType<typeof database.prepare> | undefined
  const bound = (values: Values) => slots.map((name) => values[name] ?? null)
  const ask = (values: readonly unknown[]) => {
    statement ??= database.prepare(sql).raw()
    return statement.get(values) as readonly unknown[] | undefined
  }
  return { sql, bound, ask, first: (values: Values) => ask(bound(values)) }
}

export type Prepared = ReturnType<typeof prepare>
