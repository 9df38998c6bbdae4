/** The tables of a registry, as SQL: columns, foreign keys, unique and filter indexes. */
import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { boundValue, type Column, type Kind, type KindSpec, kindOf } from '../descriptor/kinds/index.js'
import { keyLength } from '../descriptor/listQuery.js'
import {
  canonicalValue,
  type Field,
  type GivenValue,
  idField,
  orderedFields,
  type Registry,
  type Resource,
} from '../descriptor/registry.js'
import type { ColumnDefinition, ForeignKey } from './migration/catalogue.js'

export interface SchemaDialect {
  readonly knex: Knex
  columnOf(spec: KindSpec): Column
  /** The columns of a new table for ids of a kind, with the primary key and how ids are assigned. */
  idColumns(kind: Kind): string
  /** Whether a foreign key is a part of its column, or is added once all tables exist. */
  readonly hasInlineForeignKeys: boolean
  /** A field as a key of a unique index. */
  uniqueKey(field: Field): string | Knex.Raw
  /** The columns of a filter's index, and the rows it leaves out. */
  filterIndex(field: Field, resource: Resource): { columns: readonly string[]; predicate?: Knex.QueryBuilder }
  /** The columns of the index for an order by a field, and for bounds of it. */
  orderIndex(field: Field, resource: Resource): readonly (string | Knex.Raw)[]
}

export interface ObjectName {
  readonly type: 'column' | 'index' | 'table' | 'trigger'
  readonly name: string
}

/** An object that the database maintains for a table, and the SQL that creates it: a changed descriptor gives other SQL. */
export interface DerivedObject extends ObjectName {
  readonly sql: string
  readonly unique?: readonly string[]
  /** Whether it depends on all fields, and its name on its SQL: each set of descriptors has its own. */
  readonly isOfSet?: boolean
}

/** A quoted name, which may also be a keyword; those of other programs may have any letters. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

export const literal = (value: GivenValue): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)

/** What a field is ordered and compared by: its value as a response shows it, of a text the beginning. */
export const orderKey = ({ kind }: KindSpec, { isValue }: Column, column: string, clip: 'substr' | 'left'): string => {
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

/** The foreign key of a field, if it has one: nothing is created for a table of another program. */
export const wantedForeignKey = (registry: Registry, field: Field): ForeignKey | undefined => {
  const { references, onDelete = 'restrict' } = field
  const target = references === undefined ? undefined : resourceAt(registry, references)
  return target && !target.existing ? { target: target.table, onDelete } : undefined
}

export const findField = ({ fields }: Resource, name: string): Field =>
  fields.find((field) => field.name === name) as Field

/** SQLite's row count and version of every table: an exact total without counting, and a version that changes with any row. */
export const countsTable = 'registry_tables'

/** The default for existing rows; undefined if it is computed for each row. */
export const constantDefault = (field: Field): GivenValue | undefined =>
  field.default === undefined || typeof field.default === 'function'
    ? undefined
    : (canonicalValue(field, field.default) as GivenValue)

/** What a foreign key references. By default the database refuses a delete, unless the same statement deletes the referencing rows too. */
const referenceSql = ({ target, onDelete }: ForeignKey): string =>
  `references ${quoted(target)} ("id")${onDelete === 'restrict' ? '' : ` on delete ${onDelete}`}`

export const columnDefinition = (
  { name, type, isNotNull, foreignKey }: Pick<ColumnDefinition, 'name' | 'type' | 'isNotNull' | 'foreignKey'>,
  defaultSql?: string,
): string => {
  const parts = [quoted(name), type]
  if (isNotNull) parts.push('not null')
  if (defaultSql !== undefined) parts.push(`default ${defaultSql}`)
  if (foreignKey) parts.push(referenceSql(foreignKey))
  return parts.join(' ')
}

const fieldDefinition = (dialect: SchemaDialect, registry: Registry, field: Field, preset?: GivenValue): string => {
  const { name, required: isNotNull } = field
  const column = dialect.columnOf(field)
  const foreignKey = dialect.hasInlineForeignKeys ? wantedForeignKey(registry, field) : undefined
  const defaultSql = preset === undefined ? undefined : literal(boundValue(column, preset) as GivenValue)
  return columnDefinition({ name, type: column.type, isNotNull, foreignKey }, defaultSql)
}

export const createTable = (dialect: SchemaDialect, registry: Registry, resource: Resource): string => {
  const { table, fields } = resource
  const otherColumns = fields
    .filter(({ name }) => name !== 'id')
    .map((field) => fieldDefinition(dialect, registry, field))
  return `create table ${quoted(table)} (${[dialect.idColumns(idField(resource).kind), ...otherColumns].join(', ')})`
}

/** Adds the column that a descriptor has gained; a required one gets its default in every row. */
export const addColumn = (dialect: SchemaDialect, registry: Registry, { table }: Resource, field: Field): string => {
  const preset = field.required ? constantDefault(field) : undefined
  return `alter table ${quoted(table)} add column ${fieldDefinition(dialect, registry, field, preset)}`
}

export const foreignKeyName = (table: string, field: string): string => objectName({ table }, `references_${field}`)

/**
 * Adds a foreign key, or replaces it. It is deferrable, because rows that are loaded together may refer to each other. Existing
 * rows are checked by a second statement, which does not lock the table.
 */
export const addForeignKey = (table: string, field: string, key: ForeignKey, isReplacing = false): string[] => {
  const [alter, name] = [`alter table ${quoted(table)}`, foreignKeyName(table, field)]
  // Two statements, because Citus adds a constraint only by itself.
  return [
    ...(isReplacing ? [`${alter} drop constraint if exists ${name}`] : []),
    `${alter} add constraint ${name} foreign key (${quoted(field)}) ${referenceSql(key)} deferrable initially immediate not valid`,
    `${alter} validate constraint ${name}`,
  ]
}

/** An index of a resource, named after what it is for. */
export const makeIndex = (
  { knex }: SchemaDialect,
  resource: Resource,
  purpose: string,
  add: (table: Knex.AlterTableBuilder, name: string) => void,
): DerivedObject => {
  const name = objectName(resource, purpose)
  const [{ sql } = { sql: '' }] = knex.schema.alterTable(resource.table, (table) => add(table, name)).toSQL()
  return { type: 'index', name, sql }
}

/** Whether rows of a resource can be deleted, by clients or with a row that they reference. */
const isDeletable = ({ delete: isDeletedByClients, fields }: Resource): boolean =>
  isDeletedByClients === true || fields.some(({ onDelete }) => onDelete === 'cascade')

/** The indexes for unique values, filters and orders, and for references to rows that can be deleted: each delete looks for such rows. */
export const resourceIndexes = (
  dialect: SchemaDialect,
  resource: Resource,
  registry: Registry = [],
): DerivedObject[] => {
  const isSearched = ({ filter, references }: Field) =>
    filter || registry.some((target) => target.path === references && isDeletable(target))
  const unique = resource.fields.flatMap((field) => {
    if (field.unique === undefined) return []
    const names = [...field.unique, field.name]
    const keys = names.map((name) => dialect.uniqueKey(findField(resource, name))) as string[]
    const index = makeIndex(dialect, resource, `unique_${names.join('$')}`, (table, indexName) => {
      table.unique(keys, { indexName, useConstraint: false })
    })
    return { ...index, unique: names }
  })
  const filters = resource.fields.filter(isSearched).map((field) => {
    const { columns, ...options } = dialect.filterIndex(field, resource)
    return makeIndex(dialect, resource, `filter_${field.name}`, (table, name) => table.index(columns, name, options))
  })
  const orders = orderedFields(resource).map((field) => {
    const keys = dialect.orderIndex(field, resource) as string[]
    return makeIndex(dialect, resource, `order_${field.name}`, (table, name) => table.index(keys, name))
  })
  return [...unique, ...filters, ...orders]
}
