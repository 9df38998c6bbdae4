/** The statements of a SQLite connection, each prepared on first use, and their plans for the debug log. */
import type { Database, Statement } from 'better-sqlite3'
import type { QueryPlan } from '../trace.js'

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

/** Makes the function that returns the plan of a statement at its first call with it. */
export const queryPlans = (database: Database): ((sql: string) => QueryPlan[]) => {
  const explained = new Set<string>()
  return (sql) => {
    if (explained.has(sql)) return []
    explained.add(sql)
    // SQLite plans without the values, but better-sqlite3 wants one for each parameter.
    const parameters = sql.replaceAll(/'[^']*'/g, '').split('?').length - 1
    const rows = database.prepare(`explain query plan ${sql}`).all(Array(parameters).fill(null)) as { detail: string }[]
    return [{ sql, plan: rows.map(({ detail }) => detail) }]
  }
}
