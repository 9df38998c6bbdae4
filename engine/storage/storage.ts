/** Where rows live, as the rest of the engine sees it: nothing here says which database it is. */
import type { Resource, RowValues } from '../descriptor/registry.js'

/** What a list is asked for. */
export interface Question {
  readonly limit: number
  /** As large as the client likes; past the end is an empty page. */
  readonly offset: bigint
  /** Text to search for, trimmed; empty searches nothing. */
  readonly q: string
  /** The values of the filters that were given, by field. */
  readonly filters: Readonly<Record<string, string | bigint>>
}

/** What was read: JSON that the database wrote, and the tag of the table's state that it was written from. */
export interface Reading {
  /** Another after every change to the table, whoever made it; the same in every process. */
  readonly tag: string
  /** Missing where the asker has this state already, or where there is no such row. */
  readonly body: Buffer | undefined
}

/** Whether the asker has the state with this tag already. */
export type Known = (tag: string) => boolean

/** Why a row cannot be stored: a reference to nothing, or a value that is taken. */
export interface Conflict {
  readonly type: 'reference' | 'unique'
  readonly field: string
}

export type Creation = { readonly id: number; readonly body: Buffer } | { readonly conflicts: readonly Conflict[] }

/** The rows of one resource. */
export interface Table {
  /** The page and its meta, ready to send. */
  list(question: Question, known: Known): Promise<Reading>
  get(id: number): Promise<Reading>
  /** What stands against storing such a row; fields that are missing from it are not looked at. */
  conflicts(row: RowValues): Promise<readonly Conflict[]>
  /** Stores the row, durably, or tells why not. */
  create(row: RowValues): Promise<Creation>
}

export interface Storage {
  table(resource: Resource): Table
  /** Stores whole rows that are known to be sound, in one transaction. */
  load(resource: Resource, rows: Iterable<RowValues>): Promise<void>
  /** Resolves when the database answers. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** The database cannot be used as it is; the message is for whoever starts the service. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
}

/** The database does not take part at the moment; the same request may succeed later. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'
}
