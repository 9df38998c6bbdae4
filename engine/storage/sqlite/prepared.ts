/** The statements of a SQLite connection, each prepared on first use. */
import type { Database, Statement } from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import { bind } from '../bindings.js'
import type { Query } from '../referencing.js'

export type Prepare = (sql: string) => Statement

/** How many statements a connection keeps: lists have one or more for every combination of parameters, of some 10 kB each. */
const maxStatements = 200

const preparers = new WeakMap<Database, Prepare>()

/** The function that prepares the statements of a connection; all of its users share one bound. */
export const preparer = (database: Database): Prepare => {
  const known = preparers.get(database)
  if (known) return known
  const statements = new LRUCache<string, Statement>({ max: maxStatements })
  const prepare = (sql: string): Statement => {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  preparers.set(database, prepare)
  return prepare
}

/** Values as a JSON array, as a list is bound; not by JSON.stringify(), because integers may exceed 2^53. */
export const jsonList = (values: readonly unknown[]): string =>
  `[${values.map((value) => (typeof value === 'bigint' ? String(value) : JSON.stringify(value))).join()}]`

export const bindLists = ({ statement, values }: Query): unknown[] =>
  bind(statement, values).map((value) => (Array.isArray(value) ? jsonList(value) : value))
