/** What a database provides so that it can be migrated: reading its catalogue, and the SQL of each change. */
import type { Resource, RowValues } from '../descriptor/registry.js'
import type { DerivedObject, ObjectName, SchemaDialect } from './schema.js'

/** One change to the database. */
export interface Step {
  readonly table: string
  readonly sql: readonly string[]
  /** How many rows it reads or rewrites, for reports of its progress. */
  readonly rows?: number
  /** The fields whose values must be distinct. */
  readonly unique?: readonly string[] | undefined
}

/** A column of an existing table. */
export interface Column {
  readonly name: string
  readonly isNotNull: boolean
}

export type Execute = <T = unknown>(sql: string, values?: readonly unknown[]) => Promise<T[]>

/** The objects derived from a table, in the order in which they are created. */
export interface DerivedObjects {
  readonly columns?: readonly DerivedObject[]
  readonly indexes: readonly DerivedObject[]
  /** What maintains the row count and the version; recreated together, and then the rows are counted. */
  readonly bookkeeping: readonly DerivedObject[]
}

/** The objects that the engine has created for a table. */
interface ExistingObjects {
  readonly names: readonly ObjectName[]
  /** Whether an object exists and was created by the same SQL. */
  isCurrent(object: DerivedObject): boolean
}

/** What a database provides so that it can be migrated. */
export interface MigrationDialect extends SchemaDialect {
  readonly execute: Execute
  /** The columns of a table; none if it does not exist. */
  columns(table: string): Promise<readonly Column[]>
  /** The engine's own tables, by name. */
  readonly ownTables: Readonly<Record<string, readonly string[]>>
  /** The steps for the engine's own functions, if the database has any. */
  functionSteps?(): Promise<Step[]>
  derivedObjects(resource: Resource): DerivedObjects
  /** Reads the catalogue of a table. */
  existingObjects(resource: Resource): Promise<ExistingObjects>
  drop(resource: Resource, object: ObjectName): string
  create(resource: Resource, object: DerivedObject): string[]
  /** Whether the bookkeeping has counted the rows of the table. */
  isCounted(resource: Resource): Promise<boolean>
  /** Rebuilds the bookkeeping from the rows of the table; `rows` is their number. */
  recount(resource: Resource, rows: number): Promise<string[]>
  isUniqueViolation(error: unknown): boolean
  /** Makes the transaction check foreign keys at its end. */
  readonly deferForeignKeys: string
  insertRows(resource: Resource, rows: readonly RowValues[]): Promise<void>
  /** Runs work in a transaction; one migration at a time. */
  transaction(work: () => Promise<void>): Promise<void>
}
