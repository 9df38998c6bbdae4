/** Prepares the statements of a connection, and runs its reads, each until its deadline. */
import type { Database, Statement } from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import { containment, fold } from '../caseFold.js'
import { bind, jsonList } from '../sql.js'
import type { BoundStatement } from '../writeData.js'
import { DeadlineExceeded, matchExpression, pickTrigrams, probeSql } from './search.js'

type Prepare = (sql: string) => Statement

/** How many statements a connection keeps: lists have one or more for every combination of parameters, of some 10 kB each. */
const maxStatements = 200

const preparers = new WeakMap<Database, Prepare>()

/** The function that prepares the statements of a connection; all of its users share one bound. */
export const preparer = (database: Database): Prepare => {
  const cachedPrepare = preparers.get(database)
  if (cachedPrepare) return cachedPrepare
  const statements = new LRUCache<string, Statement>({ max: maxStatements })
  const prepare = (sql: string): Statement => {
    const cachedStatement = statements.get(sql)
    if (cachedStatement) return cachedStatement
    const statement = database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  preparers.set(database, prepare)
  return prepare
}

export const bindLists = ({ statement, values }: BoundStatement): unknown[] =>
  bind(statement, values).map((value) => (Array.isArray(value) ? jsonList(value) : value))

/** What the functions of a read look for, and until when. */
interface Searching {
  readonly search: string
  /** The index that finds candidates, if the statement uses it. */
  readonly index?: string | undefined
  readonly deadline: number
}

/**
 * Adds to a connection `registry_contains(text)`, `registry_match()`, which finds candidates in the search index, and
 * `registry_in_time()`, which ends a read at its deadline. The returned function sets what they are for.
 */
const addSearchFunctions = (database: Database): ((searching: Searching) => void) => {
  const prepare = preparer(database)
  let contains: (folded: string) => boolean = () => false
  let match = ''
  let deadline = 0
  const checkTime = () => {
    if (performance.now() > deadline) throw new DeadlineExceeded()
  }
  database.function('registry_contains', { directOnly: true }, (text: unknown) => {
    checkTime()
    return contains(fold(String(text))) ? 1 : 0
  })
  database.function('registry_in_time', { directOnly: true }, () => {
    checkTime()
    return 1
  })
  database.function('registry_match', { directOnly: true, deterministic: true }, () => match)
  return ({ search, index, deadline: until }) => {
    deadline = until
    if (search === '') return
    const folded = fold(search)
    contains = containment(folded)
    const probe = (trigram: string) =>
      prepare(probeSql(index as string))
        .pluck()
        .get(trigram) as number | undefined
    match = index ? matchExpression(pickTrigrams(folded), probe) : ''
  }
}

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
