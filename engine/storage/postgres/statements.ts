/** The reads of a resource on PostgreSQL: each is one statement; those of pages and rows return the table's version too. */
import type { Knex } from 'knex'
import { kindOf, servedValue } from '../../descriptor/kinds.js'
import {
  type Condition,
  defaultListQuery,
  isById,
  type Order,
  orderName,
  type Position,
} from '../../descriptor/listQuery.js'
import { operatorOf } from '../../descriptor/operators.js'
import type { Field, Resource } from '../../descriptor/registry.js'
import { buildOnce } from '../bindings.js'
import { excerptLength, maxValueBytes } from '../dialect.js'
import { bindPosition, orderBy, partsAfter } from '../order.js'
import { largePageBytes, pageHead, partBytes } from '../parts.js'
import type { Plan } from '../plan.js'
import { findField, quoted } from '../schema.js'
import { countTotal, pageStart, selectState } from './changes.js'
import type { Timed } from './connections.js'
import { maxKeyBytes } from './functions.js'
import { knex, named, type Prepared, prepared, type Query } from './prepared.js'
import { columnOf, filterIndexCondition, parameterType, rowJson, searchedColumn, sortKey } from './schema.js'
import { contains, isExactSearch, isLongSearch } from './search.js'

/** Common table expressions, by name; no table has such names. */
type Parts = Readonly<Record<string, Query>>

const withParts = (parts: Parts, query: Knex.QueryBuilder): Knex.QueryBuilder => {
  for (const [name, part] of Object.entries(parts)) query.withMaterialized(name, part)
  return query
}

/** Whether a filter's value is left out of the filter's index. */
const isLongText = ({ value }: Condition): boolean =>
  [value].flat().some((text) => typeof text === 'string' && Buffer.byteLength(text) > maxKeyBytes)

/** Whether the rows of a page are too large to be sent at once. */
const isLarge = knex.raw(`coalesce(sum(size), 0) > ${largePageBytes} as is_large`)

/** The body of a page; of a large one only the ids of its rows, and the JSON that follows them. Then where the next one begins. */
const pageColumns = (rows: Query, found: OrderSql) =>
  knex.raw(
    `case when not is_large then concat('${pageHead}', ?, json) end,
    case when is_large then (select string_agg(id::text, ',' order by ${found.by}) from _sizes) end,
    case when is_large then json end, (select id from _last), (select value from _last)`,
    [rows],
  )

/** The JSON that follows the rows of a page. */
const pageTail = (total: Query) =>
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
    const field = findField(resource, condition.field)
    const { sql, option, operand } = operatorOf(condition.operator)
    const type = parameterType(field)
    const column = option === 'range' ? sortKey(field) : quoted(field.name)
    const text = sql(condition.value)
      .replace('in (?)', '= any(?)')
      .replace('??', () => column)
    const value = named(conditionName(n), operand === 'list' ? `${type ?? 'text'}[]` : type)
    query.whereRaw(text, (operand === 'boolean' ? [] : [value]) as never)
    const isInIndex = filterIndexCondition(field)
    if (isInIndex && option === 'filter' && operand !== 'boolean' && !isLongText(condition)) query.whereRaw(isInIndex)
  }
  return query
}

/** How rows are ordered: by their key in the table or, once they are found, by the columns `k` and `id`. */
interface OrderSql {
  readonly key: string
  readonly by: string
  /** The other way round. */
  readonly reversed: string
}

const orderSql = (order: Order, key: string): OrderSql => ({
  key,
  by: orderBy(order, key),
  reversed: orderBy({ ...order, descending: !order.descending }, key),
})

const tableOrder = (resource: Resource, order: Order): OrderSql =>
  orderSql(order, sortKey(findField(resource, order.field)))
const foundOrder = (order: Order): OrderSql => orderSql(order, 'k')

/** The key of a row in the form that its kind reads. */
export const keyText = ({ kind }: Field, key = 'k'): string => {
  const { read, json } = columnOf(kind)
  return json && !read ? json(key) : key
}

/** The rows of a source after a position, or after `skip` rows; in order and with their keys, as many as `limit` and one more. */
const inOrder = (
  source: Knex.QueryBuilder,
  { key, by }: OrderSql,
  order: Order,
  type: string | undefined,
  after: Position | undefined,
  skip: Query = named('skipRows'),
): Query => {
  const rows = source
    .clone()
    .clear('select')
    .select('id', knex.raw(`${key} as k`))
  const limit = named('limit', 'bigint')
  if (!after) return knex.raw(`? order by ${by} limit ? + 1 offset ?`, [rows, limit, skip])
  const parts = partsAfter(key, 'id', order, after).map((part) => {
    const [text, bindings] = bindPosition(part, named('afterValue', type ?? 'text'), named('afterId', 'bigint'))
    const condition = rows.clone().whereRaw(text, bindings as never)
    return knex.raw(`(? order by ${by} limit ? + 1)`, [condition, limit])
  })
  return knex.raw(parts.map(() => '?').join(' union all '), parts as never)
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
const statementKey = ({ strategy, search, where, order }: Plan, after?: Position): string =>
  JSON.stringify([
    strategy,
    isExactSearch(search),
    isLongSearch(search),
    where.map((condition) => [
      condition.field,
      operatorOf(condition.operator).sql(condition.value),
      isLongText(condition),
    ]),
    orderName(order),
    after && (after.value === null ? 'null' : 'value'),
  ])

/** What the time of a plan's statement depends on. */
export const timing = ({ strategy, search, where }: Plan): Timed => ({
  values: JSON.stringify([search, ...where.map(({ value }) => String(value))]),
  isScan: strategy === 'scan',
})

/** The first of some rows, each with a line feed, and the id of the last; null if these are all. In the order of their ids. */
const partStatement = (resource: Resource): Prepared => {
  const given = `unnest(string_to_array(?, ',')::bigint[]) with ordinality as _given (id, registry_n)`
  const row = `(select ${rowJson(resource)} from ${quoted(resource.table)} where id = _part.id)`
  const parts: Parts = {
    _rows: knex
      .select('id', 'registry_n', size)
      .from(knex.raw(`${given} join ?? using (id)`, [named('ids'), resource.table] as never)),
    _sized: knex('_rows').select('id', 'registry_n', knex.raw('sum(size) over (order by registry_n) - size as before')),
    _part: knex('_sized').select('id', 'registry_n').whereRaw(`before < ${partBytes}`),
  }
  const query = knex
    .select(
      knex.raw(`string_agg(${row} || chr(10), '' order by registry_n)`),
      knex.raw(`case when count(*) < (select count(*) from _rows)
        then (select id from _part order by registry_n desc limit 1) end`),
    )
    .from('_part')
  return prepared(withParts(parts, query))
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
    const { kind } = findField(resource, name)
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
      group by ${value} order by 3 desc, 2 limit ?)`
  })
  const all = ['select null, null, count(*) from _rows', ...counts].join(' union all ')
  const most = fields.map(() => named('most', 'bigint'))
  return prepared(knex.raw(`with _rows as materialized (?) ${all}`, [rows, ...most] as never))
}

/** Some fields of some rows. */
const excerptsStatement = (resource: Resource, fields: readonly string[]): Prepared => {
  const columns = fields.map((name) => {
    const { kind } = findField(resource, name)
    const value = servedValue(columnOf(kind), quoted(name))
    return knex.raw(kindOf(kind).isText ? `left(${value}, ${excerptLength})` : value)
  })
  return prepared(givenRows(resource).select('id', ...(columns as never[])))
}

/** More matches of a filter than this are not sorted: the server finds the page along the index of the order. */
const maxSorted = 5_000
const isFew = `(select count(*) from _few) <= ${maxSorted}`

/** Whether the index of a filter has its matches in another order than the page. */
const isInAnyOrder = ({ strategy, order, where }: Plan): boolean =>
  strategy === 'filter' && !(isById(order) && where.every(({ operator }) => operatorOf(operator).isEquality))

/** The statements of one resource; those that depend on a request are built on first use. */
export const readStatements = (resource: Resource) => {
  const { table } = resource
  const all = knex(table)
  /** An array, so that rows are looked up by id whatever the server estimates. */
  const found = knex(table).whereRaw('id = any(array(select id from _found))')
  /** The JSON of rows, joined by commas. */
  const rowsJson = (rows: Knex.QueryBuilder, by: string) =>
    knex.select(knex.raw(`string_agg(${rowJson(resource)}, ',' order by ${by})`)).from(rows.clone().as('_rows'))

  /** Selects the version of the table and whether its log has become long. */
  const withState = (parts: Parts = {}): Knex.QueryBuilder =>
    withParts({ _state: selectState(resource), ...parts }, knex.select('tag', 'is_long'))
  /** Adds the page of the first rows of the part `_next`, which has one more if there is another page. */
  const pageStatement = (order: Order, parts: Parts, total: Query): Prepared => {
    const [inTable, inParts] = [tableOrder(resource, order), foundOrder(order)]
    const limit = named('limit', 'bigint')
    const last = knex('_found')
      .select('id', knex.raw(`${keyText(findField(resource, order.field))} as value`))
      .whereRaw('(select count(*) from _next) > ?', [limit] as never)
    const query = withState({
      ...parts,
      _found: knex.raw(`select id, k from _next order by ${inParts.by} limit ?`, [limit]),
      _last: knex.raw(`? order by ${inParts.reversed} limit 1`, [last]),
      _sizes: found.clone().select('id', knex.raw(`${inTable.key} as k`), size),
      _large: knex('_sizes').select(isLarge),
      _tail: pageTail(total),
    })
    return prepared(query.select(pageColumns(rowsJson(found, inTable.by), inParts)).fromRaw('_state, _large, _tail'))
  }
  type Next = (source: Knex.QueryBuilder, order: OrderSql) => Query
  /**
   * Matches that may be few or many, whatever the server estimates: the few are sorted. The server expects a range with one bound to
   * match a third of all rows, and would scan the table for it; asked for the order of the range, it uses the index.
   */
  const fewOrMany = ({ order, where }: Plan, matches: Knex.QueryBuilder, next: Next): Parts => {
    const range = where.find(({ operator }) => operatorOf(operator).option === 'range')
    const inRange = range ? `order by ${tableOrder(resource, { field: range.field, descending: false }).by}` : ''
    const few = next(knex('_few').whereRaw(isFew), foundOrder(order))
    const many = next(matches.clone().whereRaw(`not (${isFew})`), tableOrder(resource, order))
    const columns = ['id', knex.raw(`${tableOrder(resource, order).key} as k`)] as never[]
    return {
      _few: knex.raw(`? ${inRange} limit ${maxSorted + 1}`, [matches.clone().select(columns)]),
      _next: knex.raw('(?) union all (?)', [few, many]),
    }
  }
  const nextAfter = ({ order }: Plan, after: Position | undefined, skip?: Query): Next => {
    const type = parameterType(findField(resource, order.field))
    return (source, by) => inOrder(source, by, order, type, after, skip)
  }
  const matchingPage = (plan: Plan, after: Position | undefined): Prepared => {
    const { strategy, order } = plan
    const next = nextAfter(plan, after)
    const inTable = tableOrder(resource, order)
    if (strategy === 'all') return pageStatement(order, { _next: next(all, inTable) }, countTotal(resource))
    const matches = addMatching(all.clone(), resource, plan)
    const total = matches.clone().count()
    if (isInAnyOrder(plan)) {
      const counted = knex.raw(`case when ${isFew} then (select count(*) from _few) else (?) end`, [total])
      return pageStatement(order, fewOrMany(plan, matches, next), counted)
    }
    if (strategy === 'filter') return pageStatement(order, { _next: next(matches, inTable) }, total)
    // The count needs all matches, so the page is taken from them.
    const keyed = matches.clone().select('id', knex.raw(`${inTable.key} as k`))
    return pageStatement(
      order,
      { _matches: keyed, _next: next(knex('_matches'), foundOrder(order)) },
      knex('_matches').count(),
    )
  }
  const idsStatement = (plan: Plan, after: Position | undefined): Prepared => {
    const { order } = plan
    const matches = addMatching(all.clone(), resource, plan)
    const next = nextAfter(plan, after, knex.raw('0'))
    const parts = isInAnyOrder(plan)
      ? fewOrMany(plan, matches, next)
      : { _next: next(matches, tableOrder(resource, order)) }
    const { by } = foundOrder(order)
    const query = knex
      .select('id', knex.raw(keyText(findField(resource, order.field))))
      .fromRaw(`(select * from _next order by ${by} limit ?) as _rows`, [named('limit', 'bigint')] as never)
      .orderByRaw(by)
    return prepared(withParts(parts, query))
  }

  const once = buildOnce<Prepared>()
  const byId: Order = defaultListQuery.order
  const inTable = tableOrder(resource, byId)
  const fromStart = knex(table).whereRaw('id >= (select first from _start)')
  const skip = knex.raw('(select skip from _start)')

  return {
    version: prepared(withState().from('_state')),
    get: prepared(
      withState()
        .select(rowsJson(knex(table).where('id', named('id', 'bigint')), 'id').as('body'))
        .from('_state'),
    ),
    /** The page of all rows at an offset, in order of `id`. */
    atOffset: pageStatement(
      byId,
      { _start: pageStart(resource), _next: inOrder(fromStart, inTable, byId, undefined, undefined, skip) },
      countTotal(resource),
    ),
    part: partStatement(resource),
    /** The page of any other plan, after a position or some rows. */
    matching: (plan: Plan, after: Position | undefined) =>
      once(`page ${statementKey(plan, after)}`, () => matchingPage(plan, after)),
    /** The next matching ids after a position. */
    ids: (plan: Plan, after: Position | undefined) =>
      once(`ids ${statementKey(plan, after)}`, () => idsStatement(plan, after)),
    valueCounts: (plan: Plan, fields: readonly string[], isSample: boolean) =>
      once(`values ${statementKey(plan)} ${isSample} ${fields}`, () =>
        valueCountsStatement(resource, plan, fields, isSample),
      ),
    excerpts: (fields: readonly string[]) => once(`excerpts ${fields}`, () => excerptsStatement(resource, fields)),
  }
}
