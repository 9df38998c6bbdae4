/** Runs the reads of a connection, each until its deadline. */
import type { Database } from 'better-sqlite3'
import { preparer } from './prepared.js'
import { addSearchFunctions, type Searching } from './search.js'

export interface ReadTask extends Omit<Searching, 'deadline'> {
  readonly sql: string
  readonly values: readonly unknown[]
  /** How many milliseconds it may take, if that is less than its time limit. */
  readonly maxMs?: number
}

export const reader = (database: Database): ((task: ReadTask, timeLeftMs: number) => unknown[][]) => {
  const prepare = preparer(database)
  const search = addSearchFunctions(database)
  return ({ sql, values, maxMs = Number.MAX_VALUE, ...searching }, timeLeftMs) => {
    search({ ...searching, deadline: performance.now() + Math.min(timeLeftMs, maxMs) })
    return prepare(sql).raw().safeIntegers().all(values) as unknown[][]
  }
}
