/** The SQL of a resource on SQLite, compiled when the registry is loaded. */
import type { Knex } from 'knex'
import { filterFields, type Registry, type Resource } from '../../descriptor/registry.js'
import { compile, parameter, type Statement } from '../bindings.js'
import { quoted, statesTable, tableNameOf } from '../schema.js'
import type { ListSql } from './lists.js'
import { blocksTable, isLong, jsonIndex, longRowsIndex, rowJson, searchedText, searchTable } from './schema.js'

/** Looks for what a new row must find (a reference) or must not find (a unique value). */
export interface Check {
  readonly type: 'reference' | 'unique'
  readonly field: string
  /** The fields it reads; it does not apply where one of them is null or missing. */
  readonly reads: readonly string[]
  readonly statement: Statement
}

export interface Statements {
  readonly get: Statement
  readonly insert: Statement
  readonly checks: readonly Check[]
  /** The page of all rows from an id on. */
  readonly all: Statement
  /** What the other lists are made of. */
  readonly lists: ListSql
}

/** SQLite plans a statement again for each new value of a bare limit; a cast prevents it (84 µs become 31). */
const bounded = 'limit cast(? as integer) offset cast(? as integer)'

const checksOf = (knex: Knex, registry: Registry, resource: Resource): Check[] =>
  resource.fields.flatMap(({ name: field, references, unique }) => {
    const checks: Check[] = []
    if (references) {
      const found = knex(tableNameOf(registry, references)).select(knex.raw('1')).where('id', parameter(knex, field))
      checks.push({ type: 'reference', field, reads: [field], statement: compile(found) })
    }
    if (unique) {
      const reads = [...unique, field]
      const taken = knex(resource.table).select(knex.raw('1'))
      for (const name of reads) taken.where(name, parameter(knex, name))
      checks.push({ type: 'unique', field, reads, statement: compile(taken) })
    }
    return checks
  })

/** The statements of one resource. */
export const statementsOf = (knex: Knex, registry: Registry, resource: Resource): Statements => {
  const table = quoted(resource.table)
  const parameters = (...names: string[]) => names.map((name) => parameter(knex, name)) as never
  const version = `(select state from ${statesTable} where name = '${resource.table}')`
  const rowCount = `(select rows from ${statesTable} where name = '${resource.table}')`
  // Without INDEXED BY, SQLite computes the JSON again for a handful of rows.
  const rows = `select id, ${rowJson(knex, resource)} as row from ${table} indexed by ${jsonIndex(resource)}`
  const columns = resource.fields.map((field) => field.name).filter((name) => name !== 'id')
  const hasLongRows = `exists (select 1 from ${table} indexed by ${longRowsIndex(resource)} where ${isLong(knex, resource)})`
  return {
    get: compile(
      knex.raw(`select ${version}, (select cast(row as blob) from (${rows} where id = ?))`, parameters('id')),
    ),
    insert: compile(
      knex(resource.table).insert(Object.fromEntries(columns.map((name) => [name, parameter(knex, name)]))),
    ),
    checks: checksOf(knex, registry, resource),
    all: compile(
      knex.raw(
        `select ${version}, cast(concat('{"data":[', (select group_concat(row, ',') from (${rows} where id >= ? order by id ${bounded})),
          '],"meta":{"total":', ${rowCount}, ',"limit":', ?, ',"offset":', ?, '}}') as blob)`,
        parameters('first', 'limit', 'skip', 'limit', 'shownOffset'),
      ),
    ),
    lists: {
      table,
      searchIndex: searchTable(resource),
      state: `select ${version} as version, ${rowCount} as rows, (select min(id) from ${table}) as first,
        (select max(id) from ${table}) as last, ${hasLongRows} as hasLongRows`,
      blocks: `select block, rows from ${blocksTable(resource)} order by block`,
      text: searchedText(knex, resource, resource.table),
      filters: Object.fromEntries(filterFields(resource).map(({ name }) => [name, `${table}.${quoted(name)} = ?`])),
      rows: `${rows} where id in (select value from json_each(?)) order by id`,
    },
  }
}
