/** Worker thread for reads whose cost grows with the table. */
import { workerData } from 'node:worker_threads'
import type { QueryPlan } from '../trace.js'
import { connect } from './connection.js'
import { type ListSql, listReader } from './lists.js'
import { queryPlans } from './prepared.js'
import { serveTasks } from './worker.js'

/** What a read worker is started with; with `isTraced`, its replies have the plans of new statements. */
export interface ReadWorkerData {
  readonly path: string
  readonly sql: ReadonlyMap<string, ListSql>
  readonly isTraced: boolean
}

const { path, sql, isTraced } = workerData as ReadWorkerData
const database = connect(path, { timeout: 500, readonly: true })
const plans: QueryPlan[] = []
const explainStatement = queryPlans(database)
const onPrepare = isTraced ? (text: string) => void plans.push(...explainStatement(text)) : undefined

serveTasks(listReader(database, sql, onPrepare), () => plans.splice(0))
