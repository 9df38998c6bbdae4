/** Worker thread for reads whose cost grows with the table. */
import { workerData } from 'node:worker_threads'
import { connect } from './connection.js'
import { type ListSql, listReader } from './lists.js'
import { serveTasks } from './worker.js'

const { path, sql } = workerData as { path: string; sql: ReadonlyMap<string, ListSql> }

serveTasks(listReader(connect(path, { timeout: 500, readonly: true }), sql))
