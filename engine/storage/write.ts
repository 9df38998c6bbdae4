/** A change of one row as data, and its outcome: the same for every kind of write and every database. */
import { createHash } from 'node:crypto'
import type { OnDelete } from '../descriptor/fields.js'
import type { RowId } from '../descriptor/integers.js'
import type { RowValues } from '../descriptor/registry.js'
import { buildOnce } from './bindings.js'

/** For 24 hours, a write with the same key and digest changes nothing and has the outcome of the first one. */
export interface IdempotencyKey {
  readonly key: string
  /** The digest of the request; the same key with another digest is a mistake of the client. */
  readonly digest: string
}

interface Common {
  readonly idempotencyKey?: IdempotencyKey | undefined
}

/** A change of an existing row; with `ifMatch` only while the row has one of these tags. */
interface Existing extends Common {
  readonly id: RowId
  readonly ifMatch?: readonly string[] | undefined
}

export type Write =
  | ({ readonly kind: 'insert'; readonly values: RowValues } & Common)
  /** `stamps` are the values that are set only if one of `values` changes the row. */
  | ({ readonly kind: 'update'; readonly values: RowValues; readonly stamps: RowValues } & Existing)
  | ({ readonly kind: 'delete' } & Existing)

/** Why a row cannot be stored: its reference names no row, or its unique value is taken. */
export interface Conflict {
  readonly type: 'reference' | 'unique'
  readonly field: string
}

/** Rows that reference the row of a delete, or one that is deleted with it, and what the delete does to them. */
export interface Referencing {
  readonly resource: string
  readonly field: string
  readonly onDelete: OnDelete
  readonly count: number
}

/** Why the database refuses a value, although the descriptor allows it. */
export interface Refused {
  /** The constraint as the database names it, if it does. */
  readonly constraint?: string | undefined
  readonly column?: string | undefined
  /** Completes the sentence "The database refuses the row: …". */
  readonly reason: string
}

export type Outcome<B = Buffer> =
  /** The row as it is now; empty after a delete. `replayed` if an earlier write with the same key has made the change. */
  | { readonly id: RowId; readonly body: B; readonly replayed: boolean }
  | { readonly conflicts: readonly Conflict[] }
  | { readonly refused: Refused }
  /** The key belongs to another request. */
  | { readonly mismatch: true }
  | { readonly isMissing: true }
  /** The row has another tag; its JSON as it is. */
  | { readonly current: B }
  /** Rows with `restrict` prevent the delete, or there are too many others. */
  | { readonly referencing: readonly Referencing[] }

/** The tag of a row: a digest of its JSON, so that it changes with this row alone. */
export const rowTag = (body: Uint8Array): string => createHash('sha256').update(body).digest('base64url').slice(0, 22)

export interface StoredKey<B> {
  readonly digest: string
  readonly id: RowId
  readonly body: B
}

/** The outcome of a write whose key is stored: that of the same request, or a mismatch. */
export const replayed = <B>({ digest, id, body }: StoredKey<B>, given: IdempotencyKey): Outcome<B> =>
  digest === given.digest ? { id, body, replayed: true } : { mismatch: true }

export const rememberUpdates = <T extends object>(
  make: (names: readonly string[], stamps: readonly string[]) => T,
): typeof make => {
  const once = buildOnce<T>()
  return (names, stamps) => once(`${names} ${stamps}`, () => make(names, stamps))
}
