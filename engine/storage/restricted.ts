/** A table as a caller may use it: the rows that it may read, without the fields that are hidden from it. */
import type { ResourceRights, RowRule, Rows } from '../descriptor/access.js'
import type { Resource } from '../descriptor/registry.js'
import { inText, type Values } from './bindings.js'
import type { Dialect, RowCondition, Runner, Source } from './dialect.js'
import { boundValue, findField, quoted } from './schema.js'

/** The name of the parameter with the values of a field in a rule; no other parameter has it. */
const parameterName = ({ path }: Resource, use: string, rule: number, field: string): string =>
  `${path} ${use} ${rule} ${field}`

/** The rows that rules allow, as a condition; `use` is what they are for. */
export const rowCondition = (
  dialect: Dialect,
  { resource, idOf }: Source,
  use: string,
  rules: readonly RowRule[],
): RowCondition => {
  const compare = (name: string, values: RowRule[string], parameter: string, isIndexed: boolean): string => {
    const field = findField(resource, name)
    const column = isIndexed ? quoted(name) : dialect.withoutIndex(quoted(name))
    if (name === 'id' && idOf)
      return `(${values.map((_, n) => `${column} = ${idOf(inText(`${parameter} ${n}`, 'text'))}`).join(' or ')})`
    const isList = values.length > 1
    const given = inText(parameter, dialect.typeOf(field, isList))
    const condition = { field: name, operator: 'in', value: values } as const
    const predicate = isIndexed ? dialect.indexPredicate?.(field, condition) : undefined
    const isEqual = isList ? `${column} ${dialect.isIn.replace('?', () => given)}` : `${column} = ${given}`
    return predicate ? `${isEqual} and ${predicate}` : isEqual
  }
  const one = (rule: RowRule, n: number, isIndexed: boolean): string =>
    Object.entries(rule)
      .map(([name, values]) => compare(name, values, parameterName(resource, use, n, name), isIndexed))
      .join(' and ')
  const [[field, values] = [], ...others] = rules.length === 1 ? Object.entries(rules[0] as RowRule) : []
  return {
    field: others.length === 0 && values?.length === 1 ? field : undefined,
    sql: (isIndexed) =>
      rules.length === 0 ? '1 = 0' : `(${rules.map((rule, n) => one(rule, n, isIndexed)).join(' or ')})`,
  }
}

/** The values that conditions of these rules bind. */
export const ruleValues = (dialect: Dialect, { resource, idOf }: Source, use: string, rows: Rows): Values => {
  const bound = (rule: RowRule, n: number) =>
    Object.entries(rule).flatMap(([name, values]): [string, unknown][] => {
      const parameter = parameterName(resource, use, n, name)
      if (name === 'id' && idOf) return values.map((value, place) => [`${parameter} ${place}`, String(value)])
      const boundValues = values.map((value) => boundValue(dialect.columnOf(findField(resource, name)), value))
      return [[parameter, boundValues.length > 1 ? dialect.bindList(boundValues) : boundValues[0]]]
    })
  return rows === 'all' ? {} : Object.fromEntries(rows.flatMap(bound))
}

/** What follows FROM for the rows that a condition allows. It uses no index: where one helps, the list itself has the condition. */
export const rowsWithin = (from: string, condition: RowCondition): string =>
  `(select * from ${from} as _t where ${condition.sql(false)})`

/** The table with the rows that a caller may read; `json` is a row as the caller sees it, `size` about its bytes. */
export const restrictedSource = (
  dialect: Dialect,
  source: Source,
  { read }: Pick<ResourceRights, 'read'>,
  { json, size }: Pick<Source, 'json' | 'size'>,
): Source => {
  const { byId: _, state, ...rest } = source
  if (read === 'all') return { ...rest, json, size, ...(state && { state }) }
  const rowRule = rowCondition(dialect, source, 'read', read)
  return {
    ...rest,
    json,
    size,
    from: rowsWithin(source.from, rowRule),
    rowRule: { ...rowRule, of: source.from },
    // The stored total counts the rows of others too.
    ...(state && { state: `select version, cast(null as integer) as total from (${state}) as _whole` }),
  }
}

/** Runs statements with the values of a caller's rules. */
export const restrictedRunner = (runner: Runner, values: Values): Runner => {
  const { state } = runner
  return {
    ...runner,
    read: (statement, given, purpose) => runner.read(statement, { ...values, ...given }, purpose),
    // The first and the last id are those of all rows.
    ...(state && { state: async () => ({ ...(await state()), denseIds: undefined }) }),
  }
}
