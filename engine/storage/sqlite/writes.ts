/** Writes that share a commit: all that arrive during one share the next. Each is checked and made by itself, and all become durable with one sync. */
import type { Database } from 'better-sqlite3'
import { batchPerTick } from '../../process/batchPerTick.js'
import type { Cell } from '../dialect.js'
import { OutcomeUnknown, RowRefused } from '../failures.js'
import { stepsOf } from '../makeWrite.js'
import { runAtOnce } from '../walk.js'
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
import { type Executor, WorkerDied } from './thread.js'

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

/** The outcome of a batch one of whose writes the database refuses. */
const failedBatch = ({ writes }: BatchPlan, error: Failure): Written => {
  const { message, code, operation = 0 } = error
  const failed = (outcome: Outcome<Cell>): Written => ({ operation, outcome, isUndone: true })
  if (writes[operation]?.kind === 'delete' && isReferenced(error)) return failed({ referencing: [] })
  const refused = error instanceof RowRefused ? error.refused : refusedBy({ message, code })
  return refused ? failed({ refused }) : { error: { message, code } }
}

/**
 * Makes writes. What commits throws CommitUncertain where the outcome is unknown, and any other error where nothing was stored.
 * `checkFile` throws where the file is no longer at its path.
 */
export const writer = (database: Database, checkFile: () => void) => {
  const ask = askOn(database)
  // Within a transaction this is a savepoint, so a failed write undoes only itself.
  const make = database.transaction((plan: QueuedWrite): Written => {
    const outcome: Written = runAtOnce<Written>(stepsOf(plan), ask)
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
    checkFile()
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
  return {
    /** Makes some writes in one transaction. */
    makeAll,
    /** Makes one within a transaction; throws if that has ended. */
    make: tryToMake,
    commit,
  }
}

export type Writer = ReturnType<typeof writer>

interface Pending {
  readonly write: QueuedWrite
  readonly since: number
  readonly resolve: (written: Promise<Written>) => void
}

/** The most characters of text in one commit; a worker has little memory. */
const maxCommitLength = 4 * 1024 * 1024

/** A write with more text than this is long: the search index of a megabyte takes 0.2 to 1 s. */
const longWrite = 64 * 1024

const textLength = (write: QueuedWrite): number => {
  const parts = write.kind === 'import' ? write.groups : write.kind === 'batch' ? write.writes : [write]
  const changes = parts.map(({ change }) => change)
  const values = changes.flatMap((change) => Object.values(change.values))
  return values.reduce((sum: number, value) => sum + (typeof value === 'string' ? value.length : 8), 0)
}

/** The writer starts after this many milliseconds even without a write: a thread that starts later may find its file moved. */
const startDelay = 1_000

export const writeQueue = (writer: Executor, onCommit: () => void) => {
  let pending: Pending[] = []
  let committing: Promise<void> | undefined

  /** As many of the pending writes as one commit takes, one long one among them: short writes wait for no second one. */
  const nextBatch = (): Pending[] => {
    let length = 0
    let hasLong = false
    const batch: Pending[] = []
    const later: Pending[] = []
    for (const item of pending) {
      const added = textLength(item.write)
      const isLong = added > longWrite
      if (batch.length > 0 && (length + added > maxCommitLength || (isLong && hasLong))) later.push(item)
      else {
        batch.push(item)
        length += added
        hasLong ||= isLong
      }
    }
    pending = later
    return batch
  }
  const run = (writes: () => readonly QueuedWrite[]): Promise<Written[]> =>
    writer.run<Written[]>(writes).catch((error: Error) => {
      // The worker may have committed before it died.
      throw error instanceof WorkerDied ? new OutcomeUnknown(error.message, { cause: error }) : error
    })
  const commitAll = async (): Promise<void> => {
    while (pending.length > 0) {
      let batch: readonly Pending[] = []
      // Only when the thread begins: a write that arrives during a transaction waits for no other transaction.
      const commit = run(() => {
        batch = nextBatch()
        const now = performance.now()
        return batch.map(({ write, since }) => ({ ...write, waitedMs: now - since }))
      }).finally(onCommit)
      await commit.catch(() => {})
      if (batch.length === 0) batch = nextBatch()
      for (const [index, { resolve }] of batch.entries()) resolve(commit.then((written) => written[index] as Written))
    }
    committing = undefined
  }
  const add = batchPerTick<Pending>((items) => {
    pending.push(...items)
    committing ??= commitAll()
  })
  const starting = setTimeout(() => void run(() => []).catch(() => {}), startDelay)
  starting.unref()
  return {
    write: (write: QueuedWrite) => new Promise<Written>((resolve) => add({ write, since: performance.now(), resolve })),
    async close(): Promise<void> {
      clearTimeout(starting)
      await committing
      await writer.close()
    },
  }
}

export type WriteQueue = ReturnType<typeof writeQueue>
