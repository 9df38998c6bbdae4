/** The key of a table of another program, and the view that gives a table one. */
import { type IdKind, idKinds, isJson, kindOf } from '../../engine/descriptor/kinds/index.js'
import type { CatalogueColumn, CatalogueTable } from '../../engine/storage/migration/catalogue.js'
import { quoted } from '../../engine/storage/schema.js'

/** The kind of ids that a column has; undefined if it cannot be a key. */
export const idKindOf = ({ kind }: CatalogueColumn): IdKind | undefined => idKinds.find((id) => id === kind)

const columnsOf = ({ columns }: CatalogueTable, names: readonly string[]): CatalogueColumn[] =>
  names.flatMap((name) => columns.find((column) => column.name === name) ?? [])

/** The columns that identify a row: those of the primary key or, without one, of a unique key that is never null. */
const keyColumns = (table: CatalogueTable): CatalogueColumn[] => {
  const keys = table.unique.map((names) => columnsOf(table, names)).sort((a, b) => a.length - b.length)
  const unique = keys.find((key) => key.every(({ isNotNull }) => isNotNull))
  return table.primaryKey.length > 0 ? columnsOf(table, table.primaryKey) : (unique ?? [])
}

const whyUnserved = ({ relationKind }: CatalogueTable): string | undefined =>
  /partition of|part of|virtual/.test(relationKind ?? '') ? `it is ${relationKind}` : undefined

/** The column that identifies a row; undefined if there is none that can be an id. */
export const findKey = (table: CatalogueTable): CatalogueColumn | undefined => {
  const [key, ...others] = keyColumns(table)
  return key && others.length === 0 && idKindOf(key) && !whyUnserved(table) ? key : undefined
}

/** A part of a key as text. Only the last one may contain the hyphen that joins them; the others have it percent-encoded. */
const partSql = ({ name, kind }: CatalogueColumn, isLast: boolean): string => {
  const text = `cast(${quoted(name)} as text)`
  const { isWhole, length } = kind ? kindOf(kind) : {}
  const isPlain = isLast || isWhole || length !== undefined
  return isPlain ? text : `replace(replace(${text}, '%', '%25'), '-', '%2D')`
}

/** The number of a row in an order of its values, of those that have one. */
const rowNumberSql = ({ columns }: CatalogueTable): string => {
  const ordered = columns.filter(({ kind }) => kind !== undefined && !isJson({ kind })).map(({ name }) => quoted(name))
  // The cast gives the column a type in SQLite, which views without rows would not have.
  return `cast(row_number() over (${ordered.length > 0 ? `order by ${ordered.join(', ')}` : ''}) as integer)`
}

const viewName = (table: string): string => `${table.slice(0, 50)}_by_id`

/** The statement that creates a view of a table with a column `id`, which identifies a row. */
const viewSql = (table: CatalogueTable): string => {
  const key = keyColumns(table)
  const id = key.map((column, n) => partSql(column, n === key.length - 1)).join(` || '-' || `) || rowNumberSql(table)
  const names = table.columns.map(({ name }) => name)
  const isTaken = (name: string) => names.some((other) => other.toLowerCase() === name)
  const freeName = ['own_id', 'own_id_2', 'own_id_3'].find((name) => !isTaken(name))
  const renamed = (name: string) => (name.toLowerCase() === 'id' ? `${quoted(name)} as ${freeName}` : quoted(name))
  const columns = isTaken('id') ? names.map(renamed).join(', ') : '*'
  return `create view ${quoted(viewName(table.name))} as select ${id} as id, ${columns} from ${quoted(table.name)};`
}

/** Why a table has no column that can be an id. */
const whyNoKey = (table: CatalogueTable): string => {
  const [only, ...others] = keyColumns(table)
  if (only === undefined) return `${table.relationKind ? `it is ${table.relationKind}, which` : 'it'} has no key`
  const names = [only, ...others].map(({ name }) => name).join(', ')
  if (others.length > 0) return `its key has several columns (${names})`
  return `its key "${only.name}" is of type ${only.type || 'none'}, which no id has`
}

/** Why a table cannot be served, by default because of its key, and the view that can be; `names` are those of all tables. */
export const whyNoTable = (table: CatalogueTable, names: readonly string[], reason = whyNoKey(table)): string => {
  const unserved = whyUnserved(table)
  if (unserved) return `${unserved}.`
  const view = viewName(table.name)
  if (names.includes(view)) return `${reason}; the view "${view}" can be served.`
  const numbered =
    keyColumns(table).length > 0
      ? ''
      : ' Its ids are the numbers of the rows, and change when rows are added or deleted.'
  return `${reason}. Create this view, and run the command again to serve it read-only.${numbered}\n  ${viewSql(table)}`
}
