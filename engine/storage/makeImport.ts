/** The steps that store many rows of one table in one transaction. */
import type { RowId } from '../descriptor/registry.js'
import type { Cell } from './dialect.js'
import { findReplay, forbidden, RowRefused, rowTag, storeKey } from './makeWrite.js'
import { toBuffer } from './sql.js'
import type { Walk } from './walk.js'
import {
  type BoundStatement,
  type Import,
  type ImportedRow,
  type ImportOutcome,
  type ImportPlan,
  parseConflicts,
  type Refused,
  type RowConflict,
} from './writeData.js'

const importBody = ({ ids, counts }: ImportPlan, assigned: readonly string[], mode: Import['mode']): string => {
  let next = 0
  const allIds = ids.map((id) => id ?? assigned[next++])
  return `{"created":${counts.insert},"updated":${counts.update},"unchanged":${counts.keep},"ids":[${mode === 'dryRun' ? '' : allIds.join(',')}]}`
}

/** Whether a query that counts the rows with some ids finds all of them. */
function* findsAll(query: BoundStatement | undefined, ids: readonly RowId[]): Walk<boolean> {
  if (!query || ids.length === 0) return true
  const [counted] = yield { ...query, values: { ...query.values, $ids: [...ids] } }
  return Number(counted?.[0]) === ids.length
}

/** Stores the rows of an import within a transaction. */
export function* makeImport(plan: ImportPlan): Walk<ImportOutcome<Cell>> {
  const { key, mode, groups, tags } = plan
  const replay = yield* findReplay(key)
  if (replay) return 'mismatch' in replay ? replay : { body: replay.body, replayed: true }
  for (const lock of plan.locks ?? []) yield lock
  if (plan.current) {
    const rows = yield plan.current
    const isSame = ([id, json]: readonly unknown[]) => tags[String(id)] === rowTag(toBuffer(json))
    if (rows.length < Object.keys(tags).length || !rows.every(isSame)) return { isStale: true }
  }
  const { changed, allowed } = plan
  if (!(yield* findsAll(allowed?.update, Object.keys(tags)))) return forbidden
  const conflicts: RowConflict[] = [...plan.refused]
  for (const query of groups.flatMap((group) => group.conflicts))
    for (const [row, rowConflicts] of yield query)
      for (const conflict of parseConflicts(rowConflicts))
        if (conflict.type !== 'reference' || !plan.expected.has(`${row} ${conflict.field}`))
          conflicts.push({ ...conflict, row: Number(row) })
  if (conflicts.length > 0 || mode === 'check') return { conflicts }
  if (plan.defer) yield plan.defer
  const assigned: string[] = []
  const idsOf = (rows: readonly (readonly unknown[])[]) => rows.map(([id]) => String(id))
  for (const { isInsert, assign, change, rows } of groups) {
    const ids = assign && idsOf(yield assign)
    const made = yield ids ? { ...change, values: { ...change.values, $assigned: ids } } : change
    if (made.length !== rows) throw new RowRefused('a trigger or a rule of the table does not take every row')
    if (isInsert) assigned.push(...(ids ?? idsOf(made)))
  }
  if (!(yield* findsAll(allowed?.update, changed)) || !(yield* findsAll(allowed?.insert, assigned))) return forbidden
  if (!(yield* findsAll(plan.visible, [...changed, ...assigned]))) {
    if (plan.isRestricted) return forbidden
    throw new RowRefused('a row would not be one of the view')
  }
  const body = importBody(plan, assigned, mode)
  if (mode === 'dryRun') return { body, replayed: false, isUndone: true }
  yield* storeKey(key, body)
  return { body, replayed: false }
}

/** Stores the parts of an import within a transaction; returns the outcome of the first that cannot be stored. */
export const importParts = async (
  parts: AsyncIterable<readonly ImportedRow[]>,
  make: (rows: readonly ImportedRow[]) => Promise<ImportOutcome<Cell>>,
  refusedBy: (error: Error) => Refused | undefined,
): Promise<Exclude<ImportOutcome, { body: unknown }> | undefined> => {
  try {
    for await (const rows of parts) {
      const outcome = await make(rows)
      if (!('body' in outcome)) return outcome
    }
    return undefined
  } catch (error) {
    const refused = error instanceof RowRefused ? error.refused : refusedBy(error as Error)
    if (!refused) throw error
    return { refused }
  }
}
