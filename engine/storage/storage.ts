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

/** Why a row cannot be stored: a reference to nothing, or a value that is taken. */
export interface Conflict {
  readonly type: 'reference' | 'unique'
  readonly field: string
}

export type Creation = { readonly id: number; readonly body: Buffer } | { readonly conflicts: readonly Conflict[] }

/** The rows of one resource; every body is JSON that the database wrote. */
export interface Table {
  /** The page and its meta, ready to send. */
  list(question: Question): Promise<Buffer>
  get(id: number): Promise<Buffer | undefined>
  /** What stands against storing such a row; fields that are missing from it are not looked at. */
  conflicts(row: RowValues): Promise<Conflict[]>
  /** Stores the row, durably, or tells why not. */
  create(row: RowValues): Promise<Creation>
}

export interface Storage {
  table(resource: Resource): Table
  /** Resolves when the database answers. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** The database cannot be used as it is; the message is for whoever starts the service. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
}
