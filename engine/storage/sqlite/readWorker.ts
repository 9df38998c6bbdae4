/** Worker thread for reads whose cost grows with the table. */
import { workerData } from 'node:worker_threads'
import { connectToRead } from './connection.js'
import { type ListSql, listReader } from './lists.js'
import { serveTasks } from './worker.js'

const { path, sql } = workerData as { path: string; sql: ReadonlyMap<string, ListSql> }

serveTasks(listReader(connectToRead(path), sql))
