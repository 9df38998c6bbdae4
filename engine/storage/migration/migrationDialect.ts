/** What a database provides for migrations: reading its catalogue, and the SQL of each change. */
import type { KindSpec } from '../../descriptor/kinds/index.js'
import type { Registry, Resource, RowValues } from '../../descriptor/registry.js'
import type { DerivedObject, ObjectName, SchemaDialect } from '../schema.js'
import type { CatalogueColumn, CatalogueTable, TableDefinition } from './catalogue.js'
import type { Difference } from './difference.js'
import type { DatabaseName } from './sqlStatements.js'

export interface Step {
  readonly table: string
  /** What it does; completes the sentence "It will …". */
  readonly about: string
  readonly sql: readonly string[]
  /** What changes in the table, in words for the log of a start; derived objects are not mentioned. */
  readonly changes?: readonly string[]
  /** Whether each statement is committed by itself, so that no lock is held for long; otherwise they are one transaction. */
  readonly isInParts?: boolean
  /** Whether everything derived from the table must be created again afterwards. */
  readonly isRebuilding?: boolean
  /** Whether the service works without it, only more slowly. */
  readonly isOptional?: boolean
  /** Whether it creates an index that other descriptors do not use. */
  readonly isOfSet?: boolean | undefined
  readonly rows?: number
}

export type Execute = <T = unknown>(sql: string, values?: readonly unknown[]) => Promise<T[]>

export interface OwnTable {
  readonly create: readonly string[]
  /** Columns without which the table is another program's. */
  readonly columns?: readonly string[]
}

/** The objects derived from a table, in the order in which they are created. */
export interface DerivedObjects {
  readonly indexes: readonly DerivedObject[]
  /** What maintains the row count, the version and the searched text; recreated together, and then computed from the rows. */
  readonly countTriggers: readonly DerivedObject[]
  /** What writes the log of changes, if the resource has one. */
  readonly logTriggers: readonly DerivedObject[]
}

export interface Reshaping {
  readonly sql: readonly string[]
  /** Whether everything derived from the table must be created again. */
  readonly isRebuilding: boolean
  /** What prevents it, if the database itself would not report an error, and what to do first. */
  readonly differences: readonly Pick<Difference, 'column' | 'message' | 'advice'>[]
}

/** An index of the engine, and the statements that make it again as it is. */
export interface SavedIndex {
  readonly name: string
  readonly sql: readonly string[]
}

/** What a database provides for the files of `migrations/`. */
interface FileDialect {
  readonly name: DatabaseName
  /** Runs work while no other process runs `migrate`; waits for one that does. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /** Runs work in one transaction within a migration; begins again while another transaction has locked `what`. */
  inTransaction(what: string, work: () => Promise<void>): Promise<void>
  /** Whether that begins again because of an error. */
  isRepeated(error: unknown): boolean
  /** Prepares the transaction of a file that names some tables. */
  beforeFile(tables: readonly string[]): Promise<void>
  /** Runs one statement of a file, and leaves its rows unread. */
  runStatement(sql: string): Promise<void>
  /** Checks what the statements have left for the end, and undoes their settings. */
  afterFile(): Promise<void>
  savedIndexes(table: string): Promise<readonly SavedIndex[]>
  /** The statements that convert the values of a column to the kind of a field, in a file. */
  convertColumn(table: string, column: CatalogueColumn, to: KindSpec): string[]
}

export interface MigrationDialect extends SchemaDialect, FileDialect {
  /** Whether tables have objects that maintain totals, versions and searched texts. */
  readonly mode: 'derived' | 'plain'
  /** Identifies the engine's own functions, if the database has any. */
  readonly functionsDigest?: string | undefined
  readonly execute: Execute
  /** The tables and views of the database, without those of the engine. */
  tableNames(): Promise<string[]>
  /** A table; undefined if it does not exist. `isSampled` if kinds that no type says are to be read from its rows. */
  catalogue(table: string, isSampled?: boolean): Promise<CatalogueTable | undefined>
  /** Whether a column of another program's table has values of a kind. */
  isCompatible(type: string, spec: KindSpec): boolean
  /** Makes `isKnownUnused` true for a column, if the catalogue does not show it anyway. */
  rememberUnused(table: string, column: string): string[]
  reshape(current: CatalogueTable, shape: TableDefinition): Reshaping
  countedTables(): Promise<string[]>
  /** Marks a table as the engine's until everything derived from it is created again, if nothing else shows it. */
  markOwned(table: string): string[]
  unmark(table: string): string[]
  /** The SQL that creates the engine's own tables, by name. */
  readonly ownTables: Readonly<Record<string, OwnTable>>
  /** The same of those that only a registry with a log needs. */
  readonly logTables: Readonly<Record<string, OwnTable>>
  /** The statement that makes the log of a table begin anew, where something has changed unseen. */
  resetLog(table: string): string
  /** A query of the names of the members that a JSON column of the log has for a table. */
  memberNames(json: string, table: string): string
  /** The column with one member renamed, or removed; values keep their digits. */
  withMember(json: string, from: string, to: string | null): string
  /** The statement that tells a database from the one it was restored from, where that is to be done now. */
  renewLog?(): Promise<string | undefined>
  /** Creates a trigger, and has it fire whoever writes. */
  createTrigger(resource: Resource, trigger: DerivedObject): readonly string[]
  /** The steps for the engine's own functions, if the database has any. */
  functionSteps?(): Promise<Step[]>
  derivedObjects(resource: Resource, registry: Registry): DerivedObjects
  /** The derived objects of a table; `isCurrent` if one exists, is in use, and was created by the same SQL. */
  existingObjects(
    resource: Pick<Resource, 'table'>,
  ): Promise<{ readonly names: readonly ObjectName[]; isCurrent(object: DerivedObject): boolean }>
  drop(resource: Resource, object: ObjectName): string
  /** Whether the bookkeeping has counted the rows of the table. */
  isCounted(resource: Resource): Promise<boolean>
  /** Creates an index, or replaces it; `isNew` if nobody else can use the table yet. */
  indexStep(resource: Resource, index: DerivedObject, isNew: boolean): Omit<Step, 'table' | 'rows'>
  countTriggerSteps(resource: Resource, rows: number): Promise<Omit<Step, 'table' | 'rows'>[]>
  /** A query of the total, and a condition: some row has no searched text or, where the database can compare it, a wrong one. */
  storedCounts(resource: Resource): Readonly<Record<'total' | 'isTextWrong', string>>
  /** What an operator can do about an error, if that is known. */
  adviceFor(error: unknown): string | undefined
  insertRows(resource: Resource, rows: readonly RowValues[]): Promise<void>
  /** Runs a migration; one at a time. Rebuilding a table may need other settings. */
  exclusively(work: () => Promise<void>, isRebuilding?: boolean): Promise<void>
  /** Carries out a step; `onDone` is called with the part that is done, from 0 to 1. */
  apply(step: Step, onDone: (part: number) => void): Promise<void>
  /** Runs work in a transaction that checks foreign keys at its end, because rows may refer to one another; not beside a migration. */
  transaction(work: () => Promise<void>): Promise<void>
}
