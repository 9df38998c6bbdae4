/** What SQLite says differently. */

import { dateGlob, isText, isWhole } from '../../descriptor/kinds/index.js'
import { idField, type Resource, textFields } from '../../descriptor/registry.js'
import { fold } from '../caseFold.js'
import type { Dialect, Source } from '../dialect.js'
import { keyQueries } from '../keys.js'
import type { CatalogueTable } from '../migration/catalogue.js'
import { countsTable, quoted } from '../schema.js'
import { type Fragment, joinSql, jsonList, parameter, type Sql, sql } from '../sql.js'
import { idTypeIn, isIntegerType, joinedText, textSize, unmanagedColumns } from '../unmanaged.js'
import type { KeyStatements } from '../writeData.js'
import { compile } from './compile.js'
import { numberText } from './connection.js'
import { callerIs } from './log.js'
import { columnOf, isLong, jsonIndex, longRowsIndex, rowJson, rowKey, searchTable, sortKey } from './schema.js'
import { containsSql, isIndexed, searchParameters } from './search.js'

/** One row in so many looks at the time: SQLite itself cannot end a read. */
const checkedRows = 1_024

/** At random, because the ids of rows may follow any rule. */
const looksAtTime = `(random() % ${checkedRows} <> 0 or registry_in_time())`

/** An integer that is written as an id is. */
const integerId = (reference: Fragment): Sql =>
  sql`case when cast(cast(${reference} as integer) as text) = ${reference} then cast(${reference} as integer) end`

export const sqliteDialect: Dialect = {
  compile,
  columnOf,
  // The second takes three times as long, because it counts characters.
  openObject: (json, isPlain) => (isPlain ? sql`rtrim(${json}, '}')` : sql`substr(${json}, 1, length(${json}) - 1)`),
  servedNumber: (text) => numberText(Number(text)),
  jsonMember: (json, name) => `(${json} -> ${name})`,
  sortKey,
  keyText: (_, key) => key,
  typeOf: () => undefined,
  isIn: (list) => sql`in (select value from json_each(${list}))`,
  isAmong: (query) => sql`in (${query})`,
  bindList: jsonList,
  withoutIndex: (column) => `+${column}`,
  orderedJoin: ' cross join ',
  fence: 'limit -1',
  // Every number and text is greater; SQLite would not use the index for IS NOT NULL.
  isNotNull: (key) => `${key} > -9e999`,
  isLongSearch: () => false,
  contains: () => containsSql('_text'),
  searchValues: searchParameters,
  jsonArray: 'json_group_array',
  bytes: (text) => sql`cast(${text} as blob)`,
  // The upper and the lower 32 bits: sum() fails beyond 2^63.
  exactSums: (value) => [`sum(${value} >> 32)`, `sum(${value} & 4294967295)`],
  readSum: ([upper = 0n, lower = 0n]) => upper * 2n ** 32n + lower,
  // A day that a month does not have would become one of the next month.
  beginsWithDate: (text) =>
    `${text} glob '${dateGlob}*' and substr(${text}, 1, 4) <> '0000' and date(substr(${text}, 1, 10)) = substr(${text}, 1, 10)`,
  exactText: (text) => `${text} collate binary`,
  inTime: looksAtTime,
  elements: sql`json_each(${parameter('$rows')})`,
  element: (index) => `(_e.value ->> ${index})`,
  forUpdate: '',
  forChange: '',
  deferReferences: compile('pragma defer_foreign_keys = on'),
  callerIs,
}

/** Looks at the time once for so many rows; for each, a comparison with the number of the row would take a third of the time. */
const countInSteps = (resource: Resource, condition: Fragment): Sql => {
  const table = quoted(resource.table)
  const step = (after: string) =>
    sql`(select id from ${table} where ${condition}${after} order by id limit 1 offset ${String(checkedRows - 1)})`
  // Less than every id; compared with a text, minus infinity would be the text -Inf.
  const least = rowKey(resource) === 'id' ? '-9e999' : "''"
  const isLeft = `id > coalesce((select max(id) from registry_step), ${least})`
  return sql`with recursive registry_step (id) as (select ${step('')} union all
      select ${step(' and id > registry_step.id')} from registry_step where registry_step.id is not null and registry_in_time())
    select count(id) * ${String(checkedRows)} + (select count(*) from ${table} where ${condition} and ${isLeft}) from registry_step`
}

export const managedSource = (resource: Resource): Source => {
  const table = quoted(resource.table)
  const index = searchTable(resource)
  return {
    resource,
    json: rowJson(resource),
    from: table,
    // Without INDEXED BY, SQLite computes the JSON again for a handful of rows.
    byId: (alias) => `${table} as ${alias} indexed by ${jsonIndex(resource)}`,
    text: joinedText(resource),
    size: textSize(resource),
    // Most ids are consecutive. A random choice would double the time of a count.
    inTime: `(_t.rowid & ${checkedRows - 1} or registry_in_time())`,
    uniqueKey: (_, value) => value,
    state: `select state as version, rows as total from ${countsTable} where name = '${resource.table}'`,
    candidates: (search) =>
      isIndexed(fold(search))
        ? {
            // Joined: as the list of an IN, all of them would be found before the first row is read.
            from: `(select rowid as _row from ${index} where ${index} match registry_match()) as _c cross join `,
            where: `${rowKey(resource)} = _row`,
            id: rowKey(resource) === 'id' ? '_row' : undefined,
          }
        : undefined,
    countInOrder: (condition) => countInSteps(resource, condition),
    isProbed: true,
  }
}

export const unmanagedSource = (resource: Resource, table: CatalogueTable | undefined): Source => ({
  ...unmanagedColumns(resource, table, columnOf, (column) =>
    isWhole(idField(resource)) ? `typeof(${column}) = 'integer'` : `typeof(${column}) not in ('null', 'blob')`,
  ),
  json: rowJson(resource),
  text: joinedText(resource),
  ...(isText(idField(resource)) && isIntegerType(idTypeIn(resource, table)) && { idOf: integerId }),
  inTime: looksAtTime,
})

/** The SQL that says whether a table has a row of so much text that a page of such rows takes long to read. */
export const hasLongRowsSql = (resource: Resource): string => {
  // Without text the condition is constant, and SQLite cannot use the index.
  if (textFields(resource).length === 0) return '0'
  return `exists (select 1 from ${quoted(resource.table)} indexed by ${longRowsIndex(resource)} where ${isLong(resource)})`
}

/** SQLite's clock in milliseconds. */
const now = `cast(unixepoch('subsec') * 1000 as integer)`

export const keyStatements = (): KeyStatements => {
  const { find, expired, store } = keyQueries(now)
  const values = ['$key', '$digest', 'body'].map((name) => parameter(name))
  return { find: compile(find), store: compile(store(joinSql(values, ', '))), prune: compile(`delete ${expired}`) }
}
