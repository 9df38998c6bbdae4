/** A table whose rows have the rows that they reference, in the member `expanded`. */
import { isJson, servedValue } from '../descriptor/kinds/index.js'
import type { Field } from '../descriptor/registry.js'
import type { Dialect, Runner, Source } from './dialect.js'
import { quoted } from './schema.js'

/** A reference, and the table that it names rows of. */
export interface Expansion {
  readonly field: Field
  readonly target: Source
}

/** What is read of the row that a reference names, if the reference is shown; the first of several, which a view may have. */
const referenced = ({ columnOf }: Dialect, { field, target }: Expansion, sql: string): string => {
  const { json: _, ...column } = columnOf(field)
  const reference = servedValue(column, `_t.${quoted(field.name)}`)
  const from = target.byId?.('_e') ?? `${target.from} as _e`
  return `(select ${sql} from ${from} where _e.id = ${target.idOf?.(reference) ?? reference} limit 1)`
}

const versionIn = (state: string): string => `(select version from (${state}) as _s)`

/** The versions of several tables: one after the other. */
const separator = '.'

export const expandedSource = (dialect: Dialect, source: Source, expansions: readonly Expansion[]): Source => {
  const members = expansions.map(
    (one) => `'"${one.field.name}":' || coalesce(${referenced(dialect, one, one.target.json)}, 'null')`,
  )
  const sizes = expansions.map((one) => `coalesce(${referenced(dialect, one, one.target.size)}, 0)`)
  const { state: ownState, ...rest } = source
  const states = [ownState, ...expansions.map(({ target }) => target.state)]
  // Nothing tells whether a response has changed if one of its tables has no version.
  const versions = states.includes(undefined) ? [] : [...new Set(states as readonly string[])].map(versionIn)
  return {
    ...rest,
    json: `${dialect.openObject(source.json, !isJson(source.resource.fields.at(-1) as Field))} || ',"expanded":{' || ${members.join(` || ',' || `)} || '}}'`,
    size: [source.size, ...sizes].join(' + '),
    ...(versions.length > 0 && {
      state: `select ${versions.join(` || '${separator}' || `)} as version, (select total from (${ownState}) as _s) as total`,
    }),
  }
}

/** So many rows that are not long by themselves are together. */
const manyRows = 4

const hasJson = ({ resource }: Source): boolean => resource.fields.some(isJson)

/** The runner of an expanded table: that of the table, with the versions of the referenced tables, whose runners are `targets`. */
export const expandedRunner = (
  tableRunner: Runner,
  targets: readonly Runner[],
  source: Source,
  expansions: readonly Expansion[],
): Runner => {
  const { version: _, state: __, ...runner } = tableRunner
  const runners = [...new Set([tableRunner, ...targets])]
  const versions = runners.flatMap(({ version }) => version ?? [])
  const states = runners.flatMap(({ state }) => state ?? [])
  // The database knows long rows by their texts alone.
  const isLong = expansions.length >= manyRows || [source, ...expansions.map(({ target }) => target)].some(hasJson)
  return {
    ...runner,
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
  }
}
