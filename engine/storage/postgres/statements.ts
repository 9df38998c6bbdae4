/** The reads of a resource on PostgreSQL: each is one statement, which returns the table's version too. */
import type { Knex } from 'knex'
import type { Field, Resource } from '../../descriptor/registry.js'
import { largePage, pageHead } from '../largePage.js'
import type { Plan } from '../plan.js'
import { pageStart, stateOf } from './changes.js'
import { longestKey } from './functions.js'
import { bounded, knex, named, type Prepared, prepared, type Query } from './prepared.js'
import { isIndexed, jsonColumn, searchedColumn } from './schema.js'
import { contains, isLongSearch } from './search.js'

type Parts = Readonly<Record<string, Query>>

/** Whether a filter's value is left out of the filter's index. */
const isLongText = (value: string | bigint): boolean =>
  typeof value === 'string' && Buffer.byteLength(value) > longestKey

/** Whether the rows of a page are too large to be sent at once. */
const isLarge = knex.raw(`coalesce(sum(octet_length(${jsonColumn})), 0) > ${largePage} as is_large`)

/** The body of a page; of a large one only its rows, each as `id:size`, and the JSON that follows them. */
const pageColumns = knex.raw(`
  case when not is_large then concat('${pageHead}', (select string_agg(${jsonColumn}, ',' order by id) from _page), json) end,
  case when is_large then (select string_agg(id || ':' || octet_length(${jsonColumn}), ',' order by id) from _page) end,
  case when is_large then json end`)

/** The JSON that follows the rows of a page. */
const tailOf = (total: Query) =>
  knex.raw(`select concat('],"meta":{"total":', ?, ',"limit":', ?, ',"offset":', ?, '}}') as json from _state`, [
    total,
    named('limit', 'bigint'),
    named('offset', 'text'),
  ])

/** The statements of one resource. */
export const statementsOf = (resource: Resource) => {
  const { table, fields } = resource
  const ids = knex(table).select('id')
  const rows = knex(table).select('id', jsonColumn)
  /** An array, so that rows are looked up by id whatever the server estimates. */
  const rowsFound = rows.clone().whereRaw('id = any(array(select id from _found))').orderBy('id')

  /** Selects the version of the table and the size of its log. Its parts are common table expressions; no table has such names. */
  const withParts = (parts: Parts = {}): Knex.QueryBuilder => {
    const query = knex.select('tag', 'changes')
    for (const [name, part] of Object.entries({ _state: stateOf(resource), ...parts }))
      query.withMaterialized(name, part)
    return query
  }
  /** Adds a page to it: of the rows whose ids are in the part `_found`, unless the part `_page` has the rows themselves. */
  const pageOf = (parts: Parts, total: Query): Prepared => {
    const page = parts['_page'] ?? rowsFound
    const query = withParts({ ...parts, _page: page, _size: knex('_page').select(isLarge), _tail: tailOf(total) })
    return prepared(query.select(pageColumns).fromRaw('_state, _size, _tail'))
  }

  const matching = ({ by, q, filters }: Plan): Prepared => {
    const matches = ids.clone()
    for (const [name, value] of Object.entries(filters)) {
      matches.where(name, named(name))
      const indexed = isIndexed(fields.find((field) => field.name === name) as Field)
      if (indexed && !isLongText(value)) matches.whereRaw(indexed)
    }
    if (by === 'filter') return pageOf({ _found: bounded(matches) }, matches.clone().clear('select').count())
    if (by === 'search') matches.where(searchedColumn, 'like', named('searchPattern'))
    if (by === 'scan' || isLongSearch(q)) matches.where(contains(searchedColumn, isLongSearch(q)))
    // The count needs all matches, so the page is taken from them.
    return pageOf({ _matches: matches, _found: bounded(knex('_matches').select('id')) }, knex('_matches').count())
  }
  const built = new Map<string, Prepared>()

  const total = knex.raw('total')
  const start = pageStart(resource)
  const fromStart = ids.clone().whereRaw('id >= (select first from _start)')

  return {
    version: prepared(withParts().from('_state')),
    get: prepared(
      withParts()
        .select(knex(table).select(jsonColumn).where('id', named('id')).as('body'))
        .from('_state'),
    ),
    /** The JSON of some rows, given by their ids joined by commas. */
    rows: prepared(
      knex(table)
        .select(knex.raw(`string_agg(${jsonColumn}, ',' order by id)`))
        .whereRaw(`id = any(string_to_array(?, ',')::bigint[])`, [named('ids')]),
    ),
    /** The first page of all rows, and any other. */
    first: pageOf({ _page: bounded(rows) }, total),
    further: pageOf({ _start: start, _found: bounded(fromStart, knex.raw('(select skip from _start)')) }, total),
    /** The page of a plan that searches or filters; built on first use. */
    matching(plan: Plan): Prepared {
      const isLong = Object.entries(plan.filters).map(([name, value]) => [name, isLongText(value)])
      const key = JSON.stringify([plan.by, isLongSearch(plan.q), isLong])
      const statement = built.get(key) ?? matching(plan)
      built.set(key, statement)
      return statement
    },
  }
}
