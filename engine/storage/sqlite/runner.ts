/** Runs the statements of a table on SQLite: short reads in this thread, others in the readers', writes in the writer's. */
import type { Database } from 'better-sqlite3'
import type { Resource } from '../../descriptor/registry.js'
import { oncePerTick } from '../../process/batchPerTick.js'
import type { Cell, Purpose, Runner, TableState } from '../dialect.js'
import { Locked, OutcomeUnknown, TableChanged, TimedOut, Unavailable } from '../failures.js'
import { type AnyOutcome, type AnyPlan, withBuffers } from '../makeWrite.js'
import { countsTable } from '../schema.js'
import { latencyKeys } from '../slots.js'
import type { BatchOutcome, BoundStatement, ImportOutcome, Outcome } from '../writeData.js'
import { hasLongRowsSql, managedSource } from './dialect.js'
import { bindLists, preparer, type ReadTask, type reader } from './reader.js'
import { searchTable } from './schema.js'
import { DeadlineExceeded } from './search.js'
import type { Readers } from './thread.js'
import { CommitUncertain, refusedBy, type WriteQueue, type Written } from './writes.js'

/** Errors of disks and files, which are not the client's fault and may pass. */
const transient = /^SQLITE_(IOERR|FULL|READONLY|CANTOPEN|PROTOCOL|CORRUPT|NOTADB|NOMEM|INTERRUPT)/

/** The schema is not as a statement expects; `indexed by` an index of other expressions has no query solution. */
const mismatch = /no such (?:table|column|index)|has no column named|no query solution/

export const storageError = (error: Error & { code?: string }, table: string): Error => {
  const { name, message, code = '' } = error
  if (error instanceof Unavailable || error instanceof OutcomeUnknown) return error
  // By name, because an error that crossed threads has lost its class.
  if (name === DeadlineExceeded.name) return new TimedOut('the read exceeded its time limit', { cause: error })
  if (name === CommitUncertain.name) return new OutcomeUnknown(message, { cause: error })
  // SQLite locks the whole file.
  if (/^SQLITE_(?:BUSY|LOCKED)/.test(code)) return new Locked(`${table}: ${message}`, { cause: error })
  if (code === 'SQLITE_ERROR' && mismatch.test(message)) return new TableChanged(message, { cause: error })
  const isTransient =
    transient.test(code) || message === 'The database connection is not open' || message.startsWith('the database file')
  return isTransient ? new Unavailable(message, { cause: error }) : error
}

export const commitCounter = (database: Database) => {
  // SQLite changes this number when another connection has committed.
  const dataVersion = database.prepare('pragma data_version').pluck()
  // One check serves all requests of a tick: each of them arrived before it.
  const isFirstLook = oncePerTick()
  let last: unknown
  let count = 0
  return {
    /** Stays the same until something is committed: what was read before then still holds. */
    count(): number {
      if (!isFirstLook()) return count
      const now = dataVersion.get()
      if (now !== last) count++
      last = now
      return count
    },
    /** To be called after a commit of this process. */
    committed(): void {
      count++
    },
  }
}

type CommitCounter = ReturnType<typeof commitCounter>

export interface Connection {
  readonly database: Database
  /** Reads in this thread. */
  readonly read: ReturnType<typeof reader>
  readonly readers: Readers
  readonly writes: WriteQueue
  readonly commits: CommitCounter
}

/** The state of a table; read again after each commit. */
const stateReader = ({ database, commits }: Connection, resource: Resource): (() => TableState) => {
  const { state: stateSql, from } = managedSource(resource)
  const sql = `select version, ${hasLongRowsSql(resource)}, total,
    (select min(id) from ${from}), (select max(id) from ${from}) from (${stateSql})`
  let seenCount = -1
  let state: TableState
  return () => {
    const count = commits.count()
    if (count !== seenCount) {
      try {
        const row = preparer(database)(sql).raw().safeIntegers().get() as unknown[] | undefined
        if (!row) throw new TableChanged(`its row in ${countsTable} is missing`)
        const [version, hasLongRows, total, first, last] = row as [string, bigint, bigint, bigint, bigint]
        const isDense = typeof first === 'bigint' && last - first + 1n === total
        state = { version, hasLongRows: hasLongRows === 1n, denseIds: isDense ? [first, last] : undefined }
      } catch (error) {
        throw storageError(error as Error, resource.table)
      }
    }
    seenCount = count
    return state
  }
}

/** The outcome of a write; throws if it has failed for another reason than its values. */
export const outcomeOf = (written: Written): AnyOutcome<Buffer> => {
  if (!('error' in written)) return withBuffers(written)
  const refused = refusedBy(written.error)
  if (refused) return { refused }
  throw Object.assign(new Error(written.error.message), written.error)
}

export const readTask = (
  resource: Resource,
  { statement, values }: BoundStatement,
  search: Purpose['search'],
): ReadTask => ({
  sql: statement.sql,
  values: bindLists({ statement, values }),
  search: search?.text ?? '',
  index: search?.isIndexed ? searchTable(resource) : undefined,
})

export const runnerFor = (connection: Connection, resource: Resource): Runner => {
  const { readers, writes } = connection
  const { path } = resource
  const state = resource.existing ? undefined : stateReader(connection, resource)
  const commit = async (plan: AnyPlan): Promise<AnyOutcome<Buffer>> => {
    try {
      return outcomeOf(await writes.write(plan))
    } catch (error) {
      throw storageError(error as Error, resource.table)
    }
  }
  return {
    async read(statement, values, { caller, search, isShort = false, isBegun = false, ...timed } = {}) {
      const read = readTask(resource, { statement, values }, search)
      try {
        // The rows of a view may take long to compute.
        if (isShort && state) return connection.read(read, Number.MAX_VALUE) as Cell[][]
        // Not by what others took: one that turns out to be slow begins again as that.
        const isLong = timed.isScan === true || (isBegun && timed.values !== undefined)
        const keys = latencyKeys(statement.name, timed).slice(0, 1)
        const task = { table: path, caller, keys, isLong, isBegun }
        return (await readers(task, read)) as Cell[][]
      } catch (error) {
        throw storageError(error as Error, resource.table)
      }
    },
    write: async (plan) => (await commit(plan)) as Outcome,
    import: async (plan) => (await commit(plan)) as ImportOutcome,
    batch: async (plan) => (await commit(plan)) as BatchOutcome,
    ...(state && {
      version: async () => state().version,
      state: async () => state(),
    }),
  }
}
