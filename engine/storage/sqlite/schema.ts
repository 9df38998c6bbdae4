/**
 * The objects derived from each table, which SQLite maintains whichever program writes: the rows' JSON as an index, the indexes for
 * filters and uniqueness, the search index, and the table's row count and version.
 */
import type { Knex } from 'knex'
import type { Kind } from '../../descriptor/fields.js'
import { type Field, type Resource, searchedFields } from '../../descriptor/registry.js'
import { keysTable, ownKeys } from '../keys.js'
import type { OwnTable } from '../migration/migrationDialect.js'
import {
  blockBits,
  createOriginsTable,
  type DerivedObject,
  indexesOf,
  indexOf,
  objectName,
  originsTable,
  quoted,
  type SchemaDialect,
  sqlOf,
  statesTable,
} from '../schema.js'
import { knex } from './knex.js'
import { longText } from './search.js'

export const jsonIndex = (resource: Resource): string => objectName(resource, 'json')
export const longRowsIndex = (resource: Resource): string => objectName(resource, 'long')
export const searchTable = (resource: Resource): string => objectName(resource, 'search')
export const blocksTable = (resource: Resource): string => objectName(resource, 'blocks')

export const schemaDialect: SchemaDialect = {
  knex,
  columnTypes: { integer: 'integer', number: 'numeric', text: 'text' },
  jsonType: 'blob',
  idType: 'integer not null primary key autoincrement',
  hasInlineForeignKeys: true,
  uniqueKey: ({ name }) => name,
  // Every index of SQLite ends with the id.
  filterIndex: ({ name }) => ({ columns: [name] }),
}

/** The tables that all resources share. */
export const ownTables: Readonly<Record<string, OwnTable>> = {
  [statesTable]: {
    create: sqlOf(
      knex.schema.createTable(statesTable, (table) => {
        table.text('name').primary()
        table.integer('rows').notNullable()
        table.text('state').notNullable()
      }),
    ),
  },
  [keysTable]: ownKeys(schemaDialect),
  [originsTable]: { create: createOriginsTable(schemaDialect) },
}

const written = (sql: string, bindings: readonly unknown[]): string =>
  knex
    .raw(sql, bindings as never)
    .toSQL()
    .toNative().sql

/**
 * Which values of a column are values of its field. SQLite stores any value in any column, and JSON has neither blobs, which would
 * make the statements of other programs fail, nor infinity.
 */
const isOfKind: Readonly<Record<Kind, string>> = {
  text: "typeof(??) = 'text'",
  integer: "typeof(??) = 'integer'",
  number: `?? between -${Number.MAX_VALUE} and ${Number.MAX_VALUE}`,
}

/** A condition: a column has a value that is not one of its field. */
export const isUnservable = ({ name, kind }: Field): Knex.Raw => knex.raw(`not (${isOfKind[kind]})`, [name])

/** The row as JSON, its keys in the descriptor's order; a redacted column is never even read. */
export const rowJson = (resource: Resource): string => {
  const values = resource.fields.map(({ name, kind, redacted }) => {
    if (redacted) return 'null'
    return name === 'id' ? quoted(name) : written(`case when ${isOfKind[kind]} then ?? end`, [name, name])
  })
  return `json_object(${resource.fields.map(({ name }, index) => `'${name}', ${values[index]}`).join(', ')})`
}

/** The text that is searched: the text fields that have a value, joined by a space; `of` names the row or table. */
export const searchedText = (resource: Resource, of?: string): string => {
  const columns = searchedFields(resource).map(({ name }) => (of ? `${of}.${name}` : name))
  if (columns.length === 0) return `''`
  return written(`concat_ws(' '${', ??'.repeat(columns.length)})`, columns)
}

/** Whether a row holds so much text that a page of such rows takes long to read. */
export const isLong = (resource: Resource): string => `octet_length(${searchedText(resource)}) > ${longText}`

/** The indexes of a resource. */
export const allIndexes = (resource: Resource): DerivedObject[] => [
  // A row is serialised once, when it is written; pages are read from this index alone.
  indexOf(schemaDialect, resource, jsonIndex(resource), (table) =>
    table.index(['id', knex.raw(rowJson(resource)) as unknown as string], jsonIndex(resource)),
  ),
  // Almost always empty. A table with a long row is read by a worker, because a page of such rows takes long.
  indexOf(schemaDialect, resource, longRowsIndex(resource), (table) =>
    table.index(['id'], longRowsIndex(resource), { predicate: knex.whereRaw(isLong(resource)) }),
  ),
  ...indexesOf(schemaDialect, resource),
]

/** The search index and the blocks of a resource, and the triggers that maintain them, the row count and the version. */
export const bookkeepingOf = (resource: Resource): DerivedObject[] => {
  const { table } = resource
  const [search, blocks] = [searchTable(resource), blocksTable(resource)]
  const find = `insert into ${search} (rowid, text) values (new.id, ${searchedText(resource, 'new')});`
  const forget = `delete from ${search} where rowid = old.id;`
  // A random version, not a counter: after a restore from a backup, an old tag never matches new rows.
  const count = (change: string) =>
    `update ${statesTable} set rows = rows ${change}, state = hex(randomblob(8)) where name = '${table}';`
  // No ON CONFLICT here: the statement that fires a trigger may have its own, which takes precedence.
  const enter = `insert into ${blocks} select new.id >> ${blockBits}, 0
    where not exists (select 1 from ${blocks} where block = new.id >> ${blockBits});
    update ${blocks} set rows = rows + 1 where block = new.id >> ${blockBits};`
  const leave = `update ${blocks} set rows = rows - 1 where block = old.id >> ${blockBits};`
  const trigger = (event: 'insert' | 'update' | 'delete', body: string): DerivedObject => {
    const name = objectName(resource, event)
    return { type: 'trigger', name, sql: `create trigger ${name} after ${event} on ${quoted(table)} begin ${body} end` }
  }
  // Without positions, which only phrases need: the index is a third of the size, and a phrase over a text that repeats one
  // letter would cost the product of their lengths.
  const options = "text, content = '', contentless_delete = 1, tokenize = 'trigram', detail = none"
  return [
    { type: 'table', name: search, sql: `create virtual table ${search} using fts5(${options})` },
    { type: 'table', name: blocks, sql: `create table ${blocks} (block integer primary key, rows integer not null)` },
    trigger('insert', `${find} ${enter} ${count('+ 1')}`),
    trigger('update', `${forget} ${leave} ${find} ${enter} ${count('+ 0')}`),
    trigger('delete', `${forget} ${leave} ${count('- 1')}`),
  ]
}
