/** What a database provides to serve a table that has nothing but its columns. */
import type { Knex } from 'knex'
import { type Field, type Resource, searchedFields } from '../../descriptor/registry.js'
import type { Statement } from '../bindings.js'
import type { Plan } from '../plan.js'
import type { ReferrerSql } from '../referencing.js'
import { quoted } from '../schema.js'
import type { Caller } from '../storage.js'
import type { Outcome, Write } from '../write.js'

/** How the values of a column are read and written: SQL of the column, and SQL with a `?` for the value. */
export interface ColumnSql {
  readonly read: string
  readonly write: string
}

/** The SQL of a database. */
export interface PlainSql extends ReferrerSql {
  /** The column of a field, by the type that the database has for it. */
  columnSql(field: Field, type: string): ColumnSql
  /** The condition that a row has an id. */
  hasId(column: string): string
  /** The JSON of a row. */
  rowJson(resource: Resource): string
  /** What a field is ordered and compared by, and that in the form which its kind reads. */
  sortKey(field: Field): string
  keyText(field: Field, key: string): string
  /** The type of a parameter, where the database cannot infer it. */
  typeOf(field: Field): string | undefined
  /** A table with one more column `_text`, in which a search looks; and the condition that it finds the text. */
  withText(source: string, resource: Resource): Knex.Raw
  contains(search: string): Knex.Raw
  /** Whether an index finds a folded text. */
  isIndexed(text: string): boolean
  /** A condition that ends a read which takes too long, where the database does not do so itself. */
  readonly inTime?: string
  /** Whether an insert returns the id of its row. */
  readonly returnsIds: boolean
  /** The values that a search binds. */
  searchValues(search: string): Readonly<Record<string, unknown>>
  /** What is bound for the values of a list. */
  bindList(values: readonly unknown[]): unknown
}

/** A quoted name for knex, to which a question mark is a parameter. */
export const escapedName = (name: string): string => quoted(name).replaceAll('?', '\\?')

/** The text fields of a row that have a value, joined by a space. */
export const joinedText = (resource: Resource): string => {
  const names = searchedFields(resource).map(({ name }) => quoted(name))
  return `concat_ws(' ', ${names.join(', ') || "''"})`
}

/** The value of a row as the driver returns it. */
export type Cell = string | number | bigint | Uint8Array | null

/** What a read is for. */
export interface Purpose {
  readonly caller?: Caller | undefined
  readonly plan?: Plan
}

/** Runs the statements of one table. */
export interface PlainRunner {
  read(statement: Statement, values: Readonly<Record<string, unknown>>, purpose?: Purpose): Promise<Cell[][]>
  write(write: Write): Promise<Outcome>
  /** Only where keys are stored. */
  hasKey?(key: string): Promise<boolean>
}
