/**
 * Locks the rows to which rules of access follow references: what a rule allows must still be so when the write is stored. A table after
 * the other, because the rows of the next one are known for certain once those before are locked.
 */
import { type Field, idField } from '../descriptor/registry.js'
import type { Dialect, Source } from './dialect.js'
import { referencedId, type Sources } from './rules.js'
import { parameter, sql } from './sql.js'
import type { Walk } from './walk.js'
import type { PathLock, PathLocks } from './writeData.js'

const keyOf = (path: readonly Field[]): string => path.map(({ name }) => `${name}.`).join('')

/** The paths without those that others begin with. */
const longest = (paths: readonly (readonly Field[])[]): (readonly Field[])[] => {
  const byKey = new Map(paths.map((path) => [keyOf(path), path]))
  const isPart = (key: string) => [...byKey.keys()].some((other) => other !== key && other.startsWith(key))
  return [...byKey].filter(([key]) => !isPart(key)).map(([, path]) => path)
}

/** `isOneOfMany` if the transaction may change these rows later: two that share them would wait for each other. */
export const pathLocks = (
  dialect: Dialect,
  sourceAt: Sources,
  start: Source,
  paths: readonly (readonly Field[])[],
  isOneOfMany: boolean,
): PathLock[] =>
  longest(paths).flatMap((path) => {
    const targets = path.map(({ references }) => sourceAt(String(references)))
    if (!targets.some(({ isLockable }) => isLockable)) return []
    const rowLock = isOneOfMany ? dialect.forChange : (dialect.forShare ?? '')
    const statements = [start, ...targets].map((source, n) => {
      const [field, target] = [path[n], targets[n]]
      const next = field && target ? referencedId(dialect, field, '_t', target) : '_t.id'
      const isGiven = sql`_t.id ${dialect.isIn(parameter('$ids', dialect.typeOf(idField(source.resource), true)))}`
      const lock = n > 0 && source.isLockable ? rowLock : ''
      return dialect.compile(sql`select ${next} from ${source.from} as _t where ${isGiven} order by _t.id${lock}`)
    })
    return [statements]
  })

/** Waits for the turn of a transaction, if one of its writes needs that. */
export function* takeTurn(plans: readonly { readonly pathLocks?: PathLocks }[]): Walk<void> {
  const turn = plans.find(({ pathLocks: locks }) => locks?.turn)?.pathLocks?.turn
  if (turn) yield { statement: turn, values: {} }
}

export function* lockPaths(
  { pathLocks: given }: { readonly pathLocks?: PathLocks },
  rows: readonly unknown[],
): Walk<void> {
  for (const statements of given?.locks ?? []) {
    let ids = rows
    for (const statement of statements) {
      if (ids.length === 0) break
      const found = yield { statement, values: { $ids: ids } }
      ids = [...new Set(found.map(([id]) => id).filter((id) => id !== null))]
    }
  }
}
