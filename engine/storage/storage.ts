/** Where rows live, as the rest of the engine sees it: nothing here says which database it is. */
import type { Resource, RowValues } from '../descriptor/registry.js'

/** What a list is asked for. */
export interface ListQuery {
  readonly limit: number
  /** As large as the client likes; past the end is an empty page. */
  readonly offset: bigint
  /** Text to search for, trimmed; empty searches nothing. */
  readonly q: string
  /** The values of the filters that were given, by field. */
  readonly filters: Readonly<Record<string, string | bigint>>
}

/** What was read: JSON that the database wrote, and the tag of the table's state that it was written from. */
export interface CachedBody {
  readonly tag: string
  readonly body: Buffer
}

/** Why a row cannot be stored: a reference to nothing, or a value that is taken. */
export interface Conflict {
  readonly type: 'reference' | 'unique'
  readonly field: string
}

/** What makes a create safe to send again: within a day the same key and digest are answered with the row they made. */
export interface Retry {
  readonly key: string
  /** Of the request: another digest under the same key is another request. */
  readonly digest: string
}

/** The row as it was stored, now or by the same request before; or why it was not: conflicts, or a key used for another. */
export type Creation =
  | { readonly id: number; readonly body: Buffer; readonly replayed: boolean }
  | { readonly conflicts: readonly Conflict[] }
  | { readonly mismatch: true }

/** The rows of one resource. */
export interface Table {
  /** Another after every change to the table, whoever made it; the same in every process. */
  tag(): Promise<string>
  /** The page and its meta, ready to send. */
  list(question: ListQuery): Promise<CachedBody>
  /** The row with this id, where there is one. */
  get(id: number): Promise<CachedBody | undefined>
  /** What stands against storing such a row; fields that are missing from it are not looked at. */
  conflicts(row: RowValues): Promise<readonly Conflict[]>
  /** Stores the row, durably and together with what a retry needs, or tells why not. */
  create(row: RowValues, retry?: Retry): Promise<Creation>
}

/** Some rows of one resource. */
export interface Batch {
  readonly resource: Resource
  readonly rows: readonly RowValues[]
}

export interface Storage {
  table(resource: Resource): Table
  /** How many rows each resource has. */
  counts(): Promise<ReadonlyMap<Resource, number>>
  /** Stores whole rows that are known to be sound, in one transaction. */
  load(resource: Resource, rows: Iterable<RowValues>): Promise<void>
  /** Whole rows after an id, in the order of their ids and with what is redacted: for copies, never for answers. */
  rows(resource: Resource, after: number, count: number): Promise<RowValues[]>
  /** Stores whole rows of any resources in one transaction; what they refer to need only be there at its end. */
  fill(batches: AsyncIterable<Batch>): Promise<void>
  /** Resolves when the database answers. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** The database cannot be used as it is; the message is for whoever starts the service. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
}

/** The database does not take part at the moment; the same request may succeed later. The message is for the log. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'
}
