/** The tables of a registry, as SQL built by knex: columns, foreign keys, unique and filter indexes. */
import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import type { OnDelete } from '../descriptor/fields.js'
import { type Column, type Kind, kindOf } from '../descriptor/kinds.js'
import { keyLength } from '../descriptor/listQuery.js'
import { type Field, type GivenValue, orderedFields, type Registry, type Resource } from '../descriptor/registry.js'
import type { StoredRow } from './storage.js'

export interface SchemaDialect {
  readonly knex: Knex
  columnOf(kind: Kind): Column
  readonly jsonType: string
  /** The type of `id`, with the primary key and how ids are assigned. */
  readonly idType: string
  /** Whether a foreign key is a part of its column, or is added once all tables exist. */
  readonly hasInlineForeignKeys: boolean
  /** A field as a key of a unique index. */
  uniqueKey(field: Field): string | Knex.Raw
  /** The columns of a filter's index, and the rows it leaves out. */
  filterIndex(field: Field): { columns: readonly string[]; predicate?: Knex.QueryBuilder }
  /** The columns of the index for an order by a field, and for bounds of it. */
  orderIndex(field: Field): readonly (string | Knex.Raw)[]
}

export interface ObjectName {
  readonly type: 'column' | 'index' | 'table' | 'trigger'
  readonly name: string
}

/** An object that the database maintains for a table, and the SQL that creates it: a changed descriptor gives other SQL. */
export interface DerivedObject extends ObjectName {
  readonly sql: string
  readonly unique?: readonly string[]
}

/** A quoted name, which may also be a keyword; those of other programs may have any letters. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

export const literal = (value: GivenValue): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)

export const boundValue = ({ bind }: Pick<Column, 'bind'>, value: unknown): unknown =>
  bind && value !== null && value !== undefined ? bind(value as never) : value

export const readValue = ({ read }: Column, stored: unknown): StoredRow[string] =>
  (read && stored !== null ? read(stored as never) : stored) as StoredRow[string]

/** What a field is ordered and compared by: its value as a response shows it, of a text the beginning. */
export const orderKey = (kind: Kind, { isValue }: Column, column: string, clip: 'substr' | 'left'): string => {
  const beginning = clip === 'left' ? `left(${column}, ${keyLength}) collate "C"` : `substr(${column}, 1, ${keyLength})`
  const key = kindOf(kind).isText ? beginning : column
  return isValue ? `case when ${isValue(column)} then ${key} end` : key
}

/** PostgreSQL truncates longer names, and two could become equal. */
const maxNameLength = 63

/** Otherwise the index `search` of `members_filter` would have the name of the filter index `search` of `members`. */
const isAmbiguous = (table: string): boolean => /_(?:filter|order|unique)(?:_|$)/.test(table)

/** The name of a derived object. No descriptor's table may begin with registry_, so it is never the name of a table. */
export const objectName = ({ table }: Pick<Resource, 'table'>, what: string, prefix = 'registry'): string => {
  const name = `${prefix}_${table}${isAmbiguous(table) ? '$_' : '_'}${what}`
  if (name.length <= maxNameLength) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 12)
  return `${name.slice(0, maxNameLength - hash.length - 1)}_${hash}`
}

export const resourceAt = (registry: Registry, path: string): Resource => {
  const target = registry.find((resource) => resource.path === path)
  if (!target) throw new TypeError(`no resource at ${path}`)
  return target
}

/** The table that a foreign key of a field names; undefined if it has none: nothing is created for a table of another program. */
export const targetTable = (registry: Registry, { references }: Pick<Field, 'references'>): string | undefined => {
  const target = references === undefined ? undefined : resourceAt(registry, references)
  return target?.existing ? undefined : target?.table
}

/** The SQL after FROM whose columns are the fields of a resource. */
export type Sources = (resource: Resource) => string

/** Where every table is the engine's own. */
export const ownSources: Sources = ({ table }) => quoted(table)

export const fieldOf = ({ fields }: Resource, name: string): Field =>
  fields.find((field) => field.name === name) as Field

export const sqlOf = (schema: Knex.SchemaBuilder): string[] => schema.toSQL().map(({ sql }) => sql)

/** SQLite's row count and version of every table: an exact total without counting, and a version that changes with any row. */
export const countsTable = 'registry_tables'

/** The default for existing rows; undefined if it is computed for each row. */
export const constantDefault = ({ default: value }: Field): GivenValue | undefined =>
  typeof value === 'function' ? undefined : value

/** What a foreign key does on a delete. Without it the database refuses, unless the same statement deletes the referencing rows too. */
export const onDeleteSql = (onDelete: OnDelete = 'restrict'): string =>
  onDelete === 'restrict' ? '' : ` on delete ${onDelete}`

const addFields =
  (
    { columnOf, hasInlineForeignKeys }: SchemaDialect,
    registry: Registry,
    fields: readonly Field[],
    isFilled: boolean,
  ) =>
  (table: Knex.TableBuilder): void => {
    for (const field of fields) {
      const { name, kind, required, onDelete = 'restrict' } = field
      const target = hasInlineForeignKeys ? targetTable(registry, field) : undefined
      // knex cannot add a column with its foreign key to an existing table of SQLite.
      const foreignKey = target ? ` references ${quoted(target)} (${quoted('id')})${onDeleteSql(onDelete)}` : ''
      const sqlColumn = columnOf(kind)
      const column = table.specificType(name, `${sqlColumn.type}${foreignKey}`)
      if (required) column.notNullable()
      const value = constantDefault(field)
      if (required && isFilled && value !== undefined) column.defaultTo(boundValue(sqlColumn, value) as string)
    }
  }

export const createTable = (dialect: SchemaDialect, registry: Registry, { table, fields }: Resource): string[] =>
  sqlOf(
    dialect.knex.schema.createTable(table, (builder) => {
      builder.specificType('id', dialect.idType)
      addFields(
        dialect,
        registry,
        fields.filter(({ name }) => name !== 'id'),
        false,
      )(builder)
    }),
  )

/** Adds the columns that a descriptor has gained; a required one gets its default in every row. */
export const addColumns = (
  dialect: SchemaDialect,
  registry: Registry,
  { table }: Resource,
  fields: readonly Field[],
): string[] => sqlOf(dialect.knex.schema.alterTable(table, addFields(dialect, registry, fields, true)))

/**
 * Adds foreign keys. They are deferrable, because rows that are loaded together may refer to each other. Existing rows are
 * checked by a second statement, which does not lock the table.
 */
export const addForeignKeys = (
  { knex, hasInlineForeignKeys }: SchemaDialect,
  registry: Registry,
  resource: Resource,
  fields: readonly Field[],
): string[] =>
  fields.flatMap(({ name, references, onDelete = 'restrict' }) => {
    const target = references === undefined ? undefined : targetTable(registry, { references })
    if (hasInlineForeignKeys || target === undefined) return []
    const constraint = objectName(resource, `references_${name}`)
    const added = sqlOf(
      knex.schema.alterTable(resource.table, (table) => {
        table
          .foreign(name, constraint)
          .references('id')
          .inTable(target)
          .onDelete(onDelete === 'restrict' ? 'no action' : onDelete)
          .deferrable('immediate')
      }),
    )
    return [
      ...added.map((sql) => `${sql} not valid`),
      `alter table ${quoted(resource.table)} validate constraint ${quoted(constraint)}`,
    ]
  })

export const indexOf = (
  { knex }: SchemaDialect,
  { table }: Resource,
  name: string,
  add: (table: Knex.AlterTableBuilder) => void,
): DerivedObject => {
  const [sql = ''] = sqlOf(knex.schema.alterTable(table, add))
  return { type: 'index', name, sql }
}

/** Whether rows of a resource can be deleted, by clients or with a row that they reference. */
const isDeletable = ({ delete: isDeletedByClients, fields }: Resource): boolean =>
  isDeletedByClients === true || fields.some(({ onDelete }) => onDelete === 'cascade')

/** The indexes for unique values, filters and orders, and for references to rows that can be deleted: each delete looks for such rows. */
export const indexesOf = (dialect: SchemaDialect, resource: Resource, registry: Registry = []): DerivedObject[] => {
  const isSearched = ({ filter, references }: Field) =>
    filter || registry.some((target) => target.path === references && isDeletable(target))
  const unique = resource.fields.flatMap((field) => {
    if (field.unique === undefined) return []
    const names = [...field.unique, field.name]
    const keys = names.map((name) => dialect.uniqueKey(fieldOf(resource, name)))
    const indexName = objectName(resource, `unique_${names.join('$')}`)
    const index = indexOf(dialect, resource, indexName, (table) => {
      table.unique(keys as string[], { indexName, useConstraint: false })
    })
    return { ...index, unique: names }
  })
  const filters = resource.fields.filter(isSearched).map((field) => {
    const name = objectName(resource, `filter_${field.name}`)
    const { columns, ...options } = dialect.filterIndex(field)
    return indexOf(dialect, resource, name, (table) => table.index(columns, name, options))
  })
  const orders = orderedFields(resource).map((field) => {
    const name = objectName(resource, `order_${field.name}`)
    return indexOf(dialect, resource, name, (table) => table.index(dialect.orderIndex(field) as string[], name))
  })
  return [...unique, ...filters, ...orders]
}
