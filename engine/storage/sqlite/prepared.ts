/** The statements of a SQLite connection, each prepared on first use. */
import type { Database, Statement } from 'better-sqlite3'
import { bind } from '../bindings.js'
import type { Query } from '../referencing.js'

export type Prepare = (sql: string) => Statement

export const preparer = (database: Database): Prepare => {
  const statements = new Map<string, Statement>()
  return (sql) => {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
}

/** Values as a JSON array, as a list is bound; not by JSON.stringify(), because integers may exceed 2^53. */
export const jsonList = (values: readonly unknown[]): string =>
  `[${values.map((value) => (typeof value === 'bigint' ? String(value) : JSON.stringify(value))).join()}]`

export const bindLists = ({ statement, values }: Query): unknown[] =>
  bind(statement, values).map((value) => (Array.isArray(value) ? jsonList(value) : value))
