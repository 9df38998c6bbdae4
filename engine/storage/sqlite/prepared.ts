/** The statements of a SQLite connection, each prepared on first use. */
import type { Database, Statement } from 'better-sqlite3'

export type Prepare = (sql: string) => Statement

export const preparer = (database: Database): Prepare => {
  const statements = new Map<string, Statement>()
  return (sql) => {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
}
