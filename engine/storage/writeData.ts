/** Writes as data: of a row, of many rows and of several tables; what is asked, its plan of statements, and its outcome. */
import type { OnDelete } from '../descriptor/options.js'
import type { Resource, RowId, RowValues } from '../descriptor/registry.js'
import type { Statement, Values } from './sql.js'

/** For 24 hours, a write with the same key and digest changes nothing and has the outcome of the first one. */
export interface IdempotencyKey {
  readonly key: string
  /** The digest of the request; the same key with another digest is a mistake of the client. */
  readonly digest: string
}

interface Common {
  readonly idempotencyKey?: IdempotencyKey | undefined
  /** The name of the caller, for the history of the row. */
  readonly by?: string | undefined
}

/** A change of an existing row; with `ifMatch` only while the row has one of these tags. */
interface Existing extends Common {
  readonly id: RowId
  readonly ifMatch?: readonly string[] | undefined
}

export type Write =
  /** `sent` are the fields that the client sent; by default all. `id` is that of a row which is created again. */
  | ({
      readonly kind: 'insert'
      readonly values: RowValues
      readonly sent?: readonly string[]
      readonly id?: RowId | undefined
    } & Common)
  /**
   * `stamps` are the values that are set only if one of `values` changes the row; `unchanged` is the tag that the row must have with
   * the fields that are hidden from the caller.
   */
  | ({
      readonly kind: 'update'
      readonly values: RowValues
      readonly stamps: RowValues
      readonly unchanged?: string | undefined
    } & Existing)
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
  /** The row has changed since its rules were asked; its JSON as it is. */
  | { readonly changed: B }
  /** Rows with `restrict` prevent the delete, or there are too many others. */
  | { readonly referencing: readonly Referencing[]; readonly isTooMany?: boolean }
  /** The caller may read the row, but not change it, or not to what it would be. */
  | Forbidden

export interface Forbidden {
  readonly isForbidden: true
  readonly isUndone: true
}

export interface BoundStatement {
  readonly statement: Statement
  readonly values: Values
}

/**
 * The statements along the references of a rule: each returns the ids that the rows with `$ids` reference, and all but the first, which
 * reads the rows that are written, lock these rows.
 */
export type PathLock = readonly Statement[]

/** How a write locks what the rules of its caller depend on; without locks where there is only one writer. */
export interface PathLocks {
  readonly locks: readonly PathLock[]
  /** Waits for other such writes to end, where they would lock the same rows in another order. */
  readonly turn?: Statement | undefined
  /** Finds `$id`, whoever may see it. */
  readonly exists: Statement
}

/** A reference to rows that a delete may remove, with its statements; as plain data, which can be sent to a thread. */
export interface Referrer {
  readonly resource: string
  readonly field: string
  readonly target: string
  readonly onDelete: OnDelete
  /** The ids of the rows that reference one of `$ids`, up to `maxFound`, and their number; those of `$deleted` only if they are to be deleted. */
  readonly find: Statement
  readonly count: Statement
  /** The same of the rows that the caller may read, if not all. */
  readonly shown?: { readonly find: Statement; readonly count: Statement }
  /** Sets the references of these rows to null, and what an update of them sets. */
  readonly clear?: Statement
  /** Deletes the rows with `$ids`. */
  readonly remove?: Statement
  readonly stamps: Values
}

/** What references a row that is to be deleted, whether that prevents it, and the statements that precede it if not. */
export interface Referenced {
  /** Only what the caller may read, reached through rows that it may read. */
  readonly referencing: readonly Referencing[]
  /** Whether the caller sees that more rows are concerned than a delete may concern. */
  readonly isTooMany: boolean
  readonly isPrevented: boolean
  readonly changes: readonly BoundStatement[]
}

/** Where and how idempotency keys are stored, if they are. */
export interface KeyStatements {
  /** The digest and the body that were stored with `$key`. */
  readonly find: Statement
  /** Stores `$key` and `$digest`, with the `body` of the row. */
  readonly store: Statement
  /** Deletes the keys that have expired, unless the database does so itself. */
  readonly prune?: Statement
}

/** `clear` is there where what `set` tells outlasts the transaction. */
export interface CallerPlan {
  readonly set: BoundStatement
  readonly clear?: BoundStatement | undefined
}

/** A write as statements and values: plain data, which can be sent to a thread. */
export interface WritePlan {
  /** Tells the database who writes, and forgets it. */
  readonly caller?: CallerPlan | undefined
  readonly kind: Write['kind']
  readonly path: string
  readonly id?: RowId
  readonly ifMatch?: readonly string[] | undefined
  readonly unchanged?: string | undefined
  /** Returns the JSON of the row, whether the write would change it, and its JSON with the fields that the caller does not see. */
  readonly current?: BoundStatement
  /** Only where rules follow references. */
  readonly pathLocks?: PathLocks
  /** Finds `$id` if it is one of the rows that the caller may write. */
  readonly allowed?: BoundStatement | undefined
  readonly conflicts?: BoundStatement
  /** Why the row is not stored, if that is known already. */
  readonly refused?: Refused
  /** An insert returns the id of the row. */
  readonly change: BoundStatement
  /** Reads `$id` after the change: triggers of other programs may have changed it too. */
  readonly read: BoundStatement
  /** Whether a row that cannot be read afterwards is one that the caller may not read. */
  readonly isRestricted?: boolean
  readonly referrers?: readonly Referrer[]
  /** The values of the caller's rules. */
  readonly scope?: Values
  readonly beforeDelete?: readonly Statement[]
  readonly key?: { readonly given: IdempotencyKey; readonly statements: KeyStatements }
  /** Does everything that a create needs; see `createdBy`. */
  readonly create?: BoundStatement
}

/** A row as it is to be: a new one, the changes of the row with an id as it was read, or one that stays as it is. */
export type ImportedRow =
  /** `unsent` are the references that the client left to their defaults. */
  | { readonly kind: 'insert'; readonly values: RowValues; readonly unsent?: readonly string[] }
  | {
      readonly kind: 'update'
      readonly id: RowId
      readonly tag: string
      readonly values: RowValues
      readonly stamps: RowValues
    }
  | { readonly kind: 'keep'; readonly id: RowId; readonly tag: string }

export interface Import {
  readonly rows: readonly ImportedRow[]
  /** Whether to store the rows, to store them and undo it, or only to look for conflicts. */
  readonly mode: 'store' | 'dryRun' | 'check'
  /** The ids of rows that the same transaction creates: others may refer to them, in any order. */
  readonly created: { has(id: string): boolean }
  readonly idempotencyKey?: IdempotencyKey | undefined
  /** The name of the caller, for the history of the rows. */
  readonly by?: string | undefined
}

/** Why a row cannot be stored, and its place. */
export type RowConflict = (Conflict | Refused) & { readonly row: number }

export type ImportOutcome<B = Buffer> =
  /** What was stored, or would be: then the transaction is undone. */
  | { readonly body: B; readonly replayed: boolean; readonly isUndone?: boolean }
  | { readonly conflicts: readonly RowConflict[] }
  /** A row has changed since it was read. */
  | { readonly isStale: true }
  | { readonly mismatch: true }
  | { readonly refused: Refused }
  | Forbidden

/** The statements of an import, with all rows as one value; plain data, which can be sent to a thread. */
export interface ImportPlan {
  /** Tells the database who writes, and forgets it. */
  readonly caller?: CallerPlan | undefined
  readonly kind: 'import'
  readonly mode: Import['mode']
  /** Lock the rows that are changed, where `current` cannot. */
  readonly locks?: readonly BoundStatement[]
  /** The rows that are changed or kept: their ids and JSON. */
  readonly current?: BoundStatement
  readonly tags: Readonly<Record<RowId, string>>
  /** References to rows that the transaction creates, as the place of the row and the field. */
  readonly expected: ReadonlySet<string>
  /** Rows that cannot be stored, as is known already. */
  readonly refused: readonly RowConflict[]
  /** Has references checked at the end of the transaction, if there are such. */
  readonly defer?: BoundStatement
  /** For each kind of row: the conflicts, as places and JSON, and the change; inserts return the ids. */
  readonly groups: readonly {
    readonly isInsert: boolean
    readonly rows: number
    readonly conflicts: readonly BoundStatement[]
    /** Takes the ids of the rows before the change, which binds them as `$assigned`. */
    readonly assign?: BoundStatement | undefined
    readonly change: BoundStatement
  }[]
  /** Counts the rows with `$ids`, of a table that may be a view, or has rows that the caller may not read; and the ids of rows that are changed. */
  readonly visible?: BoundStatement
  readonly isRestricted?: boolean
  readonly pathLocks?: PathLocks
  /** Counts those of `$ids` that the caller may create or change, if not all. */
  readonly allowed?: Readonly<Partial<Record<'insert' | 'update', BoundStatement | undefined>>>
  readonly changed: readonly RowId[]
  /** The ids of the rows as JSON; null for one that the database assigns. */
  readonly ids: readonly (string | null)[]
  readonly counts: Readonly<Record<ImportedRow['kind'], number>>
  readonly key?: { readonly given: IdempotencyKey; readonly statements: KeyStatements }
}

/** What a batch is to do. */
export interface WriteBatch {
  readonly writes: readonly { readonly resource: Resource; readonly write: Write }[]
  /** One more write, which is not made because its body is invalid, but looked at for conflicts. */
  readonly check?:
    | {
        readonly resource: Resource
        readonly values: RowValues
        readonly id?: RowId
        readonly sent?: readonly string[] | undefined
      }
    | undefined
  /** Whether the writes are made to see whether they can be, and undone. */
  readonly isUndone?: boolean
  readonly idempotencyKey?: IdempotencyKey | undefined
  /** The name of the caller, for the history of the rows. */
  readonly by?: string | undefined
}

/** A batch as statements; plain data, which can be sent to a thread. */
export interface BatchPlan {
  /** Tells the database who writes, and forgets it. */
  readonly caller?: CallerPlan | undefined
  readonly kind: 'batch'
  readonly writes: readonly WritePlan[]
  /** Finds the conflicts of one more write. */
  readonly check?: BoundStatement | undefined
  readonly isUndone: boolean
  readonly key?: WritePlan['key']
}

export type BatchOutcome<B = Buffer> =
  | { readonly body: B; readonly replayed: boolean }
  /** The write that was not made, and why. */
  | { readonly operation: number; readonly outcome: Outcome<B>; readonly isUndone: true }
  | { readonly mismatch: true }

export const parseConflicts = (joined: unknown): Conflict[] => JSON.parse(`[${String(joined ?? '')}]`) as Conflict[]
