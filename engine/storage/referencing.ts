/** What a delete does to other rows: those that reference its row, or a row that is deleted with it, at any level. */

import { maxOtherRows } from '../descriptor/define.js'
import type { RowId } from '../descriptor/registry.js'
import type { Values } from './sql.js'
import type { Walk } from './walk.js'
import type { Referenced, Referrer } from './writeData.js'

/** More ids than this are not read: the row itself may be one of them. */
export const maxFound = maxOtherRows + 2

/** The databases cascade through fewer levels than this; SQLite through 1,000. */
const maxLevels = 500

/** Walks the references to a row, level by level. Stops after the level with more rows than a delete may concern. */
function* walkReferences(referrers: readonly Referrer[], path: string, id: RowId, scope: Values) {
  // By resource, as text, whatever the kind of the id.
  const deleted = new Map([[path, new Set([String(id)])]])
  const changed: typeof deleted = new Map()
  const counts = new Map<Referrer, number>()
  const idsOf = (resource: string, rows = deleted): Set<string> => {
    const ids = rows.get(resource) ?? new Set()
    rows.set(resource, ids)
    return ids
  }
  const isTooMany = () => {
    const sizes = [...deleted.values(), ...changed.values()].map(({ size }) => size)
    return sizes.reduce((sum, size) => sum + size) > maxOtherRows + 1
  }
  const values = ({ resource, onDelete }: Referrer, ids: Iterable<string>) => ({
    $ids: [...ids],
    ...(onDelete !== 'cascade' && { $deleted: [...idsOf(resource)] }),
  })
  function* look(referrer: Referrer, ids: Iterable<string>): Walk<string[]> {
    const bound = { ...scope, ...values(referrer, ids) }
    const rows = yield { statement: referrer.find, values: bound }
    const [counted] = rows.length < maxFound ? [] : yield { statement: referrer.count, values: bound }
    counts.set(referrer, (counts.get(referrer) ?? 0) + Number(counted?.[0] ?? rows.length))
    return rows.map(([one]) => String(one))
  }

  const levels: [target: string, ids: readonly string[], by?: Referrer][] = [[path, [String(id)]]]
  for (const [target, ids] of levels) {
    for (const referrer of referrers.filter((one) => one.target === target && one.onDelete === 'cascade')) {
      const foundIds = idsOf(referrer.resource)
      const added = (yield* look(referrer, ids)).filter((one) => !foundIds.has(one))
      for (const one of added) foundIds.add(one)
      if (added.length > 0) levels.push([referrer.resource, added, referrer])
    }
    if (isTooMany()) break
  }
  for (const referrer of referrers.filter(({ target, onDelete }) => onDelete !== 'cascade' && deleted.has(target))) {
    const referring = yield* look(referrer, idsOf(referrer.target))
    if (referrer.onDelete === 'set null') for (const one of referring) idsOf(referrer.resource, changed).add(one)
  }
  return {
    concerned: referrers.filter((referrer) => counts.get(referrer)),
    countOf: (referrer: Referrer) => counts.get(referrer) as number,
    clearValues: (referrer: Referrer) => values(referrer, idsOf(referrer.target)),
    isTooMany: isTooMany(),
    levels,
  }
}

/** Finds what references a row; `scope` has the values of the caller's rules. */
export function* findReferencing(
  referrers: readonly Referrer[],
  path: string,
  id: RowId,
  scope: Values = {},
): Walk<Referenced> {
  const stored = yield* walkReferences(referrers, path, id, {})
  // Walked again as the caller sees it: rows behind a hidden one are not told.
  const isShown = referrers.every(({ shown }) => !shown)
  const shownReferrers = referrers.map((one) => ({ ...one, ...one.shown }))
  const visible = isShown ? stored : yield* walkReferences(shownReferrers, path, id, scope)
  return {
    referencing: visible.concerned.map((referrer) => {
      const { resource, field, onDelete } = referrer
      return { resource, field, onDelete, count: visible.countOf(referrer) }
    }),
    isTooMany: visible.isTooMany,
    isPrevented: stored.isTooMany || stored.concerned.some(({ onDelete }) => onDelete === 'restrict'),
    changes: [
      ...stored.concerned.flatMap((referrer) => {
        const { clear: statement, stamps } = referrer
        return statement ? [{ statement, values: { ...stamps, ...stored.clearValues(referrer) } }] : []
      }),
      // The deepest first, until the foreign keys can delete the rest.
      ...stored.levels
        .slice(maxLevels)
        .reverse()
        .flatMap(([, ids, by]) => (by?.remove ? [{ statement: by.remove, values: { $ids: [...ids] } }] : [])),
    ],
  }
}
