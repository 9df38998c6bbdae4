/**
 * What SQLite keeps beside each table, by itself and whoever writes: the row's JSON as an index, the indexes for filters and
 * uniqueness, the search index, and the table's count and state.
 */
import type { Knex } from 'knex'
import { filterFields, type Resource, searchedFields } from '../../descriptor/registry.js'

/** Counts and states of all tables, a row each: an exact total without counting, and a tag that changes with any row. */
export const statesTable = 'registry_tables'

/** An object of the database, and the SQL that makes it as SQLite remembers it: another descriptor gives another SQL. */
export interface Kept {
  readonly type: 'index' | 'trigger' | 'table'
  readonly name: string
  readonly sql: string
}

/** No descriptor's table begins like this, so nothing that is kept can bear the name of a table. */
const nameOf = ({ table }: Resource, what: string): string => `registry_${table}_${what}`
export const jsonIndex = (resource: Resource): string => nameOf(resource, 'json')
export const searchTable = (resource: Resource): string => nameOf(resource, 'search')
export const blocksTable = (resource: Resource): string => nameOf(resource, 'blocks')

/** Rows are counted by blocks of 2^this many ids, so that a page deep in a table with gaps is found without walking there. */
export const blockBits = 11

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

/** The text that is searched: the text fields, joined by a space, those without a value left out. */
export const searchedText = (knex: Knex, resource: Resource, row?: 'new'): string => {
  const columns = searchedFields(resource).map(({ name }) => (row ? `${row}.${name}` : name))
  if (columns.length === 0) return `''`
  return written(knex, `concat_ws(' '${', ??'.repeat(columns.length)})`, columns)
}

const index = (knex: Knex, name: string, table: string, columns: readonly string[], unique = false): Kept => ({
  type: 'index',
  name,
  sql: written(knex, `CREATE ${unique ? 'UNIQUE ' : ''}INDEX ?? ON ?? (??)`, [name, table, columns]),
})

/** The indexes of a resource. */
export const indexesOf = (knex: Knex, resource: Resource): Kept[] => {
  const { table } = resource
  const name = jsonIndex(resource)
  return [
    // A row is serialised once, when it is written; a page is then read from this index alone.
    {
      type: 'index',
      name,
      sql: written(knex, `CREATE INDEX ?? ON ?? (??, ${rowJson(knex, resource)})`, [name, table, 'id']),
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

/** The search index and the blocks of a resource, and the triggers that keep them, the count and the state. */
export const bookkeepingOf = (knex: Knex, resource: Resource): Kept[] => {
  const { table } = resource
  const search = searchTable(resource)
  const find = written(knex, `insert into ?? (rowid, text) values (new.id, ${searchedText(knex, resource, 'new')});`, [
    search,
  ])
  const forget = written(knex, 'delete from ?? where rowid = old.id;', [search])
  // A random state, not a counter: a database that was put back to a backup never meets an old tag with new rows.
  const count = (change: string) =>
    written(knex, `update ?? set rows = rows ${change}, state = hex(randomblob(8)) where name = '${table}';`, [
      statesTable,
    ])
  const blocks = blocksTable(resource)
  // No ON CONFLICT here: the statement that fires a trigger may bring its own, and that would win.
  const enter = `insert into ${blocks} select new.id >> ${blockBits}, 0
    where not exists (select 1 from ${blocks} where block = new.id >> ${blockBits});
    update ${blocks} set rows = rows + 1 where block = new.id >> ${blockBits};`
  const leave = `update ${blocks} set rows = rows - 1 where block = old.id >> ${blockBits};`
  const trigger = (event: 'insert' | 'update' | 'delete', body: string): Kept => {
    const name = nameOf(resource, event)
    return {
      type: 'trigger',
      name,
      sql: written(knex, `CREATE TRIGGER ?? after ${event} on ?? begin ${body} end`, [name, table]),
    }
  }
  const options = "text, content = '', contentless_delete = 1, tokenize = 'trigram'"
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
