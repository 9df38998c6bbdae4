/** The seam between the shared storage code and a database: what a dialect provides for the table of one resource. */
import type { Plan } from './plan.js'
import type { Caller, Table } from './storage.js'

/** A body, and the version of the table that it was read from. */
export interface VersionedBody {
  readonly version: string
  readonly body: Buffer
}

export interface TableDialect extends Pick<Table, 'conflicts' | 'create'> {
  /** Changes with the shape of the rows: the same rows in another shape are another response. */
  readonly shape: string
  /** The current version of the table: changes with every change to it, whoever made it. */
  version(): Promise<string>
  /** Whether the search index can find a text, whose case is folded. */
  isIndexed(text: string): boolean
  /** The page of a plan; never one that finds nothing. */
  page(plan: Plan, caller?: Caller): Promise<VersionedBody | { readonly body: AsyncIterable<Uint8Array> }>
  /** The row with this id, if there is one. */
  row(id: number, caller?: Caller): Promise<VersionedBody | undefined>
}
