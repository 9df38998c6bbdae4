/** Worker thread for reads whose cost grows with the table. */
import { workerData } from 'node:worker_threads'
import { connectToRead } from './connection.js'
import { type ListSql, type ListTask, listReader } from './lists.js'
import { serveTasks } from './workerTasks.js'

const { path, sql } = workerData as { path: string; sql: ReadonlyMap<string, ListSql> }
const database = connectToRead(path)
const read = listReader(database, sql)

serveTasks((task, timeLeftMs) => read(task as ListTask, timeLeftMs), database)
