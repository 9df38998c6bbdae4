/**
 * The objects derived from each table, which SQLite maintains whichever program writes: the rows' JSON as an index, the indexes for
 * filters and uniqueness, the search index, and the table's row count and version.
 */
import type { Knex } from 'knex'
import { filterFields, type Resource, searchedFields } from '../../descriptor/registry.js'
import { blockBits } from './blocks.js'
import { longText } from './search.js'

/** The row count and version of every table: an exact total without counting, and a version that changes with any row. */
export const statesTable = 'registry_tables'

/** A derived object, and the SQL that creates it: a changed descriptor gives other SQL. */
export interface DerivedObject {
  readonly type: 'index' | 'trigger' | 'table'
  readonly name: string
  readonly sql: string
}

/** No descriptor's table may begin with registry_, so no derived object can have the name of a table. */
const nameOf = ({ table }: Resource, what: string): string => `registry_${table}_${what}`
export const jsonIndex = (resource: Resource): string => nameOf(resource, 'json')
export const longRowsIndex = (resource: Resource): string => nameOf(resource, 'long')
export const searchTable = (resource: Resource): string => nameOf(resource, 'search')
export const blocksTable = (resource: Resource): string => nameOf(resource, 'blocks')

const written = (knex: Knex, sql: string, bindings: readonly unknown[]): string =>
  knex
    .raw(sql, bindings as never)
    .toSQL()
    .toNative().sql

/** The row as JSON, its keys in the descriptor's order; a redacted column is never even read. */
export const rowJson = (knex: Knex, resource: Resource): string => {
  const pairs = resource.fields.map(({ name, redacted }) => `'${name}', ${redacted ? 'null' : '??'}`)
  const columns = resource.fields.filter((field) => !field.redacted).map((field) => field.name)
  return written(knex, `json_object(${pairs.join(', ')})`, columns)
}

/** The text that is searched: the text fields that have a value, joined by a space; `of` names the row or table. */
export const searchedText = (knex: Knex, resource: Resource, of?: string): string => {
  const columns = searchedFields(resource).map(({ name }) => (of ? `${of}.${name}` : name))
  if (columns.length === 0) return `''`
  return written(knex, `concat_ws(' '${', ??'.repeat(columns.length)})`, columns)
}

/** Whether a row holds so much text that a page of such rows takes long to read. */
export const isLong = (knex: Knex, resource: Resource): string =>
  `octet_length(${searchedText(knex, resource)}) > ${longText}`

const index = (knex: Knex, name: string, table: string, columns: readonly string[], unique = false): DerivedObject => ({
  type: 'index',
  name,
  sql: written(knex, `CREATE ${unique ? 'UNIQUE ' : ''}INDEX ?? ON ?? (??)`, [name, table, columns]),
})

/** The indexes of a resource. */
export const indexesOf = (knex: Knex, resource: Resource): DerivedObject[] => {
  const { table } = resource
  const name = jsonIndex(resource)
  return [
    // A row is serialised once, when it is written; pages are read from this index alone.
    {
      type: 'index',
      name,
      sql: written(knex, `CREATE INDEX ?? ON ?? (??, ${rowJson(knex, resource)})`, [name, table, 'id']),
    },
    // Almost always empty. A table with a long row is read by a worker, for a page of such rows takes long.
    {
      type: 'index',
      name: longRowsIndex(resource),
      sql: written(knex, `CREATE INDEX ?? ON ?? (??) where ${isLong(knex, resource)}`, [
        longRowsIndex(resource),
        table,
        'id',
      ]),
    },
    ...resource.fields.flatMap((field) => {
      if (field.unique === undefined) return []
      const columns = [...field.unique, field.name]
      return index(knex, nameOf(resource, `unique_${columns.join('_')}`), table, columns, true)
    }),
    ...filterFields(resource).map((field) =>
      index(knex, nameOf(resource, `filter_${field.name}`), table, [field.name]),
    ),
  ]
}

/** The search index and the blocks of a resource, and the triggers that maintain them, the row count and the version. */
export const bookkeepingOf = (knex: Knex, resource: Resource): DerivedObject[] => {
  const { table } = resource
  const search = searchTable(resource)
  const find = written(knex, `insert into ?? (rowid, text) values (new.id, ${searchedText(knex, resource, 'new')});`, [
    search,
  ])
  const forget = written(knex, 'delete from ?? where rowid = old.id;', [search])
  // A random version, not a counter: after a restore from a backup, an old tag never matches new rows.
  const count = (change: string) =>
    written(knex, `update ?? set rows = rows ${change}, state = hex(randomblob(8)) where name = '${table}';`, [
      statesTable,
    ])
  const blocks = blocksTable(resource)
  // No ON CONFLICT here: the statement that fires a trigger may have its own, which takes precedence.
  const enter = `insert into ${blocks} select new.id >> ${blockBits}, 0
    where not exists (select 1 from ${blocks} where block = new.id >> ${blockBits});
    update ${blocks} set rows = rows + 1 where block = new.id >> ${blockBits};`
  const leave = `update ${blocks} set rows = rows - 1 where block = old.id >> ${blockBits};`
  const trigger = (event: 'insert' | 'update' | 'delete', body: string): DerivedObject => {
    const name = nameOf(resource, event)
    return {
      type: 'trigger',
      name,
      sql: written(knex, `CREATE TRIGGER ?? after ${event} on ?? begin ${body} end`, [name, table]),
    }
  }
  // Without positions, which only phrases need: the index is a third of the size, and a phrase over a text that repeats one
  // letter would cost the product of their lengths.
  const options = "text, content = '', contentless_delete = 1, tokenize = 'trigram', detail = none"
  return [
    { type: 'table', name: search, sql: written(knex, `CREATE VIRTUAL TABLE ?? using fts5(${options})`, [search]) },
    {
      type: 'table',
      name: blocks,
      sql: `CREATE TABLE ${blocks} (block integer primary key, rows integer not null)`,
    },
    trigger('insert', `${find} ${enter} ${count('+ 1')}`),
    trigger('update', `${forget} ${leave} ${find} ${enter} ${count('+ 0')}`),
    trigger('delete', `${forget} ${leave} ${count('- 1')}`),
  ]
}
