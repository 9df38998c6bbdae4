/** Worker thread for reads whose cost grows with the table. */
import { workerData } from 'node:worker_threads'
import { connect } from './connection.js'
import { type ListSql, listReader } from './lists.js'
import { serveTasks } from './worker.js'

/** What a read worker is started with. */
export interface ReadWorkerData {
  readonly path: string
  readonly sql: ReadonlyMap<string, ListSql>
}

const { path, sql } = workerData as ReadWorkerData

serveTasks(listReader(connect(path, { timeout: 500, readonly: true }), sql))
