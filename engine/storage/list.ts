/**
 * A list, a row and a count of values as SQL: the only place where a read becomes a statement. The rows of a list are found first,
 * by id and key; few matches are sorted, and many are found along the index of the order.
 */
import { kindOf, type ParameterValue, servedValue } from '../descriptor/kinds/index.js'
import {
  type Condition,
  type ListQuery,
  type Order,
  orderName,
  type Position,
  type Selection,
  selectionKey,
} from '../descriptor/listQuery.js'
import { operatorOf } from '../descriptor/operators.js'
import { idField } from '../descriptor/registry.js'
import type { SummaryQuery } from '../descriptor/summary.js'
import { buildOnce } from '../process/buildOnce.js'
import type { Dialect, RowCondition, Source } from './dialect.js'
import { largePageBytes } from './parts.js'
import { findField, quoted } from './schema.js'
import { type Fragment, joinSql, parameter, type Sql, type Statement, sql } from './sql.js'
import { summaryKey, summaryQuery } from './summary.js'

/** How the rows of a list are found. */
export interface ListPlan extends Selection {
  /** No row can match; all rows match; the filters, the search index or a scan of the table finds those that do. */
  readonly strategy: 'nothing' | 'all' | 'filter' | 'search' | 'scan'
}

const maxInteger = 2n ** 63n - 1n

/** Whether no column can store the value: a NUL, or an integer that is too large. */
const isUnstorable = (value: ParameterValue): boolean =>
  typeof value === 'bigint'
    ? value > maxInteger || value < -maxInteger
    : typeof value === 'string' && value.includes('\0')

/** The nearest integer that a database has. */
export const clampedInteger = (value: bigint): bigint =>
  value > maxInteger ? maxInteger : value < -maxInteger ? -maxInteger : value

/** The condition with a value that a database takes; undefined if no row can match it. */
const storable = (condition: Condition): Condition | undefined => {
  const { operator, value } = condition
  if (typeof value === 'object') {
    const values = value.filter((one) => !isUnstorable(one))
    return values.length > 0 ? { ...condition, value: values } : undefined
  }
  if (!isUnstorable(value)) return condition
  if (typeof value !== 'bigint' || operatorOf(operator).option !== 'range') return undefined
  return { ...condition, value: clampedInteger(value) }
}

/** Plans a read; `isIndexed` says whether the search index can find a text, `hasRule` whether a rule of the caller is one more filter. */
export const planRead = (
  { where: given, search, order }: Selection,
  isIndexed: (text: string) => boolean,
  hasRule = false,
): ListPlan => {
  const where = given.flatMap((condition) => storable(condition) ?? [])
  const strategy = (): ListPlan['strategy'] => {
    if (isUnstorable(search) || where.length < given.length) return 'nothing'
    if (search === '') return where.length === 0 && !hasRule ? 'all' : 'filter'
    return isIndexed(search) ? 'search' : 'scan'
  }
  return { where, search, order, strategy: strategy() }
}

/** How the body of a page begins. */
export const pageHead = '{"data":['

export const emptyPage = ({ limit, offset }: ListQuery['page']): Buffer =>
  Buffer.from(`${pageHead}],"meta":{"total":0,"limit":${limit},"offset":${offset}}}`)

export const listKey = (query: ListQuery): string => {
  const { limit, offset, after } = query.page
  const place = after
    ? `${offset} ${after.id} ${after.value === null ? '' : JSON.stringify(String(after.value))}`
    : offset
  return `${limit}&${place}&${selectionKey(query)}`
}

/** More matches than this are not sorted: they are frequent enough to find the page along the index of the order. */
const maxSorted = 20_000

/** How many rows of a condition are counted to find the one with the fewest. */
export const maxProbed = 2_000

/** Excerpts of texts have this many characters. */
const excerptLength = 200

/** What finds the matches: the index of a condition, by its place in `Plan.where`, or that of the search. */
export type Driver = number | 'search' | undefined

/** The columns of a query, as SQL, by name. */
type Columns = Readonly<Record<string, string>>

interface Test {
  readonly field: string
  /** The places of its conditions in `Plan.where`: both bounds of a field are one range of its index. */
  readonly places: readonly number[]
  readonly isRange: boolean
  readonly isEqual: boolean
  /** Of a rule that follows references. */
  readonly join?: RowCondition['join']
  sql(isIndexed: boolean): Sql
}

/** Rows after a position; `isOneKey` if all of them have the same key. */
interface Part {
  readonly condition: Sql
  readonly isOneKey?: boolean
}

/** What a query of matches has beside their conditions. */
interface Narrowing {
  /** What finds the rows: the search index, or the tables to which a rule follows references. */
  readonly candidates?: ReturnType<NonNullable<Source['candidates']>>
  readonly after?: Fragment
  readonly order?: string
  readonly onlyIf?: string | undefined
}

/** How rows are ordered by a key, then by `id`. Null comes first ascending. */
const orderBy = ({ field, descending }: Order, key: string, idColumn = 'id'): string => {
  const [direction, nulls] = descending ? ['desc', 'last'] : ['asc', 'first']
  const byId = `${idColumn} ${direction}`
  return field === 'id' ? byId : `${key} ${direction} nulls ${nulls}, ${byId}`
}

/** Computes something of some rows of a source; of rows on several servers when these have been read. */
export const selectRows = ({ isSpread }: Source, columns: Fragment, from: Fragment, where: Fragment, more = ''): Sql =>
  isSpread
    ? sql`with registry_read as materialized (select * from ${from} as _t where ${where}) select ${columns} from registry_read as _t${more}`
    : sql`select ${columns} from ${from} as _t where ${where}${more}`

const integer = (name: string): Sql => parameter(name, 'bigint')

const whereAll = (conditions: readonly Fragment[]): Fragment =>
  conditions.length > 0 ? sql` where ${joinSql(conditions, ' and ')}` : ''

/** The statements that read one table; those that depend on a request are built on first use. */
export const readStatements = (dialect: Dialect, source: Source) => {
  const { compile, isAmong, isIn, jsonArray } = dialect
  const { resource, json, from, byId, state, rowRule, isProbed = false, isSpread = false } = source
  /** What conditions are tested on, the rule of a caller among them. */
  const tested = rowRule?.of ?? from
  const idType = (isList = false) => dialect.typeOf(idField(resource), isList)
  const isGivenId = sql`id ${isIn(parameter('ids', idType(true)))}`
  const key = ({ field }: Order): string => dialect.sortKey(findField(resource, field))
  const ids = `${jsonArray}(cast(id as text))`
  const rowsFrom = byId?.('_t') ?? sql`${from} as _t`

  const tests = ({ where }: ListPlan): Test[] => {
    const testsByField = new Map<string, Test>()
    for (const [n, condition] of where.entries()) {
      const field = findField(resource, condition.field)
      const { sign = '', option, operand, isEquality } = operatorOf(condition.operator)
      const isRange = option === 'range'
      const column = isRange ? dialect.sortKey(field) : quoted(field.name)
      const value = parameter(`condition${n}`, dialect.typeOf(field, operand === 'list'))
      const compare = {
        value: (operand: string) => sql`${operand} ${sign} ${value}`,
        list: (operand: string) => sql`${operand} ${isIn(value)}`,
        boolean: (operand: string) => sql`${operand} is ${condition.value ? '' : 'not '}null`,
      }[operand]
      const predicate = isEquality ? dialect.indexPredicate?.(field, condition) : undefined
      const bounds = isRange ? testsByField.get(field.name) : undefined
      testsByField.set(isRange ? field.name : `${field.name} ${condition.operator}`, {
        field: field.name,
        places: [...(bounds?.places ?? []), n],
        isRange,
        isEqual: isEquality && operand === 'value',
        sql(isIndexed) {
          const comparison = compare(isIndexed ? column : dialect.withoutIndex(column))
          const comparisons = [bounds?.sql(isIndexed), comparison, predicate].filter((one) => one !== undefined)
          return joinSql(comparisons, ' and ')
        },
      })
    }
    if (!rowRule) return [...testsByField.values()]
    const rule: Test = {
      field: rowRule.field ?? '',
      places: [where.length],
      isRange: false,
      isEqual: rowRule.field !== undefined,
      join: isProbed ? rowRule.join : undefined,
      sql: rowRule.sql,
    }
    // First, because the rows of a caller are usually the fewest.
    return [rule, ...testsByField.values()]
  }

  const isDriver = ({ places }: Test, driver: Driver): boolean =>
    driver === undefined || places.includes(driver as number)

  /** The rows that match a plan: some columns, in an order if one is given. `isIndexed` says which conditions use their index. */
  const matching = (
    plan: ListPlan,
    columns: Columns,
    isIndexed: (test: Test) => boolean,
    { candidates, after, order = '', onlyIf }: Narrowing = {},
  ): Sql => {
    const isSearch = plan.search !== ''
    // The first ones first: SQLite tests conditions in this order, and those after one that fails not at all.
    const others = tests(plan).filter(({ join }) => join === undefined || join !== candidates)
    const testsSql = others.map((test) => test.sql(isIndexed(test)))
    const where = whereAll(
      [source.inTime, after, ...testsSql, candidates?.where, onlyIf].filter((one) => one !== undefined),
    )
    const text = isSearch ? sql`, ${source.text} as _text` : ''
    const selected = Object.entries(columns).map(([name, value]) => `${value} as ${quoted(name)}`)
    const rows = sql`select ${selected.join(', ')}${text} from ${candidates?.from ?? ''}${tested} as _t${where}${order}`
    if (!isSearch) return rows
    const names = Object.keys(columns).map(quoted).join(', ')
    return sql`select ${names} from (${rows} ${dialect.fence}) as _t where ${dialect.contains(dialect.isLongSearch(plan.search))}`
  }
  /** What the search index finds, if it finds the matches. */
  const candidatesOf = ({ strategy, search }: ListPlan, driver: Driver) =>
    strategy === 'search' && (driver === undefined || driver === 'search') ? source.candidates?.(search) : undefined
  /** The matches in any order, found by a driver. */
  const matches = (plan: ListPlan, driver: Driver, columns: Columns, narrowing: Narrowing = {}): Sql => {
    const isIndexed = (test: Test) => isDriver(test, driver)
    const joined = () => tests(plan).find((test) => test.join && isIndexed(test))?.join
    return matching(plan, columns, isIndexed, { candidates: candidatesOf(plan, driver) ?? joined(), ...narrowing })
  }

  const fewIf = `(select count(*) from registry_few) <= ${maxSorted}`
  // A limit that is 0 otherwise ends SQLite's search at once; several servers have the same limit, and test the condition once each.
  const manyIf = `not (${fewIf})`
  /**
   * The rows after a position, one part after the other. Each is a range of an index on `(key, id)`, which a single condition would
   * not be.
   */
  const partsAfter = (walked: string, { field, descending }: Order, { value }: Position, idColumn = 'id'): Part[] => {
    const sign = descending ? '<' : '>'
    const isAfterId = sql`${idColumn} ${sign} ${parameter('afterId', idType())}`
    if (field === 'id') return [{ condition: isAfterId }]
    const isNull = `${walked} is null`
    const ofKey = (isKey: Fragment): Part => ({ condition: sql`${isKey} and ${isAfterId}`, isOneKey: true })
    if (value === null)
      return [ofKey(isNull), ...(descending ? [] : [{ condition: sql`${dialect.isNotNull(walked)}` }])]
    const keyValue = parameter('afterValue', dialect.typeOf(findField(resource, field)))
    return [
      ofKey(sql`${walked} = ${keyValue}`),
      { condition: sql`${walked} ${sign} ${keyValue}` },
      ...(descending ? [{ condition: sql`${isNull}`, isOneKey: true }] : []),
    ]
  }

  /**
   * Whether the page is walked, however many rows match: the search index, or the index of the one value that they have, of a managed
   * table, has them in order of id.
   */
  const isWalkedAlone = (plan: ListPlan, driver: Driver): boolean => {
    if (plan.strategy === 'all') return true
    if (plan.order.field !== 'id') return false
    if (plan.strategy !== 'filter') return candidatesOf(plan, driver)?.id !== undefined
    const [test, ...others] = tests(plan)
    return state !== undefined && !rowRule && test?.isEqual === true && others.length === 0
  }

  /** The ids and keys of the next `$limit` rows after a position, or after `$skip` rows, in order, as the common table expressions of a query. */
  const pageKeys = (plan: ListPlan, driver: Driver, after: Position | undefined, hasOffset: boolean): Sql => {
    const { order } = plan
    const isAlone = isWalkedAlone(plan, driver)
    const walked = key(order)
    const candidates = isAlone ? candidatesOf(plan, driver) : undefined
    const idColumn = candidates?.id ?? 'id'
    const columns = { id: 'id', _k: walked }
    const skip = hasOffset ? sql` offset ${integer('skip')}` : ''
    const limited = (rows: Sql, condition?: string) => {
      const limit = integer('limit')
      const bound = condition && !isSpread ? sql`case when ${condition} then ${limit} else 0 end` : limit
      return sql`select * from (${rows} limit ${bound}${skip}) as _arm`
    }
    // Along the order, the bounds of its field limit the walk; in order of id, so does the index of one value.
    const isWalked = (test: Test) =>
      test.field === order.field ? test.isRange : order.field === 'id' && test.isEqual && isDriver(test, driver)
    const walk = ({ condition, isOneKey }: Partial<Part>) => {
      // SQLite does not notice that all these keys are equal, and would sort every row that has the key.
      const by = isOneKey ? orderBy({ ...order, field: 'id' }, walked, idColumn) : orderBy(order, walked, idColumn)
      const rows = matching(plan, columns, isWalked, {
        candidates,
        order: ` order by ${by}`,
        ...(condition && { after: condition }),
        ...(isSpread && !isAlone && { onlyIf: manyIf }),
      })
      return limited(rows, isAlone ? undefined : manyIf)
    }
    const walks = after ? partsAfter(walked, order, after, idColumn).map(walk) : [walk({})]
    if (isAlone && walks.length === 1) return sql`registry_found as materialized (${walks[0] as Sql})`
    const isAfter = (position: Position) => {
      const parts = partsAfter('_k', order, position).map(({ condition }) => sql`(${condition})`)
      return sql`(${joinSql(parts, ' or ')})`
    }
    const where = whereAll([...(after ? [isAfter(after)] : []), ...(isSpread ? [fewIf] : [])])
    const few = sql`select * from registry_few${where} order by ${orderBy(order, '_k')}`
    const arms = joinSql([...(isAlone ? [] : [limited(few, fewIf)]), ...walks], ' union all ')
    const rows = sql`select * from (${arms}) as _arms order by ${orderBy(order, '_k')} limit ${integer('limit')}`
    if (isAlone) return sql`registry_found as materialized (${rows})`
    return sql`registry_few as materialized (${matches(plan, driver, columns, { order: fewOrder(plan) })} limit ${String(maxSorted + 1)}), registry_found as materialized (${rows})`
  }
  /** A server that has no better idea scans the table for a range; asked for the order of the range, it uses the index. */
  const fewOrder = (plan: ListPlan): string => {
    const [range, ...others] = tests(plan)
    if (plan.search !== '' || !range?.isRange || others.length > 0) return ''
    return ` order by ${orderBy({ field: range.field, descending: false }, dialect.sortKey(findField(resource, range.field)))}`
  }
  const count = (plan: ListPlan, driver: Driver, onlyIf?: string): Sql =>
    sql`select count(*) from (${matches(plan, driver, { _one: '1' }, { onlyIf })}) as _t`
  /** How many rows match, as the common table expression `registry_total`. */
  const total = (plan: ListPlan, driver: Driver): Sql => {
    const total = (query: Sql) => sql`registry_total as materialized (${query})`
    const [few, counted] = ['(select count(*) from registry_few)', count(plan, driver)]
    if (plan.strategy === 'all')
      return total(state ? sql`select coalesce((select total from registry_state), (${counted}))` : counted)
    if (isWalkedAlone(plan, driver)) {
      const condition = plan.strategy === 'filter' ? tests(plan)[0]?.sql(true) : undefined
      return total((condition && source.countInOrder?.(condition)) ?? counted)
    }
    if (!isSpread) return total(sql`select case when ${fewIf} then ${few} else (${counted}) end`)
    return sql`registry_counted as materialized (${count(plan, driver, manyIf)}),
      ${total(sql`select case when ${fewIf} then ${few} else (select * from registry_counted) end`)}`
  }
  /** The id and the key of the last row that is shown. */
  const lastRow = ({ order }: ListPlan): Sql => {
    const keyText = order.field === 'id' ? 'null' : dialect.keyText(findField(resource, order.field), '_k')
    const at = (column: string) => sql`(select ${column} from registry_found limit 1 offset ${integer('last')})`
    return sql`${at('cast(id as text)')}, ${at(keyText)}`
  }
  /** The JSON of the rows whose ids a common table expression has in their order. */
  const rowsJson = (rows: string, order: Order, separator: string, onlyIf?: string): Sql => {
    // In the order of the ids; a function of the order would take twice the time.
    if (byId) {
      const row = sql`(select ${json} from ${byId('_t')} where id = _r.id)`
      return sql`select string_agg(${row}, ${separator}) as json from ${rows} as _r`
    }
    const joined = sql`string_agg(${json}, ${separator} order by ${orderBy(order, key(order))})`
    // What is not shown is not copied from other servers.
    const read = isSpread && onlyIf ? `${rows} where ${onlyIf}` : rows
    return selectRows(source, sql`${joined} as json`, from, sql`id ${isAmong(`select id from ${read}`)}`)
  }
  /** The body of a page. Joined here, it is copied once less than in JavaScript: 12 µs of a page of 50 rows. */
  const pageBody = (rows: string, total: string): Sql =>
    dialect.bytes(
      sql`concat('${pageHead}', ${rows}, '],"meta":{"total":', ${total}, ',"limit":', ${integer('shown')}, ',"offset":', ${parameter('offset', 'text')}, '}}')`,
    )
  const withState = (parts: Sql): Sql =>
    state ? sql`with registry_state as materialized (${state}), ${parts}` : sql`with ${parts}`

  /**
   * A page, one row: version, total, body, how many rows were found (`$limit` is one more than are shown), id and key of
   * the last one shown. If it is sized, rows with too many bytes have no body, but their ids follow.
   */
  const page = (plan: ListPlan, driver: Driver, after: Position | undefined, isSized: boolean): Sql => {
    const size = sql`select coalesce(sum(${source.size}), 0) from ${from} as _t where id ${isAmong('select id from registry_shown')}`
    const large = sql`registry_large as materialized (select (${size}) > ${String(largePageBytes)} as is_large)`
    const isLarge = '(select is_large from registry_large)'
    const parts = joinSql(
      [
        pageKeys(plan, driver, after, !after),
        sql`registry_shown as materialized (select * from registry_found limit ${integer('shown')})`,
        total(plan, driver),
        ...(isSized ? [large] : []),
        sql`registry_rows as (${rowsJson('registry_shown', plan.order, `','`, isSized ? `not ${isLarge}` : undefined)})`,
      ],
      ', ',
    )
    const body = pageBody('(select json from registry_rows)', '(select * from registry_total)')
    const largeIds = isSized ? `case when ${isLarge} then (select ${ids} from registry_shown) end` : 'null'
    const version = state ? '(select version from registry_state)' : 'null'
    return withState(sql`${parts} select ${version}, (select * from registry_total),
      ${isSized ? sql`case when not ${isLarge} then ${body} end` : body},
      (select count(*) from registry_found), ${lastRow(plan)}, ${largeIds}`)
  }
  /** The same for a page of all rows in order of `id`, which most requests are: one range of the index that has their JSON. */
  const pageById = (descending: boolean, isAfter: boolean): Sql => {
    const [sign, direction, last] = descending ? ['<', 'desc', 'min'] : ['>', 'asc', 'max']
    const after = isAfter ? sql` and id ${sign} ${parameter('afterId', idType())}` : ''
    const skip = isAfter ? '' : sql` offset ${integer('skip')}`
    const rows = sql`select id, ${json} as _row from ${rowsFrom} where ${source.inTime ?? 'true'}${after}
      order by id ${direction} limit ${integer('shown')}${skip}`
    const isMore = sql`${last}(id) <> (select ${last}(id) from ${from})`
    return sql`with registry_state as materialized (${state ?? ''})
      select (select version from registry_state), (select total from registry_state),
        ${pageBody(`string_agg(_row, ',')`, '(select total from registry_state)')},
        count(*) + case when ${isMore} then 1 else 0 end, cast(${last}(id) as text), null, null from (${rows}) as registry_rows`
  }
  /** The ids of the next rows, one row: a JSON array, how many there are, id and key of the last. */
  const nextIds = (plan: ListPlan, driver: Driver, after: Position | undefined): Sql =>
    sql`with ${pageKeys(plan, driver, after, false)} select (select ${ids} from registry_found), (select count(*) from registry_found), ${lastRow(plan)}`

  /** The first rows of some ids until they have `$bytes`, each a line; and the ids of the others. */
  const part = (order: Order): Sql => {
    const by = orderBy(order, '_k')
    const rows = sql`select id, ${key(order)} as _k, ${source.size} as _size from ${from} as _t where ${isGivenId}`
    const sized = `select *, sum(_size) over (order by ${by} rows unbounded preceding) - _size as _before from registry_rows`
    return sql`with registry_rows as materialized (${rows}), registry_sized as materialized (${sized}),
      registry_part as materialized (select id from registry_sized where _before < ${integer('bytes')} order by ${by}),
      registry_lines as (${rowsJson('registry_part', order, `'\n'`)})
      select ${dialect.bytes(`(select json || '\n' from registry_lines)`)}, (select ${ids} from registry_sized where id not in (select id from registry_part))`
  }

  /** A summary of the matches, or of the first `$rows` of them. */
  const summary = (plan: ListPlan, driver: Driver, query: SummaryQuery): Sql => {
    const rows = (columns: Columns): Sql => {
      if (query.maxRows === undefined) return matches(plan, driver, columns)
      // Of all rows those with the first ids, not those with the first values of some index.
      const order = plan.strategy === 'all' ? ' order by id' : ''
      return sql`${matches(plan, driver, columns, { order })} limit ${integer('rows')}`
    }
    return summaryQuery(dialect, resource, query, {
      version: state ?? 'select null as version',
      rows,
      limit: integer('limit'),
    })
  }
  const excerpts = (fields: readonly string[]): Sql => {
    const values = fields.map((name) => {
      const field = findField(resource, name)
      const value = servedValue(
        { ...dialect.columnOf(field), json: (column) => dialect.keyText(field, column) },
        quoted(name),
      )
      return kindOf(field.kind).isText ? `substr(${value}, 1, ${excerptLength})` : value
    })
    return sql`select ${['id', ...values].join(', ')} from ${from} as _t where ${isGivenId}`
  }
  /** The rows that have one of the values of `$rows` in a unique field. */
  const rowsWith = (name: string): Sql => {
    const field = findField(resource, name)
    const text = dialect.element(0, 'text')
    const value = name === 'id' && source.idOf ? source.idOf(text) : dialect.element(0, dialect.columnOf(field).type)
    const [columnKey, given] =
      name === 'id' ? ['id', value] : [source.uniqueKey(field, quoted(name)), source.uniqueKey(field, value)]
    const values = isAmong(sql`select ${given} from ${dialect.elements} as _e`)
    return selectRows(source, dialect.bytes(json), from, sql`${columnKey} ${values}`)
  }

  const keep = buildOnce<Statement>()
  const once = (name: string, build: () => Sql): Statement => keep(name, () => compile(build()))
  /** What the SQL of a plan depends on: everything except the bound values. */
  const planKey = ({ where, search, order, strategy }: ListPlan, driver?: Driver, after?: Position): string =>
    [
      orderName(order),
      driver,
      after && (after.value === null ? 'null' : 'value'),
      search && `${strategy} ${dialect.isLongSearch(search)}`,
      ...where.map((condition) =>
        JSON.stringify([
          condition.field,
          condition.operator,
          operatorOf(condition.operator).operand === 'boolean' && condition.value,
          dialect.indexPredicate?.(findField(resource, condition.field), condition),
        ]),
      ),
    ].join()
  const version = state ? sql`(select version from (${state}) as registry_state)` : 'null'
  const countAll = sql`(select count(*) from ${from} as _t)`
  return {
    /** The version and the JSON of the row with `$id`. */
    row: compile(
      sql`select ${version}, ${dialect.bytes(json)} from ${rowsFrom} where id = ${parameter('id', idType())}`,
    ),
    /** How many rows the table has. */
    count: compile(
      sql`select ${state ? sql`coalesce((select total from (${state}) as registry_state), ${countAll})` : countAll}`,
    ),
    /** How many rows each condition and the search find, up to `maxProbed`, if there is a choice between them. */
    probes(plan: ListPlan): readonly { driver: Driver; statement: Statement }[] {
      if (!isProbed) return []
      const choices = tests(plan)
      if (choices.length + (plan.strategy === 'search' ? 1 : 0) < 2) return []
      return choices.map((test) => ({
        driver: test.places[0],
        statement: once(
          `probe ${planKey({ ...plan, search: '', order: { field: 'id', descending: false } })} ${test.places}`,
          () =>
            sql`select count(*) from (select 1 from ${test.join?.from ?? ''}${tested} as _t where ${test.join?.where ?? test.sql(true)} limit ${String(maxProbed)}) as _t`,
        ),
      }))
    },
    page: (plan: ListPlan, driver: Driver, after: Position | undefined, isSized: boolean) =>
      once(`page ${planKey(plan, driver, after)} ${isSized}`, () =>
        plan.strategy === 'all' && plan.order.field === 'id' && byId && !isSized
          ? pageById(plan.order.descending, after !== undefined)
          : page(plan, driver, after, isSized),
      ),
    ids: (plan: ListPlan, driver: Driver, after: Position | undefined) =>
      once(`ids ${planKey(plan, driver, after)}`, () => nextIds(plan, driver, after)),
    part: (order: Order) => once(`part ${orderName(order)}`, () => part(order)),
    summary: (plan: ListPlan, driver: Driver, query: SummaryQuery) =>
      once(`summary ${planKey(plan, driver)} ${summaryKey(query)} ${query.maxRows === undefined}`, () =>
        summary(plan, driver, query),
      ),
    rowsWith: (name: string) => once(`with ${name}`, () => rowsWith(name)),
    excerpts: (fields: readonly string[]) => once(`excerpts ${fields}`, () => excerpts(fields)),
  }
}

export type ReadStatements = ReturnType<typeof readStatements>
