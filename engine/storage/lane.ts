/** What runs in a lane's thread: a read-only connection, and the statements it has been asked to run. */
import { parentPort, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'
import type { Asked } from './lanes.js'

const database = new Database(workerData as string, { readonly: true, timeout: 500 })
const statements = new Map<string, Database.Statement>()

const prepared = (sql: string): Database.Statement => {
  const statement = statements.get(sql) ?? database.prepare(sql).raw()
  statements.set(sql, statement)
  return statement
}

parentPort?.on('message', ({ sql, values }: Asked) => {
  try {
    parentPort?.postMessage({ row: prepared(sql).get(values) })
  } catch (error) {
    parentPort?.postMessage({ error: (error as Error).message })
  }
})
