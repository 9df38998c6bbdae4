/** The reads of a resource on PostgreSQL: each is one statement, which returns the table's version too. */
import type { Knex } from 'knex'
import type { ParameterValue } from '../../descriptor/kinds.js'
import type { Resource } from '../../descriptor/registry.js'
import { largePage, pageHead } from '../largePage.js'
import type { Plan } from '../plan.js'
import { fieldOf } from '../schema.js'
import { pageStart, stateOf, totalOf } from './changes.js'
import { longestKey } from './functions.js'
import { bounded, knex, named, type Prepared, prepared, type Query } from './prepared.js'
import { isIndexed, parameterType, rowJson, searchedColumn } from './schema.js'
import { contains, isExactSearch, isLongSearch } from './search.js'
import type { Timed } from './slots.js'

type Parts = Readonly<Record<string, Query>>

/** Whether a filter's value is left out of the filter's index. */
const isLongText = (value: ParameterValue): boolean =>
  typeof value === 'string' && Buffer.byteLength(value) > longestKey

/** Whether the rows of a page are too large to be sent at once. */
const isLarge = knex.raw(`coalesce(sum(size), 0) > ${largePage} as is_large`)

/** The body of a page; of a large one only its rows, each as `id:size`, and the JSON that follows them. */
const pageColumns = (rows: Query) =>
  knex.raw(
    `case when not is_large then concat('${pageHead}', ?, json) end,
    case when is_large then (select string_agg(id || ':' || size, ',' order by id) from _sizes) end,
    case when is_large then json end`,
    [rows],
  )

/** The JSON that follows the rows of a page. */
const tailOf = (total: Query) =>
  knex.raw(`select concat('],"meta":{"total":', ?, ',"limit":', ?, ',"offset":', ?, '}}') as json from _state`, [
    total,
    named('limit', 'bigint'),
    named('offset', 'text'),
  ])

/** Adds the conditions of filters to a query. */
export const addFilters = (query: Knex.QueryBuilder, resource: Resource, filters: Plan['filters']) => {
  for (const [name, value] of Object.entries(filters)) {
    const field = fieldOf(resource, name)
    query.where(name, named(name, parameterType(field)))
    const indexed = isIndexed(field)
    if (indexed && !isLongText(value)) query.whereRaw(indexed)
  }
  return query
}

/** What the SQL of a plan depends on: everything except the bound values. */
export const statementKey = ({ by, q, filters }: Plan): string => {
  const isLong = Object.entries(filters).map(([name, value]) => [name, isLongText(value)])
  return JSON.stringify([by, isExactSearch(q), isLongSearch(q), isLong])
}

/** What the time of a plan's statement depends on. */
export const timedOf = ({ by, q, filters }: Plan): Timed => ({
  values: JSON.stringify([q, ...Object.values(filters).map(String)]),
  isScan: by === 'scan',
})

/** The statements of one resource. */
export const statementsOf = (resource: Resource) => {
  const { table } = resource
  const ids = knex(table).select('id')
  /** An array, so that rows are looked up by id whatever the server estimates. */
  const found = knex(table).whereRaw('id = any(array(select id from _found))').orderBy('id')
  /** The approximate sizes of the rows: those of their texts, which the server knows without reading them. */
  const sizes = found.clone().select('id', knex.raw(`octet_length(${searchedColumn}) as size`))
  /** The JSON of rows, joined by commas. */
  const jsonOf = (rows: Knex.QueryBuilder) =>
    knex.select(knex.raw(`string_agg(${rowJson(resource)}, ',' order by id)`)).from(rows.clone().as('_rows'))

  /** Selects the version of the table and whether its log has become long. Its parts are common table expressions; no table has such names. */
  const withParts = (parts: Parts = {}): Knex.QueryBuilder => {
    const query = knex.select('tag', 'is_long')
    for (const [name, part] of Object.entries({ _state: stateOf(resource), ...parts }))
      query.withMaterialized(name, part)
    return query
  }
  /** Adds the page of the rows whose ids are in the part `_found`. */
  const pageOf = (parts: Parts, total: Query): Prepared => {
    const query = withParts({ ...parts, _sizes: sizes, _large: knex('_sizes').select(isLarge), _tail: tailOf(total) })
    return prepared(query.select(pageColumns(jsonOf(found))).fromRaw('_state, _large, _tail'))
  }

  const matching = ({ by, q, filters }: Plan): Prepared => {
    const matches = addFilters(ids.clone(), resource, filters)
    if (by === 'filter') return pageOf({ _found: bounded(matches) }, matches.clone().clear('select').count())
    if (by === 'search') matches.where(searchedColumn, 'like', named('searchPattern'))
    if (by === 'scan' || !isExactSearch(q)) matches.where(contains(searchedColumn, isLongSearch(q)))
    // The count needs all matches, so the page is taken from them.
    return pageOf({ _matches: matches, _found: bounded(knex('_matches').select('id')) }, knex('_matches').count())
  }
  const built = new Map<string, Prepared>()

  const total = totalOf(resource)
  const start = pageStart(resource)
  const fromStart = ids.clone().whereRaw('id >= (select first from _start)')

  return {
    version: prepared(withParts().from('_state')),
    get: prepared(
      withParts()
        .select(jsonOf(knex(table).where('id', named('id', 'bigint'))).as('body'))
        .from('_state'),
    ),
    /** The JSON of some rows, given by their ids joined by commas. */
    rows: prepared(jsonOf(knex(table).whereRaw(`id = any(string_to_array(?, ',')::bigint[])`, [named('ids')]))),
    /** The first page of all rows, and any other. */
    first: pageOf({ _found: bounded(ids) }, total),
    further: pageOf({ _start: start, _found: bounded(fromStart, knex.raw('(select skip from _start)')) }, total),
    /** The page of a plan that searches or filters; built on first use. */
    matching(plan: Plan): Prepared {
      const key = statementKey(plan)
      const statement = built.get(key) ?? matching(plan)
      built.set(key, statement)
      return statement
    },
  }
}
