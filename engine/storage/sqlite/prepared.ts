/** Prepared statements of SQLite, each prepared on first use, so that a start does not wait for it. */
import type { Database, Statement as Prepared } from 'better-sqlite3'
import type { Statement } from '../bindings.js'

/** Makes the function that finds or prepares a statement of a connection. */
export const statementCache = (database: Database): ((sql: string) => Prepared) => {
  const statements = new Map<string, Prepared>()
  return (sql) => {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
}

export type Values = Readonly<Record<string, unknown>>

/** A statement that takes its values by name. */
export const prepare = (database: Database, { sql, parameters }: Statement) => {
  let statement: Prepared | undefined
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
