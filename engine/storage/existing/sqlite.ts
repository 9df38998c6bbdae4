/** Tables of other programs on SQLite: reads run in the reader threads, writes in the writer's. */
import type { Database } from 'better-sqlite3'
import type { Field, Registry, Resource } from '../../descriptor/registry.js'
import { parameter, type Statement } from '../bindings.js'
import { readCatalogue } from '../sqlite/catalogue.js'
import { knex } from '../sqlite/knex.js'
import { bindLists, jsonList } from '../sqlite/prepared.js'
import { columnOf, isIn, rowJson, sortKey } from '../sqlite/schema.js'
import { containsSql, searchParameters } from '../sqlite/search.js'
import { type DatabaseContext, tableWriter } from '../sqlite/table.js'
import type { Table } from '../storage.js'
import type { Trace } from '../trace.js'
import { type Cell, type ColumnSql, escapedName, joinedText, type PlainRunner, type PlainSql } from './dialect.js'
import { plainResources } from './statements.js'
import { plainTable } from './table.js'

/** Other programs write times as SQLite prints them, unless the column is declared as text. */
const timestampSql = (column: string, type: string): ColumnSql => ({
  read: `case when ${column} glob '[0-9][0-9][0-9][0-9]-*' then strftime('%Y-%m-%dT%H:%M:%fZ', ${column}) end`,
  write: /text|char|clob/i.test(type) ? '?' : `replace(replace(?, 'T', ' '), 'Z', '')`,
})

/** One row in so many, chosen at random, looks at the time: SQLite itself cannot end a read, and the ids may follow any rule. */
const checkedRows = 1_024

export const columnSql = ({ kind, column }: Field, type: string): ColumnSql => {
  const name = escapedName(column)
  if (kind === 'timestamp') return timestampSql(name, type)
  // SQLite prints a real 3 as 3.0.
  const whole = `typeof(${name}) = 'real' and ${name} = cast(${name} as integer)`
  const read = kind === 'number' ? `case when ${whole} then cast(${name} as integer) else ${name} end` : name
  return { read, write: '?' }
}

const plainSqlite: PlainSql = {
  knex,
  columnOf,
  columnSql,
  hasId: (column) => `typeof(${column}) = 'integer'`,
  rowJson,
  sortKey,
  keyText: (_, key) => key,
  typeOf: () => undefined,
  isIn,
  // The limit keeps SQLite from computing the text again for each part of the test.
  withText: (source, resource) =>
    knex.raw(`(select _s.*, ${joinedText(resource)} as _text from ${source} as _s limit -1)`),
  contains: () =>
    knex.raw(
      containsSql('_text'),
      ['isLong', 'folded', 'isAscii'].map((name) => parameter(knex, name)),
    ),
  isIndexed: () => false,
  inTime: `(random() % ${checkedRows} <> 0 or registry_in_time())`,
  returnsIds: false,
  searchValues(search) {
    const [isLong, folded, isAscii] = searchParameters(search).parameters
    return { isLong, folded, isAscii }
  },
  bindList: jsonList,
}

/** The statement that the writer reads a row with: always one row, whose second column is the JSON. */
const readForWriter = (statement: Statement): Statement => ({
  ...statement,
  sql: `select '', (select cast(_row as blob) from (${statement.sql}))`,
})

/** Makes the tables of the existing resources, and the sources of all. */
export const existingOnSqlite = (registry: Registry, database: Database) => {
  const existing = registry.filter((resource) => resource.existing)
  const tables = new Map(existing.map((resource) => [resource, readCatalogue(database, resource.table)]))
  const { sources, writeSql, statementsFor, count } = plainResources(plainSqlite, registry, tables)
  const readIn = ({ readerFor }: DatabaseContext, { path }: Resource): PlainRunner['read'] => {
    const reader = readerFor(path)
    return (statement, values, { caller, plan } = {}) => {
      const task = { sql: statement.sql, values: bindLists({ statement, values }), search: plan?.search ?? '' }
      return reader.plain(task, caller) as Promise<Cell[][]>
    }
  }
  return {
    sources,
    writeSql,
    table(resource: Resource, context: DatabaseContext, trace?: Trace): Table {
      const statements = statementsFor(resource)
      const forWriter = { ...statements, get: readForWriter(statements.get) }
      const { write } = tableWriter(resource, forWriter, context.writes)
      return plainTable(resource, plainSqlite, statements, { read: readIn(context, resource), write }, trace)
    },
    count: (resource: Resource, context: DatabaseContext) => count(resource, readIn(context, resource)),
  }
}
