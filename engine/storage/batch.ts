/** Several writes of any tables in one transaction: each sees those before it, and the first that fails undoes all. */

import type { Cell } from './dialect.js'
import { findReplay, isAssignedId, makeWrite, storeKey } from './makeWrite.js'
import { toBuffer } from './sql.js'
import type { Walk } from './walk.js'
import type { BatchOutcome, BatchPlan, BoundStatement, ImportOutcome, Outcome, WritePlan } from './writeData.js'
import { parseConflicts } from './writeData.js'

type AnyOutcome<B> = Outcome<B> | ImportOutcome<B> | BatchOutcome<B>

/** An outcome with what the driver returned as bytes. */
export const withBuffers = (outcome: AnyOutcome<Cell>): AnyOutcome<Buffer> => {
  if ('operation' in outcome) return { ...outcome, outcome: withBuffers(outcome.outcome) as Outcome }
  if ('body' in outcome) return { ...outcome, body: toBuffer(outcome.body) }
  if ('changed' in outcome) return { changed: toBuffer(outcome.changed) }
  return 'current' in outcome ? { current: toBuffer(outcome.current) } : outcome
}

const withIds = <Q extends BoundStatement | undefined>(query: Q, ids: readonly string[]): Q => {
  if (!query || !Object.values(query.values).some(isAssignedId)) return query
  const values = Object.entries(query.values).map(([name, value]) => [
    name,
    isAssignedId(value) ? BigInt(ids[value.$operation] as string) : value,
  ])
  return { ...query, values: Object.fromEntries(values) }
}

const resultOf = (kind: WritePlan['kind'], body: Cell): string =>
  kind === 'delete'
    ? '{"status":204}'
    : `{"status":${kind === 'insert' ? 201 : 200},"body":${toBuffer(body).toString()}}`

/** Makes the writes of a batch within a transaction; an error of the database names the write. */
export function* makeBatch({ writes, check, isUndone, key }: BatchPlan): Walk<BatchOutcome<Cell>> {
  const replay = yield* findReplay(key)
  if (replay) return 'mismatch' in replay ? replay : { body: replay.body, replayed: true }
  const ids: string[] = []
  const results: string[] = []
  for (const [operation, write] of writes.entries()) {
    const { current, conflicts, change, create } = write
    const plan = {
      ...write,
      ...(current && { current: withIds(current, ids) }),
      ...(conflicts && { conflicts: withIds(conflicts, ids) }),
      ...(create && { create: withIds(create, ids) }),
      change: withIds(change, ids),
    }
    let outcome: Outcome<Cell>
    try {
      outcome = yield* makeWrite(plan)
    } catch (error) {
      throw Object.assign(error as Error, { operation })
    }
    if (!('id' in outcome)) return { operation, outcome, isUndone: true }
    ids.push(outcome.id)
    results.push(resultOf(write.kind, outcome.body))
  }
  const [conflicting] = check ? yield withIds(check, ids) : []
  if (isUndone) return { operation: writes.length, outcome: { conflicts: parseConflicts(conflicting?.[0]) }, isUndone }
  const body = `{"results":[${results.join(',')}]}`
  yield* storeKey(key, body)
  return { body, replayed: false }
}
