/**
 * The tables on PostgreSQL and the objects derived from them, which the server maintains whichever program writes: a column
 * with the searched text, the indexes, and the triggers that compute the text and record every change.
 */
import { type Column, columnIn, isWhole, type KindSpec, kindOf, servedValue } from '../../descriptor/kinds/index.js'
import { type Field, idField, type Registry, type Resource, searchedFields } from '../../descriptor/registry.js'
import { keysTable, ownKeys } from '../keys.js'
import { recordTables } from '../migration/descriptorRecord.js'
import type { DerivedObjects, OwnTable } from '../migration/migrationDialect.js'
import {
  type DerivedObject,
  makeIndex,
  objectName,
  orderKey,
  quoted,
  resourceIndexes,
  type SchemaDialect,
} from '../schema.js'
import { changeLogTables } from './changeLog.js'
import { lettersFoldedTo, maxKeyBytes } from './functions.js'
import { logTriggers } from './log.js'
import { knex } from './prepared.js'
import { pinned } from './sqlFunction.js'

/** Case is folded once, when a row is written, so that a search only compares. */
export const searchedColumn = 'registry_searched'

export const columnOf = (spec: KindSpec): Column => columnIn('postgres', spec)

/** The key of a row in the form that its kind reads. */
export const keyText = (field: Field, key: string): string => {
  const { read, json } = columnOf(field)
  return json && !read ? json(key) : key
}

/** The type of a parameter: by default the server uses that of the column, which another program may have made narrower. */
export const parameterType = (field: Field): string | undefined =>
  kindOf(field.kind).isText ? undefined : columnOf(field).type

/** A column as a key of a unique index. */
const indexKey = ({ kind, name }: Field, value = quoted(name)): string =>
  kindOf(kind).isText ? `registry_key(${value})` : value

/** What a field is ordered and compared by. */
export const sortKey = (field: Field): string =>
  field.name === 'id' ? 'id' : orderKey(field, columnOf(field), quoted(field.name), 'left')

/** The condition of a filter's partial index, which leaves out texts that are too long. */
export const filterIndexCondition = ({ kind, name }: Field): string | undefined =>
  kindOf(kind).isText ? `octet_length(${quoted(name)}) <= ${maxKeyBytes}` : undefined

/** Whether the service has created a sequence for the ids. */
export const hasSequence = (resource: Resource): boolean => !resource.existing && isWhole(idField(resource))

export const schemaDialect: SchemaDialect = {
  knex,
  columnOf,
  idColumns(kind) {
    const { type, idType = type } = columnOf({ kind })
    return `"id" ${idType} primary key`
  },
  hasInlineForeignKeys: false,
  uniqueKey: (field) => knex.raw(indexKey(field)),
  // Ordered by id within each value, so that a page is read in order and a count needs only the index.
  filterIndex(field) {
    const condition = filterIndexCondition(field)
    const predicate = condition && `${condition} or ${quoted(field.name)} is null`
    return { columns: [field.name, 'id'], ...(predicate && { predicate: knex.whereRaw(predicate) }) }
  },
  orderIndex: (field) => [knex.raw(`(${sortKey(field)}) nulls first`), 'id'],
}

/** Without functions of the engine. */
export const plainSchemaDialect: SchemaDialect = { ...schemaDialect, uniqueKey: ({ name }) => name }

export const ownTables: Readonly<Record<string, OwnTable>> = {
  ...Object.fromEntries(Object.entries(changeLogTables).map(([name, create]) => [name, { create }])),
  [keysTable]: ownKeys('bigint', 'text'),
  ...recordTables,
}

/** A field in the row's JSON, of the descriptor's type. */
const jsonValue = (field: Field): string => {
  const name = quoted(field.name)
  return `${field.redacted ? 'null' : servedValue(columnOf(field), name)} as ${name}`
}

/** The row as JSON, its keys in the descriptor's order; a redacted column is never read. */
export const rowJson = ({ fields }: Resource): string =>
  `row_to_json((select _row from (select ${fields.map(jsonValue).join(', ')}) as _row))::text`

/** The searched text of a row in built-in functions alone, which folds ASCII letters and those that become one. */
export const asciiSearchedText = (resource: Resource): string => {
  const texts = searchedFields(resource).map(({ name }) => `coalesce(${quoted(name)} || ' ', '')`)
  const { foldedFrom, foldedTo } = lettersFoldedTo('abcdefghijklmnopqrstuvwxyz')
  return `translate(lower((${texts.join(' || ')}) collate "C"), '${foldedFrom}', '${foldedTo}')`
}

/** The expression of the searched text of a row; `of` is a prefix of its columns. */
const searchedText = (resource: Resource, of = ''): string =>
  `registry_searched(array[${searchedFields(resource).map(({ name }) => `${of}${quoted(name)}`)}]::text[])`

export const isSearchedWrong = (resource: Resource): string =>
  `${searchedColumn} is distinct from ${searchedText(resource)}`

export const fillSearched = (resource: Resource, range: string): string =>
  `update ${quoted(resource.table)} set ${searchedColumn} = ${searchedText(resource)}
    where ${range} and ${isSearchedWrong(resource)}`

/** The function that computes the searched text, and its trigger. */
export const searchedFunctionName = (resource: Pick<Resource, 'table'>): string =>
  objectName(resource, 'searched', 'zz_registry')

/**
 * The column with the searched text and the trigger that computes it. It is not a generated column, because adding one rewrites
 * the table while nobody can read it. The trigger is named to run after others, which may change the text.
 */
const searchedObjects = (resource: Resource): DerivedObject[] => {
  const [table, name] = [quoted(resource.table), searchedFunctionName(resource)]
  // Other programs write with any search path; pg_restore with an empty one.
  const compute = pinned(
    `${name}()`,
    `create or replace function ${name}() returns trigger language plpgsql as $$
    begin new.${searchedColumn} := ${searchedText(resource, 'new.')}; return new; end $$`,
  )
  // The condition always holds. It prevents dropping the column without the trigger, which would make inserts fail.
  const condition = `new.${searchedColumn} is null or new.${searchedColumn} is not null`
  const trigger = `create or replace trigger ${name} before insert or update on ${table}
    for each row when (${condition}) execute function ${name}()`
  const column = `alter table ${table} add column if not exists ${searchedColumn} text`
  return [
    { type: 'column', name: searchedColumn, sql: column },
    { type: 'trigger', name, sql: `${compute.sql}; ${trigger}` },
  ]
}

/** knex supports any type of index; its TypeScript types allow two. */
const gin = { storageEngineIndexType: 'gin' as never }

/** The trigram index of a searched text; `trigrams` is the operator class, if the extension is installed. */
const searchIndexes = (resource: Resource, text: string, trigrams: string | undefined): DerivedObject[] => {
  if (trigrams === undefined) return []
  const column = knex.raw(`${text} ${trigrams}`) as unknown as string
  return [makeIndex(schemaDialect, resource, 'search', (table, name) => table.index([column], name, gin))]
}

const changeTriggers = (resource: Resource): DerivedObject[] => {
  const trigger = (what: string, when: string, rest: string): DerivedObject => {
    const name = objectName(resource, what)
    const sql = `create or replace trigger ${name} after ${when} on ${quoted(resource.table)} ${rest}
      execute function registry_changed()`
    return { type: 'trigger', name, sql }
  }
  const each = 'for each statement'
  return [
    trigger('insert', 'insert', `referencing new table as added ${each}`),
    trigger('update', 'update', each),
    trigger('delete', 'delete', `referencing old table as removed ${each}`),
    trigger('truncate', 'truncate', each),
  ]
}

export const derivedObjects = (
  resource: Resource,
  registry: Registry,
  trigrams: string | undefined,
): DerivedObjects => ({
  indexes: [
    ...resourceIndexes(schemaDialect, resource, registry),
    ...searchIndexes(resource, searchedColumn, trigrams),
  ],
  countTriggers: [...searchedObjects(resource), ...changeTriggers(resource)],
  logTriggers: logTriggers(resource),
})

/** The objects where the service creates tables, keys and indexes, and nothing else. */
export const plainObjects: typeof derivedObjects = (resource, registry, trigrams) => {
  const isSearched = searchedFields(resource).length > 0
  const search = isSearched ? searchIndexes(resource, `(${asciiSearchedText(resource)})`, trigrams) : []
  const indexes = [...resourceIndexes(plainSchemaDialect, resource, registry), ...search]
  return { indexes, countTriggers: [], logTriggers: [] }
}
