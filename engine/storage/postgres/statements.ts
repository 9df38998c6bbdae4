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

/** Whether a filter's value is left out of the filter's index. */
const isLongText = (value: string | bigint): boolean =>
  typeof value === 'string' && Buffer.byteLength(value) > longestKey

/** Whether the rows of a page are too large to be sent at once. */
const isLarge = knex.raw(`coalesce(sum(octet_length(${jsonColumn})), 0) > ${largePage} as is_large`)

/** The body of a page; of a large one only its rows, each as `id:size`, and the JSON that follows them. */
const pageColumns = knex.raw(`
  case when not is_large then concat('${pageHead}', (select string_agg(${jsonColumn}, ',' order by id) from page), json) end,
  case when is_large then (select string_agg(id || ':' || octet_length(${jsonColumn}), ',' order by id) from page) end,
  case when is_large then json end`)

/** The JSON that follows the rows of a page. */
const tailOf = (total: Query) =>
  knex.raw(`select concat('],"meta":{"total":', ?, ',"limit":', ?, ',"offset":', ?, '}}') as json from state`, [
    total,
    named('limit', 'bigint'),
    named('offset', 'text'),
  ])

/** The statements of one resource. */
export const statementsOf = (resource: Resource) => {
  const { table, fields } = resource
  const rows = knex(table).select('id', jsonColumn)
  /** Every statement begins with the table's state. */
  const withState = () => knex.withMaterialized('state', stateOf(resource))

  /** Completes a query with the page of these rows. */
  const withPage = (query: Knex.QueryBuilder, page: Query, total: Query): Prepared =>
    prepared(
      query
        .withMaterialized('page', page)
        .withMaterialized('size', knex('page').select(isLarge))
        .withMaterialized('tail', tailOf(total))
        .select('tag', 'changes', pageColumns)
        .fromRaw('state, size, tail'),
    )
  /** An array, so that rows are looked up by id whatever the server estimates. */
  const rowsFound = rows.clone().whereRaw('id = any(array(select id from found))').orderBy('id')

  const pageOfAll = (): Prepared => {
    const found = knex(table).select('id').whereRaw('id >= (select first from start)')
    const query = withState()
      .withMaterialized('start', pageStart(resource))
      .withMaterialized('found', bounded(found, knex.raw('(select skip from start)')))
    return withPage(query, rowsFound, knex.raw('total'))
  }

  const matching = ({ by, q, filters }: Plan): Prepared => {
    const matching = knex(table)
    for (const [name, value] of Object.entries(filters)) {
      matching.where(name, named(name))
      const indexed = isIndexed(fields.find((field) => field.name === name) as Field)
      if (indexed && !isLongText(value)) matching.whereRaw(indexed)
    }
    const ids = matching.clone().select('id')
    if (by === 'filter') {
      return withPage(withState().withMaterialized('found', bounded(ids)), rowsFound, matching.count())
    }
    if (by === 'search') ids.where(searchedColumn, 'like', named('searchPattern'))
    if (by === 'scan' || isLongSearch(q)) ids.where(contains(searchedColumn, isLongSearch(q)))
    // The count needs all matches, so the page is taken from them.
    const query = withState()
      .withMaterialized('matches', ids)
      .withMaterialized('found', bounded(knex('matches').select('id')))
    return withPage(query, rowsFound, knex('matches').count())
  }
  const built = new Map<string, Prepared>()

  return {
    version: prepared(withState().select('tag', 'changes').from('state')),
    get: prepared(
      withState()
        .select('tag', 'changes', knex(table).select(jsonColumn).where('id', named('id')).as('body'))
        .from('state'),
    ),
    /** The JSON of some rows, given by their ids joined by commas. */
    rows: prepared(
      knex(table)
        .select(knex.raw(`string_agg(${jsonColumn}, ',' order by id)`))
        .whereRaw(`id = any(string_to_array(?, ',')::bigint[])`, [named('ids')]),
    ),
    /** The first page of all rows, and any other. */
    first: withPage(withState(), bounded(rows), knex.raw('total')),
    further: pageOfAll(),
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
