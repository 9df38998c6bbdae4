/** The steps that make writes, of a row, of many rows and of several tables, the same for every database. */
import type { RowId } from '../descriptor/registry.js'
import type { Cell } from './dialect.js'
import { RowRefused } from './failures.js'
import { lockPaths, takeTurn } from './pathLocks.js'
import { findReferencing } from './referencing.js'
import { rowTag, toBuffer } from './sql.js'
import type { Walk } from './walk.js'
import {
  type BatchOutcome,
  type BatchPlan,
  type BoundStatement,
  type Forbidden,
  type IdempotencyKey,
  type Import,
  type ImportedRow,
  type ImportOutcome,
  type ImportPlan,
  type Outcome,
  parseConflicts,
  type Refused,
  type RowConflict,
  type WritePlan,
} from './writeData.js'

const forbidden: Forbidden = { isForbidden: true, isUndone: true }

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
function* findReplay(key: WritePlan['key']): Walk<ReturnType<typeof replayed> | undefined> {
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

/** Whether a row that was written is still one that its writer may write and see, if it is there. */
function* isStillAllowed(plan: WritePlan, id: RowId): Walk<boolean> {
  const { kind, pathLocks, read } = plan
  if (kind === 'delete' || !pathLocks) return true
  const [row] = yield { ...read, values: { ...read.values, id } }
  if (row && (yield* isAllowed(plan, id))) return true
  return (yield { statement: pathLocks.exists, values: { id } }).length === 0
}

/** Makes a write within a transaction; throws if the database refuses it. */
export function* makeWrite(plan: WritePlan): Walk<Outcome<Cell>> {
  const { kind, id: given, ifMatch, key } = plan
  if (plan.create) {
    const [createdRow] = yield plan.create
    return createdBy(createdRow ?? [], key?.given)
  }
  yield* takeTurn([plan])
  let [current] = plan.current ? yield plan.current : []
  // After the row is locked, which waits for another request with the same key.
  const replay = yield* findReplay(key)
  if (replay) return replay
  if (current && plan.current && plan.pathLocks) {
    yield* lockPaths(plan, [given])
    ;[current] = yield plan.current
  }
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
    const [changedRow] = yield plan.change
    id ??= changedRow?.[0] as Cell
    if (kind !== 'delete') {
      yield* lockPaths(plan, [id])
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
interface AssignedId {
  readonly $operation: number
}

export const isAssignedId = (value: unknown): value is AssignedId =>
  typeof value === 'object' && value !== null && '$operation' in value

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
function* makeImport(plan: ImportPlan): Walk<ImportOutcome<Cell>> {
  const { key, mode, groups, tags } = plan
  const replay = yield* findReplay(key)
  if (replay) return 'mismatch' in replay ? replay : { body: replay.body, replayed: true }
  yield* takeTurn([plan])
  for (const lock of plan.locks ?? []) yield lock
  if (plan.current) {
    const rows = yield plan.current
    const isSame = ([id, json]: readonly unknown[]) => tags[String(id)] === rowTag(toBuffer(json))
    if (rows.length < Object.keys(tags).length || !rows.every(isSame)) return { isStale: true }
  }
  const { changed, allowed } = plan
  yield* lockPaths(plan, Object.keys(tags))
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
    const changedRows = yield ids ? { ...change, values: { ...change.values, $assigned: ids } } : change
    if (changedRows.length !== rows) throw new RowRefused('a trigger or a rule of the table does not take every row')
    if (isInsert) assigned.push(...(ids ?? idsOf(changedRows)))
  }
  yield* lockPaths(plan, [...changed, ...assigned])
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

/** The steps of one part of an import that has several. */
export const partSteps = (plan: ImportPlan) => stepsOf(plan) as Walk<ImportOutcome<Cell>>

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

export type AnyPlan = WritePlan | ImportPlan | BatchPlan
export type AnyOutcome<B> = Outcome<B> | ImportOutcome<B> | BatchOutcome<B>

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

/** Makes the writes of a batch within a transaction: each sees those before it, and the first that fails undoes all. An error of the database names the write. */
export function* makeBatch({ writes, check, isUndone, key }: BatchPlan): Walk<BatchOutcome<Cell>> {
  const replay = yield* findReplay(key)
  if (replay) return 'mismatch' in replay ? replay : { body: replay.body, replayed: true }
  yield* takeTurn(writes)
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
  // A later write may have changed what the rule of an earlier one depends on.
  for (const [operation, write] of writes.entries())
    if (!(yield* isStillAllowed(write, ids[operation] as RowId)))
      return { operation, outcome: forbidden, isUndone: true }
  const [conflicting] = check ? yield withIds(check, ids) : []
  if (isUndone) return { operation: writes.length, outcome: { conflicts: parseConflicts(conflicting?.[0]) }, isUndone }
  const body = `{"results":[${results.join(',')}]}`
  yield* storeKey(key, body)
  return { body, replayed: false }
}

const make = (plan: AnyPlan): Walk<AnyOutcome<Cell>> => {
  if (plan.kind === 'batch') return makeBatch(plan)
  return plan.kind === 'import' ? makeImport(plan) : makeWrite(plan)
}

/** The steps of a plan of any kind. */
export function* stepsOf(plan: AnyPlan): Walk<AnyOutcome<Cell>> {
  const { caller } = plan
  if (caller) yield caller.set
  const outcome = yield* make(plan)
  if (caller?.clear) yield caller.clear
  return outcome
}
