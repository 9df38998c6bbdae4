/** The interface between the shared storage code and a database: what a dialect provides for one resource. */
import type { Plan } from './plan.js'
import type { Caller, Table, ValueCounts } from './storage.js'

/** A body, and the version of the table that it was read from. */
export interface VersionedBody {
  readonly version: string
  readonly body: Buffer
}

/** Some of the rows of a stream, each JSON and a line feed. */
export interface StreamPart {
  readonly rows: Uint8Array
  /** The id after which the next part begins; undefined at the end. */
  readonly last: bigint | undefined
}

/** A part of a stream ends when it has this many bytes; a download holds two parts while its client does not read. */
export const partBytes = 32 * 1024

/** Excerpts of texts have this many characters. */
export const excerptLength = 200

/** How many values of a field are returned with their counts, and the longest text among them, in bytes. */
export const mostValues = 12
export const longestValue = 400

export interface TableDialect extends Pick<Table, 'hasKey' | 'conflicts' | 'write' | 'excerpts'> {
  /** A digest of the rows' shape, which is part of the tag: the same rows in another shape are a different response. */
  readonly shape: string
  /** The current version of the table: changes with every change to it, whoever made it. */
  version(): Promise<string>
  /** Whether the search index can find a text, whose case is folded. */
  isIndexed(text: string): boolean
  /** The page of a plan; never one that finds nothing. */
  page(plan: Plan, caller?: Caller): Promise<VersionedBody | { readonly body: AsyncIterable<Uint8Array> }>
  /** The matching rows after an id. */
  part(plan: Plan, after: bigint, caller?: Caller): Promise<StreamPart>
  /** The most frequent values among matching rows; never of a plan that finds nothing. */
  valueCounts(plan: Plan, fields: readonly string[], share: number, caller?: Caller): Promise<ValueCounts>
  /** The row with this id, if there is one. */
  row(id: number, caller?: Caller): Promise<VersionedBody | undefined>
}
