/** The interface between the shared storage code and a database: what a dialect provides for one resource. */
import type { RowId } from '../descriptor/integers.js'
import type { ListQuery, Position } from '../descriptor/listQuery.js'
import type { FoundIds, LargePage, Part } from './parts.js'
import type { Plan } from './plan.js'
import type { Caller, CountSize, RowFormat, Table, ValueCounts } from './storage.js'

export interface VersionedBody {
  readonly version: string
  readonly body: Buffer
  /** The position of the last row of a page, if there are more. */
  readonly next?: Position | undefined
}

/** Excerpts of texts have this many characters. */
export const excerptLength = 200

/** The longest text among the values that are counted, in bytes. */
export const maxValueBytes = 400

/** The counts that rows of field, value and count give; the first row has the number of counted rows. */
export const valueCountsFrom = ([total, ...counts]: readonly (readonly unknown[])[], fields: readonly string[]) => {
  const values = new Map(fields.map((name) => [name, [] as [string, number][]]))
  for (const [name, value, count] of counts) values.get(String(name))?.push([String(value), Number(count)])
  return { rows: Number(total?.[2]), values }
}

export interface TableDialect extends Pick<Table, 'hasKey' | 'conflicts' | 'referencing' | 'write' | 'excerpts'> {
  /** The SQL that shapes a row. A digest of it is part of the tag: the same rows in another shape are a different response. */
  readonly shape: string
  /** The current version of the table: changes with every change to it, whoever made it. */
  version(): Promise<string>
  /** Whether the search index can find a text, whose case is folded. */
  isIndexed(text: string): boolean
  /** A page of a plan; never of one that finds nothing, as for the next two. */
  page(plan: Plan, page: ListQuery['page'], caller?: Caller): Promise<VersionedBody | LargePage>
  /** The next matching ids after a position, up to `maxIds`. */
  ids(plan: Plan, after: Position | undefined, caller?: Caller): Promise<FoundIds>
  valueCounts(plan: Plan, fields: readonly string[], size: CountSize, caller?: Caller): Promise<ValueCounts>
  /** The first of some rows, given by their ids, until they have `partBytes` as JSON. */
  part(ids: BigInt64Array, caller?: Caller, format?: RowFormat): Promise<Part>
  row(id: RowId, caller?: Caller): Promise<VersionedBody | undefined>
}
