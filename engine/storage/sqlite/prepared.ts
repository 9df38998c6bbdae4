/** Prepared statements of a SQLite connection, each prepared on first use. */
import type { Database, Statement } from 'better-sqlite3'

export type Prepare = (sql: string) => Statement

/** `onPrepare` is called with the SQL of each statement before it is prepared. */
export const preparer = (database: Database, onPrepare?: (sql: string) => void): Prepare => {
  const statements = new Map<string, Statement>()
  return (sql) => {
    const known = statements.get(sql)
    if (known) return known
    onPrepare?.(sql)
    const statement = database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
}
