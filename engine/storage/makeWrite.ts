/** The steps that make a write of one row, the same for every kind of write and every database. */
import { createHash } from 'node:crypto'
import type { RowId } from '../descriptor/registry.js'
import type { Cell } from './dialect.js'
import { findReferencing } from './referencing.js'
import { toBuffer } from './sql.js'
import type { Walk } from './walk.js'
import {
  type Forbidden,
  type IdempotencyKey,
  type Outcome,
  parseConflicts,
  type Refused,
  type WritePlan,
} from './writeData.js'

export const forbidden: Forbidden = { isForbidden: true, isUndone: true }

/** The tag of a row: a digest of its JSON, so that it changes with this row alone. */
export const rowTag = (body: Uint8Array): string => createHash('sha256').update(body).digest('base64url').slice(0, 22)

/** The table does not take the row; nothing was changed. */
export class RowRefused extends Error {
  readonly refused: Refused

  constructor(reason: string) {
    super(reason)
    this.refused = { reason }
  }
}

/** The id in the JSON of a row; of an empty body, after a delete, none. */
const idIn = (body: Cell): RowId => {
  const { id } = JSON.parse(String(toBuffer(body)) || '{}') as { id?: RowId | number }
  return String(id ?? '')
}

const replayed = (
  [digest, body]: readonly unknown[],
  given: IdempotencyKey,
): { id: RowId; body: Cell; replayed: true } | { mismatch: true } =>
  digest === given.digest ? { id: idIn(body as Cell), body: body as Cell, replayed: true } : { mismatch: true }

/** What a create in one statement returns: conflicts, id and JSON of the new row, and digest and JSON of an earlier one with its key. */
const createdBy = (row: readonly unknown[], given: IdempotencyKey | undefined): Outcome<Cell> => {
  const [conflicts, id, body, ...stored] = row
  if (given && stored[0]) return replayed(stored, given)
  if (conflicts) return { conflicts: parseConflicts(conflicts) }
  return { id: String(id), body: body as Cell, replayed: false }
}

/** The outcome of an earlier write with the same key, if there is one. */
export function* findReplay(key: WritePlan['key']): Walk<ReturnType<typeof replayed> | undefined> {
  if (!key) return undefined
  const [stored] = yield { statement: key.statements.find, values: { $key: key.given.key } }
  return stored && replayed(stored, key.given)
}

/** Stores the key of a write with what it made. */
export function* storeKey(key: WritePlan['key'], body: Cell): Walk<void> {
  if (!key) return
  const { prune, store } = key.statements
  if (prune) yield { statement: prune, values: {} }
  yield { statement: store, values: { $key: key.given.key, $digest: key.given.digest, body } }
}

function* isAllowed({ allowed }: WritePlan, id: Cell): Walk<boolean> {
  if (!allowed) return true
  return (yield { ...allowed, values: { ...allowed.values, id } }).length > 0
}

/** Makes a write within a transaction; throws if the database refuses it. */
export function* makeWrite(plan: WritePlan): Walk<Outcome<Cell>> {
  const { kind, id: given, ifMatch, key } = plan
  if (plan.create) {
    const [made] = yield plan.create
    return createdBy(made ?? [], key?.given)
  }
  const [current] = plan.current ? yield plan.current : []
  // After the row is locked, which waits for another request with the same key.
  const replay = yield* findReplay(key)
  if (replay) return replay
  if (plan.current && !current) return { isMissing: true }
  const [before = null, isChanged = 1] = (current ?? []) as Cell[]
  if (given !== undefined && !(yield* isAllowed(plan, given))) return forbidden
  if (ifMatch && !ifMatch.includes(rowTag(toBuffer(before)))) return { current: before }
  if (plan.unchanged !== undefined && plan.unchanged !== rowTag(toBuffer(before))) return { changed: before }
  if (plan.refused) return { refused: plan.refused }
  const [conflicting] = plan.conflicts ? yield plan.conflicts : []
  if (conflicting?.[0]) return { conflicts: parseConflicts(conflicting[0]) }
  if (plan.referrers && given !== undefined) {
    for (const statement of plan.beforeDelete ?? []) yield { statement, values: {} }
    // Before the cascades of a delete, which would be made and undone.
    const references = yield* findReferencing(plan.referrers, plan.path, given, plan.scope)
    const { referencing, isTooMany, isPrevented, changes } = references
    if (isPrevented) return { referencing, isTooMany }
    for (const query of changes) yield query
  }
  let [id, body]: [Cell | undefined, Cell] = [given, kind === 'delete' ? '' : before]
  if (Number(isChanged) === 1) {
    const [made] = yield plan.change
    id ??= made?.[0] as Cell
    if (kind !== 'delete') {
      const [row] = yield { ...plan.read, values: { ...plan.read.values, id } }
      if (!row && plan.isRestricted) return forbidden
      if (!row) throw new RowRefused('the row would not be one of the view')
      if (!(yield* isAllowed(plan, id as Cell))) return forbidden
      body = row[1] as Cell
    }
  }
  yield* storeKey(key, body)
  return { id: String(id), body, replayed: false }
}

/** Stands for the id that is assigned to the row of an earlier write of a batch, by its place; only in values that are bound. */
export interface AssignedId {
  readonly $operation: number
}

export const isAssignedId = (value: unknown): value is AssignedId =>
  typeof value === 'object' && value !== null && '$operation' in value
