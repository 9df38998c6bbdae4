/** The SQL of a resource on SQLite, compiled when the registry is loaded. */
import { servedValue } from '../../descriptor/kinds.js'
import { type Registry, type Resource, searchedFields } from '../../descriptor/registry.js'
import { compile, parameter } from '../bindings.js'
import { conflictsQuery } from '../conflicts.js'
import { keyQueries } from '../keys.js'
import { referrersTo, type WriteSql } from '../referencing.js'
import { countsTable, quoted, type Sources } from '../schema.js'
import { knex } from './knex.js'
import type { ListSql } from './lists.js'
import {
  columnOf,
  isIn,
  isLong,
  jsonIndex,
  longRowsIndex,
  resourceBlocks,
  rowJson,
  searchedText,
  searchTable,
  sortKey,
} from './schema.js'

/** SQLite's clock in milliseconds. */
const now = `cast(unixepoch('subsec') * 1000 as integer)`

/** The SQL that finds a key, stores one (key, digest, id, body), and deletes those that have expired. */
const keySql = () => {
  const { find, expired, store } = keyQueries(knex, now)
  const values = ['key', 'digest', 'id', 'body'].map((name) => parameter(knex, name))
  return {
    find: compile(find).sql,
    // Replaces a key that has expired.
    store: compile(store(knex.select(values)).onConflict('key').merge(['digest', 'id', 'body', 'at'])).sql,
    prune: compile(expired.delete()).sql,
  }
}

/** SQLite plans a statement again for each new value of a bare limit; a cast prevents it (84 µs become 31). */
const bounded = 'limit cast(? as integer) offset cast(? as integer)'

export const resourceStatements = (
  registry: Registry,
  resource: Resource,
  { sources, writeSql }: { sources?: Sources; writeSql?: WriteSql } = {},
) => {
  const table = quoted(resource.table)
  const parameters = (...names: string[]) => names.map((name) => parameter(knex, name)) as never[]
  const version = `(select state from ${countsTable} where name = '${resource.table}')`
  const rowCount = `(select rows from ${countsTable} where name = '${resource.table}')`
  // Without INDEXED BY, SQLite computes the JSON again for a handful of rows.
  const fromIndex = `from ${table} indexed by ${jsonIndex(resource)}`
  const rows = `select id, ${rowJson(resource)} as row ${fromIndex}`
  const columns = resource.fields.map((field) => field.name).filter((name) => name !== 'id')
  const longRows = `select 1 from ${table} indexed by ${longRowsIndex(resource)} where ${isLong(resource)}`
  // Without text the condition is constant, and SQLite cannot use the index.
  const hasLongRows = searchedFields(resource).length > 0 ? `exists (${longRows})` : '0'
  return {
    get: compile(
      knex.raw(`select ${version}, (select cast(row as blob) from (${rows} where id = ?))`, parameters('id')),
    ),
    insert: compile(
      knex(resource.table).insert(Object.fromEntries(columns.map((name) => [name, parameter(knex, name)]))),
    ),
    conflicts: compile(conflictsQuery(knex, registry, resource, 'all', undefined, sources)),
    /** The statements that change some fields of a row: `stamps` only if one of the others changes. */
    update(names: readonly string[], stamps: readonly string[]) {
      const values = Object.fromEntries([...names, ...stamps].map((name) => [name, parameter(knex, name)]))
      const change = knex(resource.table).where('id', parameter(knex, 'id'))
      const isChanged = names.map(() => '?? is not ?').join(' or ') || '0'
      change.whereRaw(`(${isChanged})`, names.flatMap((name) => [name, parameter(knex, name)]) as never)
      return {
        conflicts: compile(conflictsQuery(knex, registry, resource, names, undefined, sources)),
        change: compile(change.update(names.length > 0 ? values : { id: knex.ref('id') })),
      }
    },
    delete: compile(knex(resource.table).where('id', parameter(knex, 'id')).delete()),
    referrers: referrersTo({ knex, columnOf, isIn }, registry, resource, writeSql),
    keys: keySql(),
    all: compile(
      knex.raw(
        `select ${version}, cast(concat('{"data":[', group_concat(row, ','), '],"meta":{"total":', ${rowCount}, ',"limit":', ?, ',"offset":', ?, '}}')
          as blob), max(id) from (${rows} where id >= ? order by id ${bounded})`,
        parameters('limit', 'shownOffset', 'first', 'limit', 'skip'),
      ),
    ),
    /** What the other lists are made of. */
    lists: {
      table,
      searchIndex: searchTable(resource),
      state: `select ${version} as version, ${rowCount} as rows, (select min(id) from ${table}) as first,
        (select max(id) from ${table}) as last, ${hasLongRows} as hasLongRows`,
      blocks: resourceBlocks(resource).read,
      text: searchedText(resource, resource.table),
      columns: Object.fromEntries(
        resource.fields.map((field) => {
          const column = `${table}.${quoted(field.name)}`
          return [
            field.name,
            { column, key: sortKey(field, column), served: servedValue(columnOf(field.kind), quoted(field.name)) },
          ]
        }),
      ),
      rows: `select value as id, (select ${rowJson(resource)} ${fromIndex} where id = registry_given.value) as row from json_each(?) as registry_given`,
      rowsBetween: `${rows} where id between ? and ? order by id`,
    } satisfies ListSql,
  }
}

export type Statements = ReturnType<typeof resourceStatements>
