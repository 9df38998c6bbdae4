/** The seam between the shared storage code and a database: what a dialect provides for the table of one resource. */
import type { RowValues } from '../descriptor/registry.js'
import type { Conflict, Creation, IsAbandoned, ListQuery, Retry } from './storage.js'

/** A body, and the version of the table that it was read from. */
export interface VersionedBody {
  readonly version: string
  readonly body: Buffer
}

export interface TableDialect {
  /** Changes with the shape of the rows: the same rows in another shape are another response. */
  readonly shape: string
  /** The current version of the table: changes with every change to it, whoever made it. */
  version(): Promise<string>
  /** The page of a query that some row may match. */
  page(
    query: ListQuery,
    isAbandoned?: IsAbandoned,
  ): Promise<VersionedBody | { readonly body: AsyncIterable<Uint8Array> }>
  /** The row with this id, if there is one. */
  row(id: number): Promise<VersionedBody | undefined>
  /** The conflicts that storing the row would meet; missing fields are not checked. */
  conflicts(row: RowValues): Promise<readonly Conflict[]>
  /** Stores the row durably, with its idempotency key, or returns why not. */
  create(row: RowValues, retry?: Retry): Promise<Creation>
}
