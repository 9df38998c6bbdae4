/** A table as the database describes it, in a form that is the same for every database. */

import type { Kind, KindOptions, KindSpec } from '../../descriptor/kinds/index.js'
import type { OnDelete } from '../../descriptor/options.js'
import type { GivenValue } from '../../descriptor/registry.js'

/** A reference to the `id` of another table, and what a delete there does. */
export interface ForeignKey {
  /** Undefined where the database gives constraints no names. */
  readonly name?: string
  readonly target: string
  /** The referenced column, where the catalogue tells it; undefined for the primary key. */
  readonly targetColumn?: string | undefined
  readonly onDelete: OnDelete
}

export interface CatalogueColumn extends KindOptions {
  readonly name: string
  /** As the database names it: `text`, `character varying(20)`. */
  readonly type: string
  /** The kind of field whose values it stores; undefined if there is none. Where kinds share a type, that of its last field. */
  readonly kind: Kind | undefined
  readonly isNotNull: boolean
  /** Why a create cannot set it: `the database computes its values`. */
  readonly whyReadOnly?: string | undefined
  /** The values of its enumeration, if it has one. */
  readonly values?: readonly string[] | undefined
  /** The SQL of the value if an insert omits it. */
  readonly default: string | null
  readonly foreignKey: ForeignKey | undefined
  /** Whether no field used it when the table was last changed: it is not the former name of a later field. */
  readonly isKnownUnused: boolean
}

/** Without the columns that the engine has added. */
export interface CatalogueTable {
  readonly name: string
  /** What it is, if it is no ordinary table: `a view`, `a partitioned table`. */
  readonly relationKind?: string | undefined
  /** Whether it has rows: an index and a type have none. */
  readonly hasRows: boolean
  readonly isReadOnly: boolean
  /** Whether the engine has created it: it has objects that the engine derives. */
  readonly isOwn: boolean
  readonly columns: readonly CatalogueColumn[]
  /** Of a view that is sampled, the column `id` if it has no value twice. */
  readonly primaryKey: readonly string[]
  /** The column to which SQLite gives the number of the row. */
  readonly rowId?: string | undefined
  readonly unique: readonly (readonly string[])[]
  /** The columns with which an index of all rows begins. */
  readonly indexed: readonly string[]
  /** Constraints that no descriptor can express: `check (hours > 0)`. */
  readonly otherConstraints: readonly string[]
}

/** An existing column as it should be: renamed, retyped or constrained. */
export interface ColumnDefinition extends Pick<CatalogueColumn, 'name' | 'type' | 'isNotNull' | 'foreignKey'> {
  readonly from: CatalogueColumn
  readonly convertTo?: KindSpec | undefined
  readonly fill?: GivenValue | undefined
}

/** A table as it should be; columns that are left out are dropped. */
export type TableDefinition = readonly ColumnDefinition[]

/** A query with a row if a key has integers that JSON cannot hold exactly; `column` is quoted, as `table` is. */
export const largeKeySql = (table: string, column: string): string =>
  `select 1 from ${table} where ${column} > ${Number.MAX_SAFE_INTEGER} or ${column} < ${Number.MIN_SAFE_INTEGER} limit 1`

/** A query with a row if several rows of a view have the same id. */
export const repeatedIdSql = (view: string, column: string): string =>
  `select 1 from ${view} where ${column} is not null group by ${column} having count(*) > 1 limit 1`

export const findColumn = ({ columns }: CatalogueTable, name: string): CatalogueColumn | undefined =>
  columns.find((column) => column.name === name)

export const droppedColumns = ({ columns }: CatalogueTable, shape: TableDefinition): CatalogueColumn[] =>
  columns.filter((column) => !shape.some(({ from }) => from === column))

const describeDelete: Readonly<Record<OnDelete, (name: string) => string>> = {
  restrict: (name) => `is refused while ${name} references the row`,
  'set null': (name) => `sets ${name} to null`,
  cascade: (name) => `deletes the rows whose ${name} references it`,
}

const describeKey = (name: string, before: ForeignKey | undefined, after: ForeignKey | undefined): string[] => {
  if (before?.target === after?.target) {
    const isKept = after === undefined || before?.onDelete === after.onDelete
    return isKept ? [] : [`a delete in ${after.target} ${describeDelete[after.onDelete](name)}`]
  }
  if (after === undefined) return [`${name} no longer references ${before?.target}`]
  return [`${name} references ${after.target}${before === undefined ? '' : ` instead of ${before.target}`}`]
}

/** As a descriptor has it: `decimal({ digits: 12, places: 2 })`. */
export const describeKind = ({ kind, digits, places }: KindSpec): string =>
  digits === undefined ? `${kind}()` : `${kind}({ digits: ${digits}, places: ${places} })`

const describeColumn = ({ name, from, isNotNull, foreignKey, convertTo, fill }: ColumnDefinition): string[] => [
  ...(from.name === name ? [] : [`${from.name} is renamed to ${name}`]),
  ...(convertTo === undefined
    ? []
    : [`${name} becomes ${convertTo.digits === undefined ? convertTo.kind : describeKind(convertTo)}`]),
  ...(fill === undefined ? [] : [`${name} becomes ${JSON.stringify(fill)} where it is null`]),
  ...(from.isNotNull === isNotNull ? [] : [isNotNull ? `${name} becomes required` : `${name} may be null`]),
  ...describeKey(name, from.foreignKey, foreignKey),
]

export const describeChanges = (table: CatalogueTable, shape: TableDefinition): string[] => [
  ...shape.flatMap(describeColumn),
  ...droppedColumns(table, shape).map(({ name }) => `${name} is dropped`),
]
