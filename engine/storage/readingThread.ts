/** Runs in a thread: questions whose cost grows with the table, so that none of them stalls the rest. */
import { parentPort, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'

/** A statement and the values it is asked with. */
export interface Asked {
  readonly sql: string
  readonly values: readonly unknown[]
}

const database = new Database(workerData as string, { readonly: true, timeout: 500 })
const statements = new Map<string, Database.Statement>()

const prepared = (sql: string): Database.Statement => {
  const statement = statements.get(sql) ?? database.prepare(sql).raw()
  statements.set(sql, statement)
  return statement
}

parentPort?.on('message', ({ sql, values }: Asked) => {
  try {
    parentPort?.postMessage({ value: prepared(sql).get(values) })
  } catch (error) {
    parentPort?.postMessage({ error: (error as Error).message })
  }
})
