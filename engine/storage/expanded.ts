/** A table whose rows have the rows that they reference, in the member `expanded`. */
import type { Dialect, Runner, Source } from './dialect.js'
import { quoted } from './schema.js'

/** A reference, and the table that it names rows of. */
export interface Expansion {
  readonly field: string
  readonly target: Source
}

/** What is read of the row that a reference names. */
const referenced = ({ field, target }: Expansion, sql: string): string => {
  const reference = `_t.${quoted(field)}`
  const from = target.byId?.('_e') ?? `${target.from} as _e`
  return `(select ${sql} from ${from} where _e.id = ${target.idOf?.(reference) ?? reference})`
}

const versionIn = (state: string): string => `(select version from (${state}) as _s)`

/** The version of several tables: one after the other. */
const separator = '.'

export const expandedSource = ({ openObject }: Dialect, source: Source, expansions: readonly Expansion[]): Source => {
  const members = expansions.map((one) => `'"${one.field}":' || coalesce(${referenced(one, one.target.json)}, 'null')`)
  const sizes = expansions.map((one) => `coalesce(${referenced(one, one.target.size)}, 0)`)
  const { state: own, ...rest } = source
  const others = expansions.map(({ target }) => target.state)
  const states = [own, ...others].flatMap((state) => state ?? [])
  const versions = states.map(versionIn).join(` || '${separator}' || `)
  return {
    ...rest,
    json: `${openObject(source.json)} || ',"expanded":{' || ${members.join(` || ',' || `)} || '}}'`,
    size: [source.size, ...sizes].join(' + '),
    // Nothing tells whether a response has changed if one of its tables has no version.
    ...(states.length > others.length && {
      state: `select ${versions} as version, (select total from (${own}) as _s) as total`,
    }),
  }
}

/** Runs the reads of such a table by the runner of its own rows. */
export const expandedRunner = (own: Runner, targets: readonly Runner[]): Runner => {
  const { version: _, state: __, ...runner } = own
  const all = [own, ...targets]
  const versions = all.flatMap(({ version }) => version ?? [])
  const states = all.flatMap(({ state }) => state ?? [])
  return {
    ...runner,
    ...(versions.length === all.length && {
      version: async () => (await Promise.all(versions.map((read) => read()))).join(separator),
    }),
    ...(states.length === all.length && {
      async state() {
        const found = await Promise.all(states.map((read) => read()))
        return {
          version: found.map(({ version }) => version).join(separator),
          hasLongRows: found.some(({ hasLongRows }) => hasLongRows),
          denseIds: found[0]?.denseIds,
        }
      },
    }),
  }
}
