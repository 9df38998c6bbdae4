/** Writes that share a commit: each is checked and made by itself, and all become durable with one sync. */
import type { Database } from 'better-sqlite3'
import { makeBatch } from '../batch.js'
import type { Cell } from '../dialect.js'
import { makeImport } from '../makeImport.js'
import { makeWrite, RowRefused } from '../makeWrite.js'
import { runAtOnce, type Walk } from '../walk.js'
import type {
  BatchOutcome,
  BatchPlan,
  BoundStatement,
  ImportOutcome,
  ImportPlan,
  Outcome,
  Refused,
  WritePlan,
} from '../writeData.js'
import { bindLists, preparer } from './reader.js'

/** A write that waits for its commit, and how long it has waited for its turn, in milliseconds. */
export type QueuedWrite = (WritePlan | ImportPlan | BatchPlan) & { readonly waitedMs?: number }

/** The outcome of a write; an error means that it was not made. */
export type Written =
  | Outcome<Cell>
  | ImportOutcome<Cell>
  | BatchOutcome<Cell>
  | { readonly error: { readonly message: string; readonly code: string | undefined } }

/** The sync of a commit failed, or its file vanished: whether the rows were stored is unknown. */
export class CommitUncertain extends Error {
  override readonly name = 'CommitUncertain'
}

/** Ends a savepoint whose changes are not to stay. */
class Undone extends Error {
  readonly outcome: Written

  constructor(outcome: Written) {
    super('the changes are undone')
    this.outcome = outcome
  }
}

const uncertain = (error: unknown): CommitUncertain => new CommitUncertain((error as Error).message)

const foreignKey = 'SQLITE_CONSTRAINT_FOREIGNKEY'

/** What SQLite's message says about a value that a table does not take; undefined for any other error. */
export const refusedBy = ({
  message,
  code = '',
}: {
  message: string
  code?: string | undefined
}): Refused | undefined => {
  const [, rule, what = ''] = /^(CHECK|UNIQUE|NOT NULL|FOREIGN KEY) constraint failed(?:: (.*))?$/s.exec(message) ?? []
  if (code === 'SQLITE_CONSTRAINT_NOTNULL') return { column: what.slice(what.indexOf('.') + 1), reason: message }
  if (rule && code !== 'SQLITE_CONSTRAINT_TRIGGER') return { constraint: what || rule, reason: message }
  return /^SQLITE_(?:CONSTRAINT_DATATYPE|MISMATCH|TOOBIG)$/.test(code) ? { reason: message } : undefined
}

const isReferenced = (error: unknown): boolean => (error as { code?: string }).code === foreignKey

/** Runs the queries of a walk. */
export const askOn = (database: Database) => {
  const prepare = preparer(database)
  return (query: BoundStatement): unknown[][] => {
    const statement = prepare(query.statement.sql)
    const values = bindLists(query)
    if (statement.reader) return statement.raw().safeIntegers().all(values) as unknown[][]
    statement.run(values)
    return []
  }
}

type Failure = Error & { readonly code?: string; readonly operation?: number }

const walkOf = (plan: QueuedWrite): Walk<Written> => {
  if (plan.kind === 'batch') return makeBatch(plan)
  return plan.kind === 'import' ? makeImport(plan) : makeWrite(plan)
}

/** The outcome of a batch one of whose writes the database refuses. */
const failedBatch = ({ writes }: BatchPlan, error: Failure): Written => {
  const { message, code, operation = 0 } = error
  const failed = (outcome: Outcome<Cell>): Written => ({ operation, outcome, isUndone: true })
  if (writes[operation]?.kind === 'delete' && isReferenced(error)) return failed({ referencing: [] })
  const refused = error instanceof RowRefused ? error.refused : refusedBy({ message, code })
  return refused ? failed({ refused }) : { error: { message, code } }
}

/**
 * Makes the function that makes some writes in one transaction. It throws CommitUncertain where the outcome is unknown, and
 * any other error where nothing was stored. `checkFile` throws where the file is no longer at its path.
 */
export const writer = (database: Database, checkFile: () => void): ((writes: readonly QueuedWrite[]) => Written[]) => {
  const ask = askOn(database)
  // Within a transaction this is a savepoint, so a failed write undoes only itself.
  const make = database.transaction((plan: QueuedWrite): Written => {
    const outcome: Written = runAtOnce<Written>(walkOf(plan), ask)
    if ('isUndone' in outcome) throw new Undone(outcome)
    return outcome
  })
  const tryToMake = (write: QueuedWrite): Written => {
    try {
      return make(write)
    } catch (error) {
      // An error such as a full disk ends the whole transaction.
      if (!database.inTransaction) throw error
      if (error instanceof Undone) return error.outcome
      if (write.kind === 'batch') return failedBatch(write, error as Failure)
      // Tables of other programs may reference the row too.
      if (write.kind === 'delete' && isReferenced(error)) return { referencing: [] }
      if (error instanceof RowRefused) return { refused: error.refused }
      const { message, code } = error as Error & { code?: string }
      return { error: { message, code } }
    }
  }
  const commit = (): void => {
    try {
      database.exec('commit')
    } catch (error) {
      // Everything was written, and only the sync failed: after a crash of the machine the rows may be there or not.
      if (/^SQLITE_IOERR_\w*FSYNC$/.test((error as { code?: string }).code ?? '')) throw uncertain(error)
      throw error
    }
    try {
      checkFile()
    } catch (error) {
      throw uncertain(error)
    }
  }
  const makeAll = (writes: readonly QueuedWrite[]): Written[] => {
    database.exec('begin immediate')
    try {
      const written = writes.map(tryToMake)
      checkFile()
      commit()
      return written
    } catch (error) {
      // A deferred foreign key of another program, which the commit checks: of several writes, each is made alone.
      if (!isReferenced(error)) throw error
      database.exec('rollback')
      const [write, ...others] = writes as [QueuedWrite, ...QueuedWrite[]]
      if (others.length > 0) return writes.flatMap((one) => makeAll([one]))
      return [
        write.kind === 'delete'
          ? { referencing: [] }
          : { error: { message: (error as Error).message, code: foreignKey } },
      ]
    } finally {
      if (database.inTransaction) database.exec('rollback')
    }
  }
  return makeAll
}
