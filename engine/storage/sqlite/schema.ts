/**
 * The objects derived from each table, which SQLite maintains whichever program writes: the rows' JSON as an index, the indexes for
 * filters and uniqueness, the search index, and the table's row count and version. Their SQL uses nothing that SQLite 3.40 lacks.
 */
import { createHash } from 'node:crypto'
import createKnex from 'knex'
import { type Column, columnIn, isText, isWhole, type KindSpec, servedValue } from '../../descriptor/kinds/index.js'
import {
  type Field,
  idField,
  type Registry,
  type Resource,
  searchedFields,
  textFields,
} from '../../descriptor/registry.js'
import { keysTable, ownKeys } from '../keys.js'
import { recordTables } from '../migration/descriptorRecord.js'
import type { DerivedObjects, OwnTable } from '../migration/migrationDialect.js'
import {
  countsTable,
  type DerivedObject,
  makeIndex,
  objectName,
  orderKey,
  quoted,
  resourceIndexes,
  type SchemaDialect,
} from '../schema.js'
import { logTriggers } from './log.js'
import { longText } from './search.js'

/** Builds the SQL of indexes and migrations, and never connects. */
const knex = createKnex({ client: 'better-sqlite3', useNullAsDefault: true })

/** What an index is for whose expression depends on all fields: processes with other descriptors keep theirs. */
const purpose = (what: string, expression: string): string =>
  `${what}_${createHash('sha256').update(expression).digest('hex').slice(0, 8)}`
const jsonPurpose = (resource: Resource): string => purpose('json', indexedJson(resource))
const longPurpose = (resource: Resource): string => purpose('long', isLong(resource))

export const jsonIndex = (resource: Resource): string => objectName(resource, jsonPurpose(resource))
export const longRowsIndex = (resource: Resource): string => objectName(resource, longPurpose(resource))
export const searchTable = (resource: Resource): string => objectName(resource, 'search')

export const columnOf = (spec: KindSpec): Column => columnIn('sqlite', spec)

/** What a field is ordered and compared by. */
export const sortKey = (field: Field, column = quoted(field.name)): string =>
  field.name === 'id' ? column : orderKey(field, columnOf(field), column, 'substr')

/** The integer primary key of a table whose ids are no integers, for its search index; a bare rowid may change. */
const hiddenKey = 'registry_row'

const hasIntegerIds = (resource: Resource): boolean => isWhole(idField(resource))

/** The column with the number of a row. */
export const rowKey = (resource: Resource): string => (hasIntegerIds(resource) ? 'id' : hiddenKey)

/** The end of an index in which rows are in order of id: every index of SQLite ends with the number of the row. */
const idKey = (resource: Resource): string[] => (hasIntegerIds(resource) ? [] : ['id'])

export const schemaDialect: SchemaDialect = {
  knex,
  columnOf,
  idColumns: (kind) =>
    isWhole({ kind })
      ? '"id" integer not null primary key autoincrement'
      : `${hiddenKey} integer not null primary key, "id" text not null unique`,
  hasInlineForeignKeys: true,
  uniqueKey: ({ name }) => name,
  filterIndex: ({ name }, resource) => ({ columns: [name, ...idKey(resource)] }),
  orderIndex: (field, resource) => [knex.raw(sortKey(field)), ...idKey(resource)],
}

export const ownTables: Readonly<Record<string, OwnTable>> = {
  [countsTable]: {
    create: [`create table ${countsTable} (name text primary key, rows integer not null, state text not null)`],
  },
  [keysTable]: ownKeys('integer', 'blob'),
  ...recordTables,
}

const written = (sql: string, bindings: readonly unknown[]): string =>
  knex
    .raw(sql, bindings as never)
    .toSQL()
    .toNative().sql

type ColumnField = KindSpec & Pick<Field, 'name' | 'redacted'>

/**
 * A field in the row's JSON; a redacted column is never even read. SQLite stores any value in any column, and JSON has neither
 * blobs, which would make the statements of other programs fail, nor infinity.
 */
const jsonValue = (field: ColumnField, column: Column = columnOf(field)): string => {
  const { name, redacted } = field
  if (redacted) return `'${name}', null`
  return `'${name}', ${name === 'id' ? quoted(name) : servedValue(column, quoted(name))}`
}

/** The fields as a JSON object. A key of another program that is served as text may be a number. */
const jsonObject = ({ fields, existing }: Resource, value: (field: Field) => string): string => {
  const isCast = (field: Field) => existing && field.name === 'id' && isText(field)
  return `json_object(${fields.map((field) => (isCast(field) ? `'id', cast("id" as text)` : value(field))).join(', ')})`
}

const allJson = (resource: Resource): string => jsonObject(resource, (field) => jsonValue(field))

/** A field in the JSON of the index: as SQLite itself prints it, which for a portable value is the same. */
export const indexedValue = (field: ColumnField): string => {
  const { json, isPortable, ...column } = columnOf(field)
  return jsonValue(field, isPortable || !json ? column : { ...column, json })
}

/** The row's JSON as its index has it: null if versions of SQLite print it differently, because each must find what another stored. */
const indexedJson = (resource: Resource): string => {
  const values = resource.fields.filter(({ redacted }) => !redacted)
  const conditions = values.flatMap((field) => columnOf(field).isPortable?.(quoted(field.name)) ?? [])
  return conditions.length === 0
    ? allJson(resource)
    : `case when ${conditions.join(' and ')} then ${jsonObject(resource, indexedValue)} end`
}

export const rowJson = (resource: Resource): string => {
  const [indexed, complete] = [indexedJson(resource), allJson(resource)]
  return indexed === complete ? complete : `coalesce(${indexed}, ${complete})`
}

const searchedColumns = (resource: Resource, of?: string): string[] =>
  searchedFields(resource).map(({ name }) => (of ? `${of}.${name}` : name))

/** The searched text for the indexes, after a space: SQLite before 3.44, with which other programs may write, has no concat_ws(). */
export const indexedText = (resource: Resource, of?: string): string => joined(searchedColumns(resource, of))

const joined = (columns: readonly string[]): string =>
  columns.length === 0 ? `''` : written(columns.map(() => `coalesce(' ' || ??, '')`).join(' || '), columns)

/** Whether a row holds so much text that a page of such rows takes long to read. */
export const isLong = (resource: Resource): string =>
  `length(cast(${joined(textFields(resource).map(({ name }) => name))} as blob)) > ${longText}`

/** The search index of a resource, and the triggers that maintain it, the row count and the version. */
const countTriggers = (resource: Resource): DerivedObject[] => {
  const { table } = resource
  const search = searchTable(resource)
  const key = rowKey(resource)
  const [before, after] = [indexedText(resource, 'old'), indexedText(resource, 'new')]
  const find = `insert into ${search} (rowid, text) select new.${key}, ${after}`
  // The index stores no texts, so a delete gives it the old one.
  const forget = `insert into ${search} (${search}, rowid, text) select 'delete', old.${key}, ${before}`
  const isFoundOtherwise = `where (old.${key}, ${before}) is not (new.${key}, ${after})`
  // A random version, not a counter: after a restore from a backup, an old tag never matches new rows.
  const count = (change: string) =>
    `update ${countsTable} set rows = rows ${change}, state = hex(randomblob(8)) where name = '${table}';`
  const trigger = (event: 'insert' | 'update' | 'delete', body: string): DerivedObject => {
    const name = objectName(resource, event)
    return { type: 'trigger', name, sql: `create trigger ${name} after ${event} on ${quoted(table)} begin ${body} end` }
  }
  // Without positions, which only phrases need: the index is a third of the size, and a phrase over a text that repeats one
  // letter would cost the product of their lengths.
  const options = "text, content = '', tokenize = 'trigram', detail = none"
  return [
    { type: 'table', name: search, sql: `create virtual table ${search} using fts5(${options})` },
    trigger('insert', `${find}; ${count('+ 1')}`),
    trigger('update', `${forget} ${isFoundOtherwise}; ${find} ${isFoundOtherwise}; ${count('+ 0')}`),
    trigger('delete', `${forget}; ${count('- 1')}`),
  ]
}

export const derivedObjects = (resource: Resource, registry: Registry): DerivedObjects => ({
  indexes: [
    // A row is serialised once, when it is written; pages are read from this index alone.
    {
      ...makeIndex(schemaDialect, resource, jsonPurpose(resource), (table, name) =>
        table.index(['id', knex.raw(indexedJson(resource)) as unknown as string], name),
      ),
      isOfSet: true,
    },
    // Almost always empty. A table with a long row is read by a worker, because a page of such rows takes long.
    {
      ...makeIndex(schemaDialect, resource, longPurpose(resource), (table, name) =>
        table.index(['id'], name, { predicate: knex.whereRaw(isLong(resource)) }),
      ),
      isOfSet: true,
    },
    ...resourceIndexes(schemaDialect, resource, registry),
  ],
  countTriggers: countTriggers(resource),
  logTriggers: logTriggers(resource),
})
