/** The rules of access as SQL: the rows `_t` that they allow, by their own fields and by those of the rows that references lead to. */
import type { RowRule, Rows } from '../descriptor/access.js'
import { boundValue, type ParameterValue, servedValue } from '../descriptor/kinds/index.js'
import type { Field, Resource } from '../descriptor/registry.js'
import { rulePath } from '../descriptor/rulePaths.js'
import type { Dialect, RowCondition, Source } from './dialect.js'
import { quoted } from './schema.js'
import { type Fragment, joinSql, parameter, type Sql, sql, type Values } from './sql.js'

/** The table of a resource, by its path. */
export type Sources = (path: string) => Source

/** What a rule compares: a field, after the references that lead to it, with the values of a parameter. */
interface Comparison {
  readonly path: readonly Field[]
  /** The table of the row, and those that the references lead to. */
  readonly sources: readonly Source[]
  readonly values: readonly ParameterValue[]
  readonly parameter: string
}

const comparisonsIn = (resource: Resource, sourceAt: Sources, use: string, rule: RowRule, n: number): Comparison[] =>
  Object.entries(rule).map(([name, values]) => {
    const path = rulePath(resource, name)
    const sources = [resource.path, ...path.slice(0, -1).map(({ references }) => String(references))].map(sourceAt)
    // No other parameter has this name.
    return { path, sources, values, parameter: `${resource.path} ${use} ${n} ${name}` }
  })

/** The table of the row is `_t`, those that its references lead to are `_t1`, `_t2` and `_t3`. */
const aliasOf = (depth: number): string => (depth === 0 ? '_t' : `_t${depth}`)

/** The id that a reference names, of the type of the ids of its table. */
export const referencedId = ({ columnOf }: Dialect, field: Field, alias: string, { idOf }: Source): Fragment => {
  const { json: _, ...column } = columnOf(field)
  const reference = `${alias}.${quoted(field.name)}`
  return idOf ? idOf(servedValue(column, reference)) : reference
}

/** Whether the field has one of the values. */
const compare = (
  dialect: Dialect,
  { path, sources, values, parameter: given }: Comparison,
  isIndexed: boolean,
): Sql => {
  const field = path.at(-1) as Field
  const { idOf } = sources.at(-1) as Source
  const name = `${aliasOf(path.length - 1)}.${quoted(field.name)}`
  const column = isIndexed ? name : dialect.withoutIndex(name)
  if (field.name === 'id' && idOf) {
    const isOne = values.map((_, n) => sql`${column} = ${idOf(parameter(`${given} ${n}`, 'text'))}`)
    return sql`(${joinSql(isOne, ' or ')})`
  }
  const isList = values.length > 1
  const operand = parameter(given, dialect.typeOf(field, isList))
  const condition = { field: field.name, operator: 'in', value: values } as const
  const predicate = isIndexed ? dialect.indexPredicate?.(field, condition) : undefined
  const isEqual = sql`${column} ${isList ? dialect.isIn(operand) : sql`= ${operand}`}`
  return predicate ? sql`${isEqual} and ${predicate}` : isEqual
}

/** The id of the row after a step, and the reference that names it. */
const isNext = (dialect: Dialect, { path, sources }: Comparison, depth: number): readonly [Fragment, Fragment] => [
  `${aliasOf(depth + 1)}.id`,
  referencedId(dialect, path[depth] as Field, aliasOf(depth), sources[depth + 1] as Source),
]

/** Whether the row to which the references lead is one of those that an index finds, step by step. */
const find = (dialect: Dialect, comparison: Comparison, depth = 0): Sql => {
  const { path, sources } = comparison
  if (depth === path.length - 1) return compare(dialect, comparison, true)
  const [id, reference] = isNext(dialect, comparison, depth)
  const rows = sql`${sources[depth + 1]?.from ?? ''} as ${aliasOf(depth + 1)}`
  return sql`${reference} ${dialect.isAmong(sql`select ${id} from ${rows} where ${find(dialect, comparison, depth + 1)}`)}`
}

/** The tables of the references, each with the condition that its row is the next one. */
const tablesOf = (dialect: Dialect, comparison: Comparison) =>
  comparison.sources.slice(1).map(({ from }, depth) => {
    const [id, reference] = isNext(dialect, comparison, depth)
    return { from: sql`${from} as ${aliasOf(depth + 1)}`, isNext: sql`${id} = ${reference}` }
  })

/** Whether the row to which the references lead, looked at by its id, has one of the values. */
const lookAt = (dialect: Dialect, comparison: Comparison): Sql => {
  const tables = tablesOf(dialect, comparison)
  const hasValue = compare(dialect, comparison, false)
  if (tables.length === 0) return hasValue
  const from = joinSql(
    tables.map((table) => table.from),
    ', ',
  )
  // Citus takes no exists() in another one.
  return sql`exists (select 1 from ${from} where ${joinSql([...tables.map((table) => table.isNext), hasValue], ' and ')})`
}

/**
 * The rows as a join that reads its tables in order, from the last one: a list of ids would be complete before the first row is found.
 * Only where no id is in two rows, which a view may have.
 */
const join = (dialect: Dialect, comparisons: readonly Comparison[]): RowCondition['join'] => {
  const [first, ...others] = [...comparisons].sort((a, b) => b.path.length - a.path.length)
  if (!dialect.orderedJoin || !first || first.path.length === 1) return undefined
  if (others.some(({ path }) => path.length > 1)) return undefined
  if (first.sources.some(({ resource }) => resource.existing)) return undefined
  const tables = tablesOf(dialect, first).toReversed()
  const from = joinSql(
    tables.map((table) => table.from),
    dialect.orderedJoin,
  )
  const steps = tables.slice(0, -1).map((table) => table.isNext)
  // Only the id, so that no other column has the name of one of the table.
  const referenced = sql`select _t1.id as _id from ${from} where ${joinSql([compare(dialect, first, true), ...steps], ' and ')}`
  const [, reference] = isNext(dialect, first, 0)
  const conditions = [sql`${reference} = _id`, ...others.map((other) => compare(dialect, other, false))]
  return { from: sql`(${referenced}) as _r${dialect.orderedJoin}`, where: joinSql(conditions, ' and ') }
}

/** The rows that rules allow, as a condition on the rows `_t`; `use` is what they are for. */
export const rowCondition = (
  dialect: Dialect,
  { resource }: Source,
  sourceAt: Sources,
  use: string,
  rules: readonly RowRule[],
): RowCondition => {
  const alternatives = rules.map((rule, n) => comparisonsIn(resource, sourceAt, use, rule, n))
  const [comparisons = []] = alternatives.length === 1 ? alternatives : []
  const [comparison] = comparisons.length === 1 ? comparisons : []
  const isOwn = comparison?.path.length === 1 && comparison.values.length === 1
  return {
    field: isOwn ? comparison.path[0]?.name : undefined,
    join: join(dialect, comparisons),
    sql(isIndexed) {
      if (rules.length === 0) return sql`1 = 0`
      const allows = (comparison: Comparison) => (isIndexed ? find : lookAt)(dialect, comparison)
      const allowed = alternatives.map((all) => joinSql(all.map(allows), ' and '))
      return sql`(${joinSql(allowed, ' or ')})`
    },
  }
}

/** The values that conditions of these rules bind. */
export const ruleValues = (
  dialect: Dialect,
  { resource }: Source,
  sourceAt: Sources,
  use: string,
  rows: Rows,
): Values => {
  const comparisons = rows === 'all' ? [] : rows.flatMap((rule, n) => comparisonsIn(resource, sourceAt, use, rule, n))
  const bound = ({ path, sources, values, parameter: name }: Comparison): [string, unknown][] => {
    const field = path.at(-1) as Field
    if (field.name === 'id' && sources.at(-1)?.idOf)
      return values.map((value, place) => [`${name} ${place}`, String(value)])
    const boundValues = values.map((value) => boundValue(dialect.columnOf(field), value))
    return [[name, boundValues.length > 1 ? dialect.bindList(boundValues) : boundValues[0]]]
  }
  return Object.fromEntries(comparisons.flatMap(bound))
}
