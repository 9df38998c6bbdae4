/** Worker thread for reads whose cost grows with the table. */
import { workerData } from 'node:worker_threads'
import { connect } from './connection.js'
import { type OpenedFile, refuseMoved } from './file.js'
import { type ListSql, listReader } from './lists.js'
import { serveTasks } from './worker.js'

export interface ReadWorkerData {
  readonly file: OpenedFile
  readonly sql: ReadonlyMap<string, ListSql>
}

const { file, sql } = workerData as ReadWorkerData
const database = connect(file.path, { timeout: 500, readonly: true }, file.isForeign)
refuseMoved(file)

serveTasks(listReader(database, sql))
