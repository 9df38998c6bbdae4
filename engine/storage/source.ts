/**
 * Tables that are made of tables: with the rows that a caller may read and without the fields that are hidden from it, and with the
 * rows that its rows reference, in the member `expanded`.
 */
import type { ResourceRights, RowRule, Rows } from '../descriptor/access.js'
import { boundValue, isJson, servedValue } from '../descriptor/kinds/index.js'
import type { Field, Resource } from '../descriptor/registry.js'
import type { Dialect, RowCondition, Runner, Source } from './dialect.js'
import { findField, quoted } from './schema.js'
import { type Fragment, joinSql, parameter, type Sql, sql, type Values } from './sql.js'

/** A table as somebody sees it, and what runs its statements. */
export interface View {
  readonly source: Source
  readonly runner: Runner
}

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
  const compare = (name: string, values: RowRule[string], given: string, isIndexed: boolean): Sql => {
    const field = findField(resource, name)
    const column = isIndexed ? quoted(name) : dialect.withoutIndex(quoted(name))
    if (name === 'id' && idOf) {
      const isOne = values.map((_, n) => sql`${column} = ${idOf(parameter(`${given} ${n}`, 'text'))}`)
      return sql`(${joinSql(isOne, ' or ')})`
    }
    const isList = values.length > 1
    const operand = parameter(given, dialect.typeOf(field, isList))
    const condition = { field: name, operator: 'in', value: values } as const
    const predicate = isIndexed ? dialect.indexPredicate?.(field, condition) : undefined
    const isEqual = sql`${column} ${isList ? dialect.isIn(operand) : sql`= ${operand}`}`
    return predicate ? sql`${isEqual} and ${predicate}` : isEqual
  }
  const allows = (rule: RowRule, n: number, isIndexed: boolean): Sql =>
    joinSql(
      Object.entries(rule).map(([name, values]) =>
        compare(name, values, parameterName(resource, use, n, name), isIndexed),
      ),
      ' and ',
    )
  const [[field, values] = [], ...others] = rules.length === 1 ? Object.entries(rules[0] as RowRule) : []
  return {
    field: others.length === 0 && values?.length === 1 ? field : undefined,
    sql(isIndexed) {
      if (rules.length === 0) return sql`1 = 0`
      const conditions = rules.map((rule, n) => allows(rule, n, isIndexed))
      return sql`(${joinSql(conditions, ' or ')})`
    },
  }
}

/** The values that conditions of these rules bind. */
export const ruleValues = (dialect: Dialect, { resource, idOf }: Source, use: string, rows: Rows): Values => {
  const bound = (rule: RowRule, n: number) =>
    Object.entries(rule).flatMap(([name, values]): [string, unknown][] => {
      const boundName = parameterName(resource, use, n, name)
      if (name === 'id' && idOf) return values.map((value, place) => [`${boundName} ${place}`, String(value)])
      const boundValues = values.map((value) => boundValue(dialect.columnOf(findField(resource, name)), value))
      return [[boundName, boundValues.length > 1 ? dialect.bindList(boundValues) : boundValues[0]]]
    })
  return rows === 'all' ? {} : Object.fromEntries(rows.flatMap(bound))
}

/** What follows FROM for the rows that a condition allows. It uses no index: where one helps, the list itself has the condition. */
export const rowsWithin = (from: Fragment, condition: RowCondition): Sql =>
  sql`(select * from ${from} as _t where ${condition.sql(false)})`

/** The table with the rows that a caller may read; `json` is a row as the caller sees it, `size` about its bytes. */
export const restricted = (
  dialect: Dialect,
  { source, runner }: View,
  { read }: Pick<ResourceRights, 'read'>,
  { json, size }: Pick<Source, 'json' | 'size'>,
): View => {
  const { byId: _, state, ...rest } = source
  const condition = read === 'all' ? undefined : rowCondition(dialect, source, 'read', read)
  const { state: readState } = runner
  return {
    source: {
      ...rest,
      json,
      size,
      ...(condition && { from: rowsWithin(source.from, condition), rowRule: { ...condition, of: source.from } }),
      // The stored total counts the rows of others too.
      ...(state && {
        state: condition ? `select version, cast(null as integer) as total from (${state}) as _whole` : state,
      }),
    },
    runner: {
      ...runner,
      // The first and the last id are those of all rows.
      ...(readState && { state: async () => ({ ...(await readState()), denseIds: undefined }) }),
    },
  }
}

/** Runs statements with the values of a caller's rules. */
export const withValues = (runner: Runner, values: Values): Runner => ({
  ...runner,
  read: (statement, given, purpose) => runner.read(statement, { ...values, ...given }, purpose),
})

/** A reference, and the table that it names rows of. */
export interface Expansion {
  readonly field: Field
  readonly target: View
}

/** What is read of the row that a reference names, if the reference is shown; the first of several, which a view may have. */
const referenced = ({ columnOf }: Dialect, field: Field, target: Source, selected: Fragment): Sql => {
  const { json: _, ...column } = columnOf(field)
  const reference = servedValue(column, `_t.${quoted(field.name)}`)
  const from = target.byId?.('_e') ?? sql`${target.from} as _e`
  return sql`(select ${selected} from ${from} where _e.id = ${target.idOf?.(reference) ?? reference} limit 1)`
}

const versionIn = (state: string): string => `(select version from (${state}) as _s)`

/** The versions of several tables: one after the other. */
const separator = '.'

/** So many rows that are not long by themselves are together. */
const manyRows = 4

const hasJson = ({ resource }: Source): boolean => resource.fields.some(isJson)

const expandedSource = (dialect: Dialect, source: Source, expansions: readonly Expansion[]): Source => {
  const read = (column: 'json' | 'size', otherwise: string) =>
    expansions.map(
      ({ field, target }) =>
        sql`coalesce(${referenced(dialect, field, target.source, target.source[column])}, ${otherwise})`,
    )
  const members = read('json', `'null'`).map((json, n) => sql`'"${expansions[n]?.field.name ?? ''}":' || ${json}`)
  const { state: ownState, ...rest } = source
  const states = [ownState, ...expansions.map(({ target }) => target.source.state)]
  // Nothing tells whether a response has changed if one of its tables has no version.
  const versions = states.includes(undefined) ? [] : [...new Set(states as readonly string[])].map(versionIn)
  const isPlain = !isJson(source.resource.fields.at(-1) as Field)
  return {
    ...rest,
    json: sql`${dialect.openObject(source.json, isPlain)} || ',"expanded":{' || ${joinSql(members, ` || ',' || `)} || '}}'`,
    size: joinSql([source.size, ...read('size', '0')], ' + '),
    ...(versions.length > 0 && {
      state: `select ${versions.join(` || '${separator}' || `)} as version, (select total from (${ownState}) as _s) as total`,
    }),
  }
}

/** The table whose rows have the rows that they reference, with the versions of all tables that it reads. */
export const expanded = (dialect: Dialect, { source, runner }: View, expansions: readonly Expansion[]): View => {
  const { version: _, state: __, ...rest } = runner
  const targets = expansions.map(({ target }) => target)
  const runners = [
    ...new Map([{ source, runner }, ...targets].map((view) => [view.source.resource, view.runner])).values(),
  ]
  const versions = runners.flatMap(({ version }) => version ?? [])
  const states = runners.flatMap(({ state }) => state ?? [])
  // The database knows long rows by their texts alone.
  const isLong = expansions.length >= manyRows || [source, ...targets.map((target) => target.source)].some(hasJson)
  return {
    source: expandedSource(dialect, source, expansions),
    runner: {
      ...rest,
      ...(versions.length === runners.length && {
        version: async () => (await Promise.all(versions.map((read) => read()))).join(separator),
      }),
      ...(states.length === runners.length && {
        async state() {
          const tableStates = await Promise.all(states.map((read) => read()))
          return {
            version: tableStates.map(({ version }) => version).join(separator),
            hasLongRows: isLong || tableStates.some(({ hasLongRows }) => hasLongRows),
            denseIds: tableStates[0]?.denseIds,
          }
        },
      }),
    },
  }
}
