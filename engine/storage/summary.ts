/** A summary as SQL, and its response. Rows are grouped by what is stored, which an index may have in order, and then by what is served. */
import { toUnits } from '../descriptor/decimals.js'
import { isExact, kindOf, readValue, servedValue } from '../descriptor/kinds/index.js'
import type { Field, Resource } from '../descriptor/registry.js'
import { type Aggregate, aggregates, dateParts, type Group, type SummaryQuery } from '../descriptor/summary.js'
import type { Cell, Dialect } from './dialect.js'
import { GroupsTooLarge } from './failures.js'
import { largePageBytes } from './parts.js'
import { findField, quoted } from './schema.js'
import { type Fragment, joinSql, parameter, type Sql, sql } from './sql.js'

/** Numbers that are larger are added up apart and smaller, so that their sum is finite; by a power of two, so that nothing is rounded. */
const [large, scale] = [1e290, 2 ** -64]

/** What the SQL of a summary depends on, beside the rows that are summarised. */
export const summaryKey = (query: SummaryQuery): string =>
  JSON.stringify([
    query.by.map(({ name, bounds }) => [name, bounds?.length]),
    aggregates.map((aggregate) => query[aggregate] ?? []),
  ])

/** A value that is computed of the rows of a group: as SQL of the rows, and how those of several groups make that of all. */
interface AggregatePart {
  readonly sql: string
  readonly of: 'sum' | 'min' | 'max'
  /** The column that has it, in the form which the kind of the field reads. */
  read?(column: string): string
}

/** What is computed of a field, each once: its least and greatest value, its sum, and how many values there are. */
const partsOf = (dialect: Dialect, field: Field, aggregate: Aggregate): AggregatePart[] => {
  const { json: _, ...column } = dialect.columnOf(field)
  const value = servedValue(column, quoted(field.name))
  if (aggregate === 'min' || aggregate === 'max')
    return [
      {
        sql: `${aggregate}(${dialect.sortKey(field)})`,
        of: aggregate,
        read: (column) => dialect.keyText(field, column),
      },
    ]
  const sums = isExact(field)
    ? dialect.exactSums(value, field.places)
    : [
        `sum(case when abs(${value}) < ${large} then cast(${value} as double precision) end)`,
        `sum(case when abs(${value}) >= ${large} then ${value} * cast(${scale} as double precision) end)`,
      ]
  return [...sums, `count(${value})`].map((sql) => ({ sql, of: 'sum' }))
}

/** The aggregates of a query, each with its field and its parts. */
const aggregatesOf = (dialect: Dialect, resource: Resource, query: SummaryQuery) =>
  aggregates.flatMap((aggregate) =>
    (query[aggregate] ?? []).map((name) => {
      const field = findField(resource, name)
      return { aggregate, field, parts: partsOf(dialect, field, aggregate) }
    }),
  )

/** A stored value as the driver reads it. */
const readable = (dialect: Dialect, field: Field, column: string): string =>
  servedValue({ ...dialect.columnOf(field), json: (value) => dialect.keyText(field, value) }, column)

/** How many of the bounds, which are the parameters `bound0` and so on, are not above the value of a field. */
const boundsBelow = (dialect: Dialect, field: Field, bounds: readonly unknown[]): Sql => {
  const key = dialect.sortKey(field)
  const cases = bounds.map(
    (_, n) => sql`when ${key} < ${parameter(`bound${n}`, dialect.typeOf(field))} then ${String(n)}`,
  )
  return sql`case ${joinSql(cases, ' ')} when ${key} is not null then ${String(bounds.length)} end`
}

/** What is served of a group: the value of the field, a part of its date or its number; and what groups are ordered by. */
const servedGroup = (dialect: Dialect, resource: Resource, { field: name, part, bounds }: Group, stored: string) => {
  if (bounds) return { value: stored, key: stored }
  const field = findField(resource, name)
  const value = readable(dialect, field, stored)
  if (!part && kindOf(field.kind).isText) return { value: dialect.exactText(value), key: dialect.exactText(value) }
  if (!part) return { value, key: dialect.sortKey({ ...field, name: stored }) }
  const text = dialect.keyText(field, stored)
  const begins = `substr(${text}, 1, ${dateParts[part]})`
  const date = field.format ? `case when ${dialect.beginsWithDate(text)} then ${begins} end` : begins
  return { value: date, key: date }
}

/** What a summary is made of: the query of the table's version, that of some columns of the rows, and how many groups are returned. */
interface SummaryParts {
  readonly version: string
  readonly limit: Sql
  rows(columns: Readonly<Record<string, string>>): Sql
}

/**
 * The groups with the most rows, each with: version, number of groups, number of rows, whether the values are too large to be
 * returned, rows of the group, its values, its aggregates. Without any group, one row that has only the first three.
 */
export const summaryQuery = (
  dialect: Dialect,
  resource: Resource,
  query: SummaryQuery,
  { version, rows, limit }: SummaryParts,
): Sql => {
  const computed = aggregatesOf(dialect, resource, query)
  const parts = computed.flatMap((one) => one.parts)
  const names = new Set([...query.by.map(({ field }) => field), ...computed.map(({ field }) => field.name)])
  const stored = query.by.map(({ field: name, part, bounds }): Fragment => {
    const field = findField(resource, name)
    if (bounds) return boundsBelow(dialect, field, bounds)
    const column = kindOf(field.kind).isText ? dialect.exactText(quoted(name)) : quoted(name)
    const key = part ? dialect.sortKey(field) : column
    // In the order of an index, every row with other columns would be looked up.
    return names.size > 1 ? dialect.withoutIndex(key) : key
  })
  const groups = query.by.map((group, n) => servedGroup(dialect, resource, group, `_s${n}`))
  const list = (...items: readonly Fragment[][]) => joinSql(items.flat(), ', ')
  const groupBy = (items: readonly string[]) => (items.length > 0 ? ` group by ${items.join(', ')}` : '')
  const inner = list(
    stored.map((value, n) => sql`${value} as _s${String(n)}`),
    ['count(*) as _n'],
    parts.map((part, n) => `${part.sql} as _p${n}`),
  )
  const outer = list(
    groups.map(({ value, key }, n) => `${value} as _b${n}, ${key} as _k${n}`),
    ['sum(_n) as _n'],
    parts.map((part, n) => `${part.of}(_p${n}) as _p${n}`),
  )
  const order = list(
    ['_n desc'],
    groups.map((_, n) => `_k${n} asc nulls first`),
  )
  const size = ['0', ...groups.map((_, n) => `coalesce(octet_length(cast(_b${n} as text)), 0)`)].join(' + ')
  const isLarge = `(select coalesce(sum(${size}), 0) > ${largePageBytes} from registry_shown)`
  const columns = list(
    ['_n'],
    groups.map((_, n) => `case when not ${isLarge} then _b${n} end`),
    parts.map(({ read }, n) => read?.(`_p${n}`) ?? `_p${n}`),
  )
  const inTime = dialect.inTime ? ` where ${dialect.inTime}` : ''
  const selected = Object.fromEntries([...names].map((name) => [name, quoted(name)]))
  return sql`with registry_stored as (select ${inner} from (${rows({ ...selected, _one: '1' })}) as _t${groupBy(stored.map((_, n) => `_s${n}`))}),
    registry_groups as materialized (select ${outer} from registry_stored${inTime}${groupBy(groups.map((_, n) => `_b${n}, _k${n}`))}),
    registry_shown as materialized (select * from registry_groups${inTime} order by ${order} limit ${limit})
    select _v.version, (select count(*) from registry_groups), (select sum(_n) from registry_groups), case when ${isLarge} then 1 else 0 end,
      ${columns}
    from (${version}) as _v left join registry_shown on true order by ${order}`
}

const jsonOf = (value: unknown): string => (typeof value === 'bigint' ? String(value) : JSON.stringify(value ?? null))

/** The value of an aggregate, as JSON. */
const aggregateJson = (
  dialect: Dialect,
  field: Field,
  aggregate: Aggregate,
  cells: readonly (Cell | undefined)[],
): string => {
  const [first = null, second = null] = cells
  if (aggregate === 'min' || aggregate === 'max') return jsonOf(readValue(dialect.columnOf(field), first))
  const count = BigInt(String(cells.at(-1) ?? 0))
  if (count === 0n) return 'null'
  const sums = cells.slice(0, -1)
  const { fromUnits } = kindOf(field.kind).sums ?? {}
  if (!fromUnits) {
    const divisor = aggregate === 'sum' ? 1 : Number(count)
    const value = Number(first) / divisor + Number(second) / divisor / scale
    return jsonOf(Number.isFinite(value) ? value : null)
  }
  const units = dialect.readSum(sums.map((cell) => toUnits(String(cell))))
  return jsonOf(fromUnits(units, aggregate === 'sum' ? undefined : count, field))
}

const member = (name: string, members: readonly string[]): string => `${JSON.stringify(name)}:{${members.join(',')}}`

/** The group of all rows where there is none. */
const emptyGroup: readonly Cell[] = [null, 1, 0, 0, 0]

/** The response, of what the statement returned. */
export const summaryBody = (
  dialect: Dialect,
  resource: Resource,
  query: SummaryQuery,
  rows: readonly (readonly Cell[])[],
): Buffer => {
  const groups = rows.length === 0 && query.by.length === 0 ? [emptyGroup] : rows
  const [, total = 0, rowCount = 0, isLarge = 0] = groups[0] ?? []
  if (Number(isLarge) === 1)
    throw new GroupsTooLarge(`the values of a page of groups have more than ${largePageBytes} bytes`)
  const computed = aggregatesOf(dialect, resource, query)
  const data = groups.flatMap(([, , , , count = null, ...cells]) => {
    if (count === null) return []
    const by = query.by.map(({ name, field, part, bounds }, n) => {
      const cell = cells[n] ?? null
      const value = part || bounds ? cell : readValue(dialect.columnOf(findField(resource, field)), cell)
      return `${JSON.stringify(name)}:${jsonOf(value)}`
    })
    let at = query.by.length
    const members = new Map<string, string[]>()
    for (const { aggregate, field, parts } of computed) {
      const json = aggregateJson(dialect, field, aggregate, cells.slice(at, at + parts.length))
      members.set(aggregate, [...(members.get(aggregate) ?? []), `${JSON.stringify(field.name)}:${json}`])
      at += parts.length
    }
    return `{${[member('by', by), `"count":${count}`, ...[...members].map(([name, values]) => member(name, values))].join(',')}}`
  })
  return Buffer.from(
    `{"data":[${data.join(',')}],"meta":{"total":${total},"limit":${query.limit},"rows":${rowCount ?? 0}}}`,
  )
}
