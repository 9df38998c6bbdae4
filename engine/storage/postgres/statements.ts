/** The reads of a resource on PostgreSQL: each is one statement; those of pages and rows return the table's version too. */
import type { Knex } from 'knex'
import { kindOf, servedValue } from '../../descriptor/kinds.js'
import type { Condition } from '../../descriptor/listQuery.js'
import { operators } from '../../descriptor/operators.js'
import type { Resource } from '../../descriptor/registry.js'
import { excerptLength, maxValueBytes, maxValues } from '../dialect.js'
import { largePageBytes, pageHead, partBytes } from '../parts.js'
import type { Plan } from '../plan.js'
import { fieldOf, quoted } from '../schema.js'
import { pageStart, stateOf, totalOf } from './changes.js'
import { maxKeyBytes } from './functions.js'
import { bounded, knex, named, type Prepared, prepared, type Query } from './prepared.js'
import { columnOf, filterIndexCondition, parameterType, rowJson, searchedColumn } from './schema.js'
import { contains, isExactSearch, isLongSearch } from './search.js'
import type { Timed } from './slots.js'

type Parts = Readonly<Record<string, Query>>

/** Whether a filter's value is left out of the filter's index. */
const isLongText = ({ value }: Condition): boolean =>
  typeof value === 'string' && Buffer.byteLength(value) > maxKeyBytes

/** Whether the rows of a page are too large to be sent at once. */
const isLarge = knex.raw(`coalesce(sum(size), 0) > ${largePageBytes} as is_large`)

/** The body of a page; of a large one only the ids of its rows, and the JSON that follows them. */
const pageColumns = (rows: Query) =>
  knex.raw(
    `case when not is_large then concat('${pageHead}', ?, json) end,
    case when is_large then (select string_agg(id::text, ',' order by id) from _sizes) end,
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

/** The approximate size of a row: that of its text, which the server knows without reading it. */
const size = knex.raw(`coalesce(octet_length(${searchedColumn}), 0) as size`)

/** The rows whose ids are given, joined by commas. */
const givenRows = ({ table }: Resource) =>
  knex(table).whereRaw(`id = any(string_to_array(?, ',')::bigint[])`, [named('ids')] as never)

/** The parameter of the nth condition. */
const conditionName = (n: number): string => `condition${n}`

/** The values of a plan's conditions, by parameter. */
export const conditionValues = ({ where }: Plan) =>
  Object.fromEntries(where.map(({ value }, n) => [conditionName(n), value]))

const addConditions = (query: Knex.QueryBuilder, resource: Resource, { where }: Plan): Knex.QueryBuilder => {
  for (const [n, condition] of where.entries()) {
    const field = fieldOf(resource, condition.field)
    const value = named(conditionName(n), parameterType(field))
    query.whereRaw(operators[condition.operator].sql, [field.name, value] as never)
    const isInIndex = filterIndexCondition(field)
    if (isInIndex && !isLongText(condition)) query.whereRaw(isInIndex)
  }
  return query
}

/** Adds the conditions and the search of a plan. */
const addMatching = (query: Knex.QueryBuilder, resource: Resource, plan: Plan): Knex.QueryBuilder => {
  const { strategy, search } = plan
  addConditions(query, resource, plan)
  if (strategy === 'search') query.where(searchedColumn, 'like', named('searchPattern'))
  if (strategy === 'scan' || (strategy === 'search' && !isExactSearch(search)))
    query.where(contains(searchedColumn, isLongSearch(search)))
  return query
}

/** What the SQL of a plan depends on: everything except the bound values. */
const statementKey = ({ strategy, search, where }: Plan): string =>
  JSON.stringify([
    strategy,
    isExactSearch(search),
    isLongSearch(search),
    where.map((condition) => [condition.field, condition.operator, isLongText(condition)]),
  ])

/** What the time of a plan's statement depends on. */
export const timedOf = ({ strategy, search, where }: Plan): Timed => ({
  values: JSON.stringify([search, ...where.map(({ value }) => String(value))]),
  isScan: strategy === 'scan',
})

/** The first of some rows, each with a line feed, and the id of the last; null if these are all. */
const partStatement = (resource: Resource): Prepared => {
  const parts: Parts = {
    _rows: givenRows(resource).select('id', size),
    _sized: knex('_rows').select('id', knex.raw('sum(size) over (order by id) - size as before')),
    _part: knex('_sized').select('id').whereRaw(`before < ${partBytes}`),
  }
  const query = knex.select(
    knex(resource.table)
      .whereRaw('id = any(array(select id from _part))')
      .select(knex.raw(`string_agg(${rowJson(resource)} || chr(10), '' order by id)`))
      .as('rows'),
    knex.raw(`case when (select count(*) from _part) < (select count(*) from _rows)
      then (select max(id) from _part) end`),
  )
  for (const [name, part] of Object.entries(parts)) query.withMaterialized(name, part)
  return prepared(query)
}

/** The most frequent values, as rows of field, value and count. The first row has the number of counted rows. */
const valueCountsStatement = (
  resource: Resource,
  plan: Plan,
  fields: readonly string[],
  isSample: boolean,
): Prepared => {
  const { table } = resource
  // Samples whole pages of the table, the same ones each time; no index finds rows in a sample.
  const sample = knex.raw('?? tablesample system (?) repeatable (1)', [table, named('percent')] as never)
  const columns = fields.map((name) => {
    const { kind } = fieldOf(resource, name)
    const value = servedValue(columnOf(kind), quoted(name))
    const isShort = kindOf(kind).isText && `octet_length(${quoted(name)}) <= ${maxValueBytes}`
    return knex.raw(`${isShort ? `case when ${isShort} then ${value} end` : value} as ??`, [name])
  })
  const rows = addMatching(
    knex(isSample ? (sample as never) : table).select(columns as never[]),
    resource,
    isSample && plan.search !== '' ? { ...plan, strategy: 'scan' } : plan,
  )
  const counts = fields.map((name) => {
    const value = quoted(name)
    return `(select '${name}', ${value}::text, count(*) from _rows where ${value} is not null
      group by ${value} order by 3 desc, 2 limit ${maxValues})`
  })
  const all = ['select null, null, count(*) from _rows', ...counts].join(' union all ')
  return prepared(knex.raw(`with _rows as materialized (?) ${all}`, [rows]))
}

/** Some fields of some rows. */
const excerptsStatement = (resource: Resource, fields: readonly string[]): Prepared => {
  const columns = fields.map((name) => {
    const { kind } = fieldOf(resource, name)
    const value = servedValue(columnOf(kind), quoted(name))
    return knex.raw(kindOf(kind).isText ? `left(${value}, ${excerptLength})` : value)
  })
  return prepared(givenRows(resource).select('id', ...(columns as never[])))
}

/** The statements of one resource; those that depend on a request are built on first use. */
export const statementsOf = (resource: Resource) => {
  const { table } = resource
  const ids = knex(table).select('id')
  /** An array, so that rows are looked up by id whatever the server estimates. */
  const found = knex(table).whereRaw('id = any(array(select id from _found))').orderBy('id')
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
    const sizes = found.clone().select('id', size)
    const query = withParts({ ...parts, _sizes: sizes, _large: knex('_sizes').select(isLarge), _tail: tailOf(total) })
    return prepared(query.select(pageColumns(jsonOf(found))).fromRaw('_state, _large, _tail'))
  }
  const matchingPage = (plan: Plan): Prepared => {
    const matches = addMatching(ids.clone(), resource, plan)
    if (plan.strategy === 'filter') return pageOf({ _found: bounded(matches) }, matches.clone().clear('select').count())
    // The count needs all matches, so the page is taken from them.
    return pageOf({ _matches: matches, _found: bounded(knex('_matches').select('id')) }, knex('_matches').count())
  }

  const built = new Map<string, Prepared>()
  const once = (key: string, build: () => Prepared): Prepared => {
    const statement = built.get(key) ?? build()
    built.set(key, statement)
    return statement
  }
  const total = totalOf(resource)
  const fromStart = ids.clone().whereRaw('id >= (select first from _start)')

  return {
    version: prepared(withParts().from('_state')),
    get: prepared(
      withParts()
        .select(jsonOf(knex(table).where('id', named('id', 'bigint'))).as('body'))
        .from('_state'),
    ),
    /** The first page of all rows, and any other. */
    first: pageOf({ _found: bounded(ids) }, total),
    further: pageOf(
      { _start: pageStart(resource), _found: bounded(fromStart, knex.raw('(select skip from _start)')) },
      total,
    ),
    part: partStatement(resource),
    /** The page of a plan that searches or filters. */
    matching: (plan: Plan) => once(`page ${statementKey(plan)}`, () => matchingPage(plan)),
    /** The next matching ids after an id. */
    ids: (plan: Plan) =>
      once(`ids ${statementKey(plan)}`, () =>
        prepared(bounded(addMatching(ids.clone().where('id', '>', named('after', 'bigint')), resource, plan))),
      ),
    valueCounts: (plan: Plan, fields: readonly string[], isSample: boolean) =>
      once(`values ${statementKey(plan)} ${isSample} ${fields}`, () =>
        valueCountsStatement(resource, plan, fields, isSample),
      ),
    excerpts: (fields: readonly string[]) => once(`excerpts ${fields}`, () => excerptsStatement(resource, fields)),
  }
}
