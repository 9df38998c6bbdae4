/** Writes that share a commit: each is checked and stored by itself, and all become durable with one sync. */
import type { Database } from 'better-sqlite3'
import { parseConflicts } from '../conflicts.js'
import { replayOf, type StoredKey } from '../keys.js'
import type { Conflict, Retry } from '../storage.js'
import type { KeySql } from './keys.js'
import { preparer } from './prepared.js'

/** A statement and its values. */
interface Bound {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** A row to store, as statements and values: the writer knows nothing of resources. */
export interface Write {
  readonly conflicts: Bound
  readonly insert: Bound
  /** Reads the row by its id, as a version and a body. */
  readonly read: string
  readonly retry: (Retry & { readonly sql: KeySql }) | undefined
  /** How long it has waited for other commits, in milliseconds. */
  readonly waitedMs?: number
}

/** The outcome of a write; an error means that it was not stored. */
export type Written =
  | { readonly id: number; readonly body: Uint8Array; readonly replayed: boolean }
  | { readonly mismatch: true }
  | { readonly conflicts: readonly Conflict[] }
  | { readonly error: { readonly message: string; readonly code: string | undefined } }

/** The sync of a commit failed, or its file vanished: whether the rows were stored is unknown. */
export class CommitUncertain extends Error {
  override readonly name = 'CommitUncertain'
}

const uncertain = (error: unknown): CommitUncertain => new CommitUncertain((error as Error).message)

/**
 * Makes the function that stores some writes in one transaction. It throws CommitUncertain where the outcome is unknown, and
 * any other error where nothing was stored. `checkFile` throws where the file is no longer at its path.
 */
export const writer = (database: Database, checkFile: () => void): ((writes: readonly Write[]) => Written[]) => {
  const prepare = preparer(database)
  // Within a transaction this is a savepoint, so a failed write undoes only itself.
  const store = database.transaction(({ conflicts, insert, read, retry }: Write): Written => {
    const stored = retry && (prepare(retry.sql.find).get(retry.key) as StoredKey<Uint8Array> | undefined)
    if (stored) return replayOf(stored, retry)
    const found = prepare(conflicts.sql).raw().get(conflicts.values) as [string]
    if (found[0] !== '') return { conflicts: parseConflicts(found[0]) }
    const id = Number(prepare(insert.sql).run(insert.values).lastInsertRowid)
    const [, body] = prepare(read).raw().get(id) as [string, Buffer]
    if (retry) {
      prepare(retry.sql.prune).run()
      prepare(retry.sql.store).run(retry.key, retry.digest, id, body)
    }
    return { id, body, replayed: false }
  })
  const tryToStore = (write: Write): Written => {
    try {
      return store(write)
    } catch (error) {
      // An error such as a full disk ends the whole transaction.
      if (!database.inTransaction) throw error
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
  return (writes) => {
    database.exec('begin immediate')
    try {
      const written = writes.map(tryToStore)
      checkFile()
      commit()
      return written
    } finally {
      if (database.inTransaction) database.exec('rollback')
    }
  }
}
