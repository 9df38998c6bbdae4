/** Writes that share a commit: each is checked and made by itself, and all become durable with one sync. */
import type { Database } from 'better-sqlite3'
import { exactInteger, type RowId } from '../../descriptor/integers.js'
import { parseConflicts } from '../conflicts.js'
import { findReferencing, type Query, type Referrer, runAtOnce } from '../referencing.js'
import { type IdempotencyKey, type Outcome, type Refused, replayed, rowTag, type StoredKey } from '../write.js'
import { bindLists, preparer } from './prepared.js'
import type { Statements } from './statements.js'

interface Bound {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** A write as statements and values: the writer knows nothing of resources. */
export interface BoundWrite {
  readonly id?: RowId
  readonly ifMatch?: readonly string[] | undefined
  /** Finds the conflicts; a delete has none. */
  readonly conflicts?: Bound
  readonly change: Bound
  /** What a delete concerns. */
  readonly referencing?: { readonly path: string; readonly referrers: readonly Referrer[] }
  readonly read: string
  readonly idempotencyKey: (IdempotencyKey & { readonly sql: Statements['keys'] }) | undefined
  /** How long the write has waited for its turn, in milliseconds. */
  readonly waitedMs?: number
}

/** The outcome of a write; an error means that it was not made. */
export type Written =
  | Outcome<Uint8Array>
  | { readonly error: { readonly message: string; readonly code: string | undefined } }

/** The sync of a commit failed, or its file vanished: whether the rows were stored is unknown. */
export class CommitUncertain extends Error {
  override readonly name = 'CommitUncertain'
}

const uncertain = (error: unknown): CommitUncertain => new CommitUncertain((error as Error).message)

const noBody = new Uint8Array()

const foreignKey = 'SQLITE_CONSTRAINT_FOREIGNKEY'

/** What SQLite's message says about a value that a table does not take; undefined for any other error. */
export const refusedBy = ({
  message,
  code = '',
}: {
  message: string
  code: string | undefined
}): Refused | undefined => {
  const [, rule, what = ''] = /^(CHECK|UNIQUE|NOT NULL|FOREIGN KEY) constraint failed(?:: (.*))?$/s.exec(message) ?? []
  if (code === 'SQLITE_CONSTRAINT_NOTNULL') return { column: what.slice(what.indexOf('.') + 1), reason: message }
  if (rule && code !== 'SQLITE_CONSTRAINT_TRIGGER') return { constraint: what || rule, reason: message }
  return /^SQLITE_(?:CONSTRAINT_DATATYPE|MISMATCH|TOOBIG)$/.test(code) ? { reason: message } : undefined
}

const isReferenced = (error: unknown): boolean => (error as { code?: string }).code === foreignKey

/**
 * Makes the function that makes some writes in one transaction. It throws CommitUncertain where the outcome is unknown, and
 * any other error where nothing was stored. `checkFile` throws where the file is no longer at its path.
 */
export const writer = (database: Database, checkFile: () => void): ((writes: readonly BoundWrite[]) => Written[]) => {
  const prepare = preparer(database)
  const ask = (query: Query) => prepare(query.statement.sql).raw().safeIntegers().all(bindLists(query)) as unknown[][]
  const found = ({ sql, values }: Bound): string => (prepare(sql).raw().get(values) as [string])[0]
  const readBody = (read: string, id: RowId): Uint8Array | null =>
    (prepare(read).raw().get(id) as [string, Buffer | null])[1]

  // Within a transaction this is a savepoint, so a failed write undoes only itself.
  const make = database.transaction((write: BoundWrite): Written => {
    const { id: given, ifMatch, conflicts, change, referencing, read, idempotencyKey: key } = write
    const stored = key && (prepare(key.sql.find).get(key.key) as StoredKey<Uint8Array> | undefined)
    if (stored) return replayed(stored, key)
    if (given !== undefined) {
      const current = readBody(read, given)
      if (current === null) return { isMissing: true }
      if (ifMatch && !ifMatch.includes(rowTag(current))) return { current }
    }
    if (referencing && given !== undefined) {
      // Before the cascades of a delete, which would be made and undone.
      const walk = findReferencing(referencing.referrers, referencing.path, given)
      const referenced = runAtOnce(walk, ask)
      if (referenced.isPrevented) return { referencing: referenced.referencing }
      for (const query of referenced.changes) prepare(query.statement.sql).run(bindLists(query))
    }
    const conflicting = conflicts ? found(conflicts) : ''
    if (conflicting !== '') return { conflicts: parseConflicts(conflicting) }
    const { lastInsertRowid } = prepare(change.sql).safeIntegers().run(change.values)
    const id = given ?? exactInteger(String(lastInsertRowid))
    const body = referencing ? noBody : readBody(read, id)
    if (body === null)
      throw Object.assign(new Error('the row would not be one of the view'), { code: 'SQLITE_MISMATCH' })
    if (key) {
      prepare(key.sql.prune).run()
      prepare(key.sql.store).run(key.key, key.digest, id, body)
    }
    return { id, body, replayed: false }
  })
  const tryToMake = (write: BoundWrite): Written => {
    try {
      return make(write)
    } catch (error) {
      // An error such as a full disk ends the whole transaction.
      if (!database.inTransaction) throw error
      // Tables of other programs may reference the row too.
      if (write.referencing && isReferenced(error)) return { referencing: [] }
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
  const makeAll = (writes: readonly BoundWrite[]): Written[] => {
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
      const [write, ...others] = writes as [BoundWrite, ...BoundWrite[]]
      if (others.length > 0) return writes.flatMap((one) => makeAll([one]))
      return [
        write.referencing ? { referencing: [] } : { error: { message: (error as Error).message, code: foreignKey } },
      ]
    } finally {
      if (database.inTransaction) database.exec('rollback')
    }
  }
  return makeAll
}
