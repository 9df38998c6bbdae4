/** Prepared statements of SQLite that take their values by name. */
import type { Database } from 'better-sqlite3'
import type { Statement } from '../bindings.js'

export type Values = Readonly<Record<string, unknown>>

/** Prepares a statement on first use, so that a start does not wait for it. */
export const prepare = (database: Database, { sql, parameters }: Statement) => {
  let statement: ReturnType<typeof database.prepare> | undefined
  const bind = (values: Values) => parameters.map((name) => values[name] ?? null)
  return {
    sql,
    bind,
    first(values: Values): readonly unknown[] | undefined {
      statement ??= database.prepare(sql).raw()
      return statement.get(bind(values)) as readonly unknown[] | undefined
    },
  }
}
