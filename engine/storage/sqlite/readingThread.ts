/** Runs in a thread: questions whose cost grows with the table, so that none of them stalls the rest. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Statement } from 'better-sqlite3'
import { connectToRead } from './connection.js'
import { closing } from './thread.js'

/** A statement and the values it is asked with. */
export interface Asked {
  readonly sql: string
  readonly values: readonly unknown[]
}

const database = connectToRead(workerData as string)
const statements = new Map<string, Statement>()

const prepared = (sql: string): Statement => {
  const statement = statements.get(sql) ?? database.prepare(sql).raw()
  statements.set(sql, statement)
  return statement
}

parentPort?.on('message', (asked: Asked | typeof closing) => {
  if (asked === closing) {
    database.close()
    // Ends the thread, whatever it has planned.
    process.exit()
  }
  const { sql, values } = asked
  try {
    parentPort?.postMessage({ value: prepared(sql).get(values) })
  } catch (error) {
    parentPort?.postMessage({ error: (error as Error).message })
  }
})
