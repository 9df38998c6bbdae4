/**
 * Tables that are made of tables: with the rows that a caller may read and without the fields that are hidden from it, and with the
 * rows that its rows reference, in the member `expanded`.
 */
import { isJson, servedValue } from '../descriptor/kinds/index.js'
import type { Field } from '../descriptor/registry.js'
import type { Dialect, RowCondition, Runner, Source } from './dialect.js'
import { quoted } from './schema.js'
import { type Fragment, joinSql, type Sql, sql, type Values } from './sql.js'

/** A table as somebody sees it, and what runs its statements. */
export interface View {
  readonly source: Source
  readonly runner: Runner
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
