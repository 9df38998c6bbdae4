/** Tables of other programs on PostgreSQL: reads and writes go through the same connections as those of other tables. */
import type { Field, Registry, Resource, RowValues } from '../../descriptor/registry.js'
import { type CatalogueTable, findColumn } from '../migration/catalogue.js'
import type { PoolOptions } from '../options.js'
import { plainType, withoutZone } from '../postgres/catalogue.js'
import type { Connections } from '../postgres/connections.js'
import { lettersFoldedTo } from '../postgres/functions.js'
import { knex, named } from '../postgres/prepared.js'
import { asciiSearchedText, columnOf, parameterType, rowJson, sortKey } from '../postgres/schema.js'
import { asciiPattern, contains, isLongSearch, searchValues } from '../postgres/search.js'
import { keyText, timing } from '../postgres/statements.js'
import { advanceSequence, inSequence, keyStatements, tableWriter } from '../postgres/writes.js'
import type { Table } from '../storage.js'
import type { Trace } from '../trace.js'
import { type Cell, type ColumnSql, escapedName, joinedText, type PlainRunner, type PlainSql } from './dialect.js'
import { type PlainTables, plainResources } from './statements.js'
import { plainTable } from './table.js'

/** A time without a zone is one of UTC. A value is written in the type of its column, which the server knows. */
export const columnSql = ({ kind, column }: Field, type: string): ColumnSql => {
  const name = escapedName(column)
  if (kind === 'timestamp' && plainType(type) === withoutZone)
    return { read: `(${name} at time zone 'UTC')`, write: `cast(? as timestamptz) at time zone 'UTC'` }
  return { read: kind === 'text' ? `${name}::text` : name, write: '?' }
}

/** A number that its column would round, such as 1.239 of numeric(10,2). */
const findRounded = ({ fields }: Resource, table: CatalogueTable | undefined, values: RowValues) => {
  for (const { name, column, kind } of fields) {
    const value = values[name]
    const { type = '' } = (table && findColumn(table, column)) ?? {}
    const [, places] = (kind === 'number' && /^numeric\(\d+,(\d+)\)/.exec(type)) || []
    if (typeof value === 'number' && places !== undefined && Number(value.toFixed(Number(places))) !== value)
      return { constraint: type, column, reason: `${name} is ${type}, which would round ${value}` }
  }
  return undefined
}

/** Without an index. */
const noIndex = { isThere: false, isAscii: true }

const plainPostgres: PlainSql = {
  knex,
  columnOf,
  columnSql,
  hasId: (column) => `${column} is not null`,
  rowJson,
  sortKey,
  keyText: (field, key) => keyText(field, key),
  typeOf: parameterType,
  isIn: '= any(?)',
  // The server folds ASCII letters; of the others, those that occur in the searched text are enough.
  withText: (source, resource) =>
    knex.raw(
      `(select _s.*, translate(lower(${joinedText(resource)} collate "C"), ?, ?) as _text from ${source} as _s)`,
      [named('foldedFrom', 'text'), named('foldedTo', 'text')],
    ),
  contains: (search) => contains('_text', isLongSearch(search)),
  isIndexed: () => false,
  idsType: 'bigint[]',
  returnsIds: true,
  searchValues(search) {
    const values = searchValues(noIndex, search)
    return { ...values, ...lettersFoldedTo(values.searchText) }
  },
  bindList: (values) => values,
}

/** The same for a table whose ASCII words a trigram index finds. */
const indexedPostgres = (resource: Resource): PlainSql => ({
  ...plainPostgres,
  contains(search) {
    const isContained = plainPostgres.contains(search)
    const words = named('searchWords', 'text')
    return asciiPattern(search) === undefined
      ? isContained
      : knex.raw(`(${asciiSearchedText(resource)} like ? and ?)`, [words, isContained])
  },
  isIndexed: (text) => asciiPattern(text) !== undefined,
  searchValues: (search) => ({ ...plainPostgres.searchValues(search), searchWords: asciiPattern(search) }),
})

/** Makes the tables of the resources that are served as they are, and the sources of all. */
export const existingOnPostgres = (registry: Registry, tables: PlainTables, hasTrigrams: boolean) => {
  const { sources, writeSql, statementsFor, count } = plainResources(plainPostgres, registry, tables)
  const readWith =
    (readRows: Connections['read'], { table }: Resource): PlainRunner['read'] =>
    (statement, values, { caller, plan } = {}) => {
      const timed = plan && { timed: timing(plan) }
      return readRows(statement, values, { table, caller, ...timed }) as Promise<Cell[][]>
    }
  return {
    sources,
    writeSql,
    table(
      resource: Resource,
      connections: Connections,
      readRows: Connections['read'],
      { statementMs }: PoolOptions,
      trace?: Trace,
    ): Table {
      const sql = hasTrigrams && !resource.existing ? indexedPostgres(resource) : plainPostgres
      const statements = statementsFor(resource, sql)
      // Idempotency keys are stored for the service's own tables only.
      const own = resource.existing ? {} : { ...keyStatements, advanceSequence: advanceSequence(resource.table) }
      const { write, hasKey } = tableWriter(connections, resource, statementMs, {
        ...own,
        ...statements,
        read: statements.get,
        beforeDelete: inSequence,
      })
      const read = readWith(readRows, resource)
      const writeExactly: typeof write = async (given) => {
        const refused = 'values' in given ? findRounded(resource, tables.get(resource), given.values) : undefined
        return refused ? { refused } : write(given)
      }
      return plainTable(resource, sql, statements, { read, write: writeExactly, hasKey }, trace)
    },
    count: (resource: Resource, readRows: Connections['read']) => count(resource, readWith(readRows, resource)),
  }
}
