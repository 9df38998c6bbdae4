/** What a database says differently, and what a table has beside its columns. */
import type { Column, KindSpec } from '../descriptor/kinds/index.js'
import type { Condition } from '../descriptor/listQuery.js'
import type { Field, Resource, RowId, RowValues } from '../descriptor/registry.js'
import type { Fragment, Sql, Statement, Values } from './sql.js'
import type { Caller } from './storage.js'
import type { BatchOutcome, BatchPlan, ImportOutcome, ImportPlan, Outcome, Refused, WritePlan } from './writeData.js'

/** A value as the driver returns it. */
export type Cell = string | number | bigint | Uint8Array | null

/** How the database is told that `$by` writes; `clear` where that outlasts a transaction. */
export interface CallerStatements {
  readonly set: Statement
  readonly clear?: Statement
}

export interface Dialect {
  /** SQL as a statement of this database. */
  compile(sql: Fragment): Statement
  columnOf(spec: KindSpec): Column
  /** A JSON object without its last brace; `isPlain` if its last member is no object. */
  openObject(json: Fragment, isPlain: boolean): Sql
  /** A number of the log as the API serves it, where that differs. */
  servedNumber?(text: string): string
  /** A member of a JSON object, by its name as SQL, as JSON text; null if it has none. */
  jsonMember(json: string, name: string): string
  /** What a field is ordered and compared by, and that in the form which its kind reads. */
  sortKey(field: Field): string
  keyText(field: Field, key: string): string
  /** The type of a parameter, or of a list of such values, where the database cannot infer it. */
  typeOf(field: Field, isList?: boolean): string | undefined
  /** The condition, after a column, that it has one of the values of a list, or of a query. */
  isIn(list: Fragment): Sql
  isAmong(query: Fragment): Sql
  bindList(values: readonly unknown[]): unknown
  /** What else is true of rows that match a condition, if an index has only such rows. */
  indexPredicate?(field: Field, condition: Condition): string | undefined
  /** A column that no index is used for. */
  withoutIndex(column: string): string
  /** Joins tables that are read in their order, where the database can be told. */
  readonly orderedJoin?: string
  /** Ends a subquery that is not to be merged with the query around it. */
  readonly fence: string
  /** The condition that a key is not null, as a range of its index. */
  isNotNull(key: string): string
  /** Whether a search needs the test for long texts, if that is another one. */
  isLongSearch(search: string): boolean
  /** The condition that the column `_text` contains the searched text, and the values that a search binds. */
  contains(isLong: boolean): Sql
  searchValues(search: string): Values
  /** The function that makes a JSON array of values. */
  readonly jsonArray: string
  /** A text as bytes, if the driver returns these faster. */
  bytes(text: Fragment): Sql
  /** The exact sum of integers, or of decimals with some places, as one or more sums that each can be added up; and the sum of these. */
  exactSums(value: string, places?: number): readonly string[]
  readSum(sums: readonly bigint[]): bigint
  /** The condition that a text begins with a date. */
  beginsWithDate(text: string): string
  /** A text that is compared and ordered by its code points, whatever the collation of its column. */
  exactText(text: string): string
  /** A condition for the rows of a query that ends a read which takes too long, where the database does not do so itself. */
  readonly inTime?: string
  /** The elements of the JSON array `$rows`, under the alias `_e`, and an element of such an element, of a type if the database needs one. */
  readonly elements: Sql
  element(index: number, type?: string): string
  /** Follows a query whose row is about to be changed. */
  readonly forUpdate: string
  /** The same of rows that only others are not to change, and a statement that lets one transaction at a time go on; where there are several writers. */
  readonly forShare?: string
  readonly takeTurn?: Statement
  /** The same of a row whose id stays, which others may reference meanwhile. */
  readonly forChange: string
  /** The assignment with which entries of the log are told again to those who follow changes, after a comma; where it can be said. */
  readonly tellAgain?: string
  /** Has references checked at the end of the transaction, if their foreign keys allow it. */
  readonly deferReferences: Statement
  readonly callerIs: CallerStatements
}

/** What a managed table has more than its columns; a list is correct without any of it. */
interface Accelerators {
  /** What follows FROM where a row is looked up by its id, under an alias, if that takes no longer than to carry the row along. */
  byId?(alias: string): string
  /** A query of its `version`, which changes with every row, and its `total`, which may be null. */
  readonly state?: string
  /**
   * The condition that finds at least the rows with a searched text by an index, and what precedes the table in FROM for it; undefined if
   * there is none for the text. `id` is the column of this with the ids, if the index has the rows in order of them.
   */
  candidates?(
    search: string,
  ): { readonly from?: Fragment; readonly where: Fragment; readonly id?: string | undefined } | undefined
  /** Counts the rows with a condition whose index has them in order of id, if that is faster than to count them as others. */
  countInOrder?(condition: Fragment): Sql
  /** Whether to compare how many rows each condition finds, because the database has no statistics to choose an index by. */
  readonly isProbed?: boolean
}

/** A condition that rows of a caller satisfy. */
export interface RowCondition {
  /** The field, if it compares one with a single value: its index then has the rows in order of id. */
  readonly field?: string | undefined
  /** The same as tables that precede the table in FROM, and a condition, where the rows are found faster so. */
  readonly join?: { readonly from: Fragment; readonly where: Fragment } | undefined
  sql(isIndexed: boolean): Sql
}

/** The table of a resource, as SQL whose columns are the fields. */
export interface Source extends Accelerators {
  readonly resource: Resource
  /** A row as JSON, as a response shows it. Its columns may be those of the alias `_t`. */
  readonly json: Fragment
  /** What follows FROM. */
  readonly from: Fragment
  /** The text of a row that is searched, and about how many bytes the row has. */
  readonly text: Fragment
  readonly size: Fragment
  /** The rows of it that a caller may read, if not all, and what follows FROM for all; `from` has no others, and a list may find them by their index. */
  readonly rowRule?: RowCondition & { readonly of: Fragment }
  /** A condition that ends a read which takes too long, where the database does not do so itself. */
  readonly inTime?: string
  /**
   * Whether its rows may be on several servers, as those of Citus are. Each query of them is a common table expression that only
   * finds, counts or copies rows, and the rest of a statement uses what these return.
   */
  readonly isSpread?: boolean
  /** Whether its rows can be locked; not where there is only one writer. */
  readonly isLockable?: boolean
  /** Takes `$count` ids for new rows of such a table, if the service has created it: an insert would return them in any order. */
  readonly takeIds?: Statement
  /** What is bound for an id that is a text; null if the column cannot have it. By default the id itself. */
  bindId?(id: RowId): RowId | null
  /** The id that a reference names, as SQL of the type of the ids. By default the reference itself. */
  idOf?(reference: Fragment): Sql
  /** The SQL around a value that is written to a field whose column stores it in another form, and the type of its column if that is not the one of its kind. */
  writtenAs?(field: string): readonly [before: string, after: string] | undefined
  typeOf?(field: string): string | undefined
  /** The first value that its column would round. */
  findRounded?(values: RowValues): Refused | undefined
  /** A value, or a column, as the unique indexes of a field have it: only a query with the same expression can use them. */
  uniqueKey(field: Field, value: Fragment): Fragment
}

/** What a read is for, and what its time depends on. */
export interface Purpose {
  readonly caller?: Caller | undefined
  /** What it searches for, and whether it uses the search index. */
  readonly search?: { readonly text: string; readonly isIndexed: boolean } | undefined
  /** The values that its time depends on, if it may be slow. The same again will take as long. */
  readonly values?: string
  /** Whether it goes through the whole table, which takes the same time whatever it looks for. */
  readonly isScan?: boolean
  /** Whether it may read the whole table, and is slow as long as nothing is known about it. */
  readonly isHeavy?: boolean
  /** Whether it reads few rows by their ids or in their order, so that nobody need wait for it. */
  readonly isShort?: boolean
  /** Whether the response has begun, so that the read is not refused. */
  readonly isBegun?: boolean
}

export interface TableState {
  readonly version: string
  readonly hasLongRows: boolean
  readonly denseIds?: readonly [first: bigint, last: bigint] | undefined
}

/** Runs the statements of one table. */
export interface Runner {
  read(statement: Statement, values: Values, purpose?: Purpose): Promise<readonly (readonly Cell[])[]>
  write(plan: WritePlan): Promise<Outcome>
  import(plan: ImportPlan): Promise<ImportOutcome>
  /** Writes of any tables. */
  batch(plan: BatchPlan): Promise<BatchOutcome>
  /** The current version of the table, if it has one. */
  version?(): Promise<string>
  /**
   * The version again, whether any row may be so long that a page of such rows is sent in parts, and the first and the last id if
   * none between them is missing; without it, there may be such rows.
   */
  state?(): Promise<TableState>
}

/** Runs statements about the engine's own tables, always on the primary server. */
export interface OwnRunner {
  read(statement: Statement, values: Values): Promise<readonly (readonly Cell[])[]>
  /** Runs work in one transaction that writes, which begins again if it has to: nothing that it does elsewhere may depend on its end. */
  transaction<T>(
    work: (run: (statement: Statement, values: Values) => Promise<readonly (readonly Cell[])[]>) => Promise<T>,
  ): Promise<T>
}
