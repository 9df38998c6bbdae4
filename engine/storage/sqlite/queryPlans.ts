/** The query plans of a connection's statements, for the debug log. */
import type { Database } from 'better-sqlite3'
import type { QueryPlan } from '../trace.js'

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
