/**
 * Tables that are made of tables: with the rows that a caller may read and without the fields that are hidden from it, and with the
 * rows that its rows reference, in the member `expanded`.
 */
import type { RowRule, Rows } from '../descriptor/access.js'
import { boundValue, isJson, servedValue } from '../descriptor/kinds/index.js'
import type { Field, Resource } from '../descriptor/registry.js'
import { isPath, rulePath } from '../descriptor/rulePaths.js'
import type { Dialect, RowCondition, Runner, Source } from './dialect.js'
import { quoted } from './schema.js'
import { type Fragment, joinSql, parameter, type Sql, sql, type Values } from './sql.js'

/** A table as somebody sees it, and what runs its statements. */
export interface View {
  readonly source: Source
  readonly runner: Runner
}

/** The table of a resource, by its path. */
export type Sources = (path: string) => Source

/** The name of the parameter with the values of a field in a rule; no other parameter has it. */
const parameterName = ({ path }: Resource, use: string, rule: number, field: string): string =>
  `${path} ${use} ${rule} ${field}`

/** The id that a reference names, of the type of the ids of its table. */
export const referencedId = ({ columnOf }: Dialect, field: Field, alias: string, { idOf }: Source): Fragment => {
  const { json: _, ...column } = columnOf(field)
  const reference = `${alias}.${quoted(field.name)}`
  return idOf ? idOf(servedValue(column, reference)) : reference
}

/** The rows that rules allow, as a condition on the rows `_t`; `use` is what they are for. */
export const rowCondition = (
  dialect: Dialect,
  { resource }: Source,
  sourceAt: Sources,
  use: string,
  rules: readonly RowRule[],
): RowCondition => {
  /** Whether a field of a table has one of some values. */
  const compare = ({ idOf }: Source, field: Field, values: RowRule[string], given: string, isIndexed: boolean): Sql => {
    const { name } = field
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
  /**
   * The same of the row that references lead to. Few rows are found from there, by the index of each reference; otherwise each row is
   * looked at by itself, and so are those that it references, by their ids.
   */
  const follow = (
    [field, ...others]: readonly Field[],
    source: Source,
    depth: number,
    values: RowRule[string],
    given: string,
    isIndexed: boolean,
  ): Sql => {
    if (others.length === 0) return compare(source, field as Field, values, given, isIndexed)
    const target = sourceAt(String(field?.references))
    const [alias, inner] = [depth === 0 ? '_t' : `_t${depth}`, `_t${depth + 1}`]
    const reference = referencedId(dialect, field as Field, alias, target)
    const condition = follow(others, target, depth + 1, values, given, isIndexed)
    const rows = sql`from ${target.from} as ${inner} where`
    return isIndexed
      ? sql`${reference} ${dialect.isAmong(sql`select ${inner}.id ${rows} ${condition}`)}`
      : sql`exists (select 1 ${rows} ${inner}.id = ${reference} and ${condition})`
  }
  const allows = (rule: RowRule, n: number, isIndexed: boolean): Sql =>
    joinSql(
      Object.entries(rule).map(([name, values]) =>
        follow(
          rulePath(resource, name),
          sourceAt(resource.path),
          0,
          values,
          parameterName(resource, use, n, name),
          isIndexed,
        ),
      ),
      ' and ',
    )
  const [[field, values] = [], ...others] = rules.length === 1 ? Object.entries(rules[0] as RowRule) : []
  return {
    field: others.length === 0 && values?.length === 1 && !isPath(field as string) ? field : undefined,
    sql(isIndexed) {
      if (rules.length === 0) return sql`1 = 0`
      const conditions = rules.map((rule, n) => allows(rule, n, isIndexed))
      return sql`(${joinSql(conditions, ' or ')})`
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
  const bound = (rule: RowRule, n: number) =>
    Object.entries(rule).flatMap(([name, values]): [string, unknown][] => {
      const boundName = parameterName(resource, use, n, name)
      const fields = rulePath(resource, name)
      const field = fields.at(-1) as Field
      const { idOf } = sourceAt(fields.at(-2)?.references ?? resource.path)
      if (field.name === 'id' && idOf) return values.map((value, place) => [`${boundName} ${place}`, String(value)])
      const boundValues = values.map((value) => boundValue(dialect.columnOf(field), value))
      return [[boundName, boundValues.length > 1 ? dialect.bindList(boundValues) : boundValues[0]]]
    })
  return rows === 'all' ? {} : Object.fromEntries(rows.flatMap(bound))
}

/** What follows FROM for the rows that a condition allows. It uses no index: where one helps, the list itself has the condition. */
export const rowsWithin = (from: Fragment, condition: RowCondition): Sql =>
  sql`(select * from ${from} as _t where ${condition.sql(false)})`

const versionIn = (state: string): string => `(select version from (${state}) as _s)`

/** The versions of several tables: one after the other. */
const separator = '.'

/** The version of tables that are read together, as SQL; undefined if one of them has none, because then nothing tells whether a response has changed. */
const joinedVersions = (sources: readonly Source[]): string | undefined => {
  const states = sources.map(({ state }) => state)
  return states.includes(undefined)
    ? undefined
    : [...new Set(states as readonly string[])].map(versionIn).join(` || '${separator}' || `)
}

/** The same read by runners, and the states of the tables, the rows of the first of which are shown, or those of all. */
const joinedRunners = (views: readonly View[], areAllShown: boolean): Pick<Runner, 'version' | 'state'> => {
  const runners = [...new Map(views.map((view) => [view.source.resource, view.runner])).values()]
  const versions = runners.flatMap(({ version }) => version ?? [])
  const states = runners.flatMap(({ state }) => state ?? [])
  return {
    ...(versions.length === runners.length && {
      version: async () => (await Promise.all(versions.map((read) => read()))).join(separator),
    }),
    ...(states.length === runners.length && {
      async state() {
        const tableStates = await Promise.all(states.map((read) => read()))
        const shown = areAllShown ? tableStates : tableStates.slice(0, 1)
        return {
          version: tableStates.map(({ version }) => version).join(separator),
          hasLongRows: shown.some(({ hasLongRows }) => hasLongRows),
          denseIds: tableStates[0]?.denseIds,
        }
      },
    }),
  }
}

/** The table with the rows that a caller may read, which depend on the rows of `others`; `json` is a row as the caller sees it, `size` about its bytes. */
export const restricted = (
  view: View,
  condition: RowCondition | undefined,
  others: readonly View[],
  { json, size }: Pick<Source, 'json' | 'size'>,
): View => {
  const { source, runner } = view
  const { byId: _, state: __, ...rest } = source
  const { version: ___, state: ____, ...run } = runner
  const versions = joinedVersions([source, ...others.map((other) => other.source)])
  const joined = others.length > 0 ? joinedRunners([view, ...others], false) : runner
  const { version, state: readState } = joined
  return {
    source: {
      ...rest,
      json,
      size,
      ...(condition && { from: rowsWithin(source.from, condition), rowRule: { ...condition, of: source.from } }),
      // The stored total counts the rows of others too.
      ...(versions !== undefined && {
        state: condition ? `select ${versions} as version, cast(null as integer) as total` : source.state,
      }),
    },
    runner: {
      ...run,
      ...(version && { version }),
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
  const versions = joinedVersions([source, ...expansions.map(({ target }) => target.source)])
  const isPlain = !isJson(source.resource.fields.at(-1) as Field)
  return {
    ...rest,
    json: sql`${dialect.openObject(source.json, isPlain)} || ',"expanded":{' || ${joinSql(members, ` || ',' || `)} || '}}'`,
    size: joinSql([source.size, ...read('size', '0')], ' + '),
    ...(versions !== undefined && {
      state: `select ${versions} as version, (select total from (${ownState}) as _s) as total`,
    }),
  }
}

/** The table whose rows have the rows that they reference, with the versions of all tables that it reads. */
export const expanded = (dialect: Dialect, { source, runner }: View, expansions: readonly Expansion[]): View => {
  const { version: _, state: __, ...rest } = runner
  const targets = expansions.map(({ target }) => target)
  const { version, state } = joinedRunners([{ source, runner }, ...targets], true)
  // The database knows long rows by their texts alone.
  const isLong = expansions.length >= manyRows || [source, ...targets.map((target) => target.source)].some(hasJson)
  return {
    source: expandedSource(dialect, source, expansions),
    runner: {
      ...rest,
      ...(version && { version }),
      ...(state && {
        async state() {
          const joined = await state()
          return { ...joined, hasLongRows: isLong || joined.hasLongRows }
        },
      }),
    },
  }
}
