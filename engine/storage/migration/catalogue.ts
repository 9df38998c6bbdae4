/** A table as the database describes it, in a form that is the same for every database. */
import type { OnDelete } from '../../descriptor/fields.js'
import type { Kind } from '../../descriptor/kinds.js'
import type { GivenValue } from '../../descriptor/registry.js'

export interface CatalogueColumn {
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
  /** Whether no field used it when the table was last changed: it is not the former name of a later field. */
  readonly isKnownUnused: boolean
}

interface ForeignKey {
  /** Empty where the database gives constraints no names. */
  readonly name: string
  readonly column: string
  readonly target: string
  readonly onDelete: OnDelete
}

export const onDeleteFrom = (action: string): OnDelete =>
  action === 'NO ACTION' ? 'restrict' : (action.toLowerCase() as OnDelete)

/** Without the columns that the engine has added. */
export interface CatalogueTable {
  readonly name: string
  /** What it is, if it is no ordinary table: `a view`, `a partitioned table`. */
  readonly otherwise?: string | undefined
  /** Whether it has rows: an index and a type have none. */
  readonly hasRows: boolean
  readonly isReadOnly: boolean
  /** Whether the engine has created it: it has objects that the engine derives. */
  readonly isOwn: boolean
  readonly columns: readonly CatalogueColumn[]
  readonly primaryKey: readonly string[]
  /** The column to which SQLite gives the number of the row. */
  readonly rowId?: string | undefined
  readonly foreignKeys: readonly ForeignKey[]
  readonly unique: readonly (readonly string[])[]
  /** Constraints that no descriptor can express: `check (hours > 0)`. */
  readonly otherConstraints: readonly string[]
}

export interface ColumnShape {
  readonly name: string
  readonly type: string
  readonly isNotNull: boolean
  readonly default: string | null
  /** The table that it references by `id`, and what a delete there does. */
  readonly target?: string | undefined
  readonly onDelete?: OnDelete | undefined
  readonly from: string
  readonly convertTo?: Kind | undefined
  readonly fill?: GivenValue | undefined
}

/** A table as it should be: existing columns that are renamed, retyped, constrained or left out. */
export interface TableShape {
  readonly name: string
  readonly columns: readonly ColumnShape[]
}

export const findColumn = ({ columns }: CatalogueTable, name: string): CatalogueColumn | undefined =>
  columns.find((column) => column.name === name)

export const findForeignKey = ({ foreignKeys }: CatalogueTable, name: string): ForeignKey | undefined =>
  foreignKeys.find(({ column }) => column === name)

export const currentShape = (table: CatalogueTable): TableShape => ({
  name: table.name,
  columns: table.columns.map(({ name, type, isNotNull, default: value }) => ({
    name,
    type,
    isNotNull,
    default: value,
    target: findForeignKey(table, name)?.target,
    onDelete: findForeignKey(table, name)?.onDelete,
    from: name,
  })),
})

const describeDelete: Readonly<Record<OnDelete, (name: string) => string>> = {
  restrict: (name) => `is refused while ${name} references the row`,
  'set null': (name) => `sets ${name} to null`,
  cascade: (name) => `deletes the rows whose ${name} references it`,
}

const describeKey = (name: string, before: string | undefined, after: string | undefined): string => {
  if (after === undefined) return `${name} no longer references ${before}`
  return `${name} references ${after}${before === undefined ? '' : ` instead of ${before}`}`
}

export const describeChanges = (table: CatalogueTable, shape: TableShape): string[] => {
  const before = new Map(currentShape(table).columns.map((column) => [column.name, column]))
  const changes = shape.columns.flatMap(({ name, from, isNotNull, target, onDelete, convertTo, fill }) => {
    const now = before.get(from)
    before.delete(from)
    return [
      ...(from === name ? [] : [`${from} is renamed to ${name}`]),
      ...(convertTo === undefined ? [] : [`${name} becomes ${convertTo}`]),
      ...(fill === undefined ? [] : [`${name} becomes ${JSON.stringify(fill)} where it is null`]),
      ...(now?.isNotNull === isNotNull ? [] : [isNotNull ? `${name} becomes required` : `${name} may be null`]),
      ...(now?.target === target ? [] : [describeKey(name, now?.target, target)]),
      ...(target === undefined || now?.target !== target || now?.onDelete === onDelete
        ? []
        : [`a delete in ${target} ${describeDelete[onDelete ?? 'restrict'](name)}`]),
    ]
  })
  return [...changes, ...[...before.keys()].map((name) => `${name} is dropped`)]
}
