/** The way of every write: plan it, store it, and plan it again if a row that it was planned for has changed meanwhile. */
import * as errors from '../contract/errors.js'
import { keyReused, replayedHeader } from '../contract/headers.js'
import { conflictIssue, constraintIssue } from '../contract/issues.js'
import { basePath } from '../contract/service.js'
import type { Identity, Rights } from '../descriptor/access.js'
import type { Registry, Resource, RowId, RowValues } from '../descriptor/registry.js'
import { Unavailable } from '../storage/failures.js'
import { rowTag } from '../storage/sql.js'
import type { EarlierWrite, Tables } from '../storage/storage.js'
import type { BatchOutcome, IdempotencyKey, Outcome, WriteBatch } from '../storage/writeData.js'
import { keyOf } from './body.js'
import { jsonType } from './conditional.js'
import type { AppContext } from './requestLog.js'
import { Invalid, type Planned, type SentWrite, writePlanner } from './writePlan.js'

/** How often a write is planned again because a row has changed since its rules were evaluated. */
const maxAttempts = 20

/** Plans and stores until no row has changed in between; an attempt that finds such a row returns nothing. */
export const untilStored = async <T>(
  what: string,
  attempt: (isLast: boolean) => Promise<T | undefined>,
): Promise<T> => {
  for (let attemptsLeft = maxAttempts; attemptsLeft > 0; attemptsLeft--) {
    const stored = await attempt(attemptsLeft === 1)
    if (stored !== undefined) return stored
  }
  throw new Unavailable(`${what} that a write needs are changed too often`)
}

/** What a request with an Idempotency-Key has stored before, if it was sent before. */
export const earlierWrite = async (
  ctx: AppContext,
  caller: Identity,
  storage: Tables,
  resource: Resource,
): Promise<EarlierWrite | undefined> => {
  const key = keyOf(ctx, caller)
  return key === undefined ? undefined : storage.table(resource).earlierWrite(key)
}

/** The response of the earlier request; throws if that was another one. */
export const replayed = ({ digest, body }: EarlierWrite, key: IdempotencyKey): Stored => {
  if (digest !== key.digest) throw errors.bodyInvalid([keyReused()])
  return { body, replayed: true }
}

/** The row of an update or a delete, which must be there, be one that the caller may change, and have a tag that If-Match names. */
export const findChangeable = async (
  storage: Tables,
  rights: Rights,
  resource: Resource,
  kind: 'update' | 'delete',
  { id, text = id, ifMatch }: Pick<SentWrite, 'ifMatch'> & { readonly id: RowId; readonly text?: string },
): Promise<Buffer> => {
  const table = storage.table(resource, [], rights)
  const row = await table.get(id)
  if (!row) throw errors.rowNotFound(resource.name, text)
  if (rights.of(resource)[kind] !== 'all' && !(await table.allows(kind, id))) throw errors.rowForbidden()
  if (ifMatch && !ifMatch.includes(row.tag)) throw errors.preconditionFailed(`"${row.tag}"`)
  return row.body
}

/** A row that was stored before as its caller may see it now: its rights may have changed since. */
export const rowNow = async (storage: Tables, rights: Rights, resource: Resource, body: Buffer): Promise<Buffer> => {
  const { id } = JSON.parse(String(body)) as { id?: RowId | number }
  if (id === undefined) throw errors.responseErased()
  const row = await storage.table(resource, [], rights).get(String(id))
  return row?.body ?? Buffer.from(JSON.stringify({ id }))
}

/** The error of a write that was not stored. */
const rejected = (
  registry: Registry,
  resource: Resource,
  outcome: Exclude<Outcome, { id: RowId }>,
  { id = '', values = {}, issues = [] }: { id?: RowId; values?: RowValues; issues?: readonly errors.Issue[] },
): Error => {
  if ('refused' in outcome) return errors.bodyInvalid([constraintIssue(resource, outcome.refused, values)])
  if ('mismatch' in outcome) return errors.bodyInvalid([keyReused()])
  if ('isMissing' in outcome) return errors.rowNotFound(resource.name, id)
  if ('current' in outcome) return errors.preconditionFailed(`"${rowTag(outcome.current)}"`)
  if ('changed' in outcome) return new Unavailable(`row ${id} of ${resource.path} is changed too often`)
  if ('isForbidden' in outcome) return errors.rowForbidden()
  if ('referencing' in outcome) return errors.referenced(resource.name, outcome.referencing, outcome.isTooMany)
  const conflicts = outcome.conflicts.map(({ type, field }) => conflictIssue(registry, resource, type, field, values))
  return errors.bodyInvalid([...issues, ...conflicts])
}

/** An error with the place of its operation in a batch. */
export const inBatch = (error: Error, operation: number): Error => {
  if (!(error instanceof errors.HttpError)) return error
  const { error: envelope } = error.body as { error: { details?: { issues?: readonly errors.Issue[] } } }
  const issues = envelope.details?.issues?.map((issue) => ({
    ...issue,
    loc: ['body', 'operations', operation, ...issue.loc],
  }))
  const details = { ...envelope.details, ...(issues && { issues }), operation }
  return new errors.HttpError(error.status, error.message, { error: { ...envelope, details } }, error.headers)
}

/** What a write has stored: a row, or the results of a batch. */
export interface Stored {
  readonly id?: RowId
  readonly body: Buffer
  /** Whether an earlier request with the same key has stored it. */
  readonly replayed: boolean
}

/** Where writes are made: in the service, or in a transaction. */
export interface WritePlace {
  readonly storage: Tables
  readonly registry: Registry
}

export interface WriteOptions {
  readonly rights: Rights
  readonly idempotencyKey?: IdempotencyKey | undefined
  /** The name of the caller; a transaction has its own. */
  readonly by?: string | undefined
}

/** Makes the writes of a batch, all or none; throws the response of the first that fails. */
export const makeWrites = (
  place: WritePlace,
  writes: readonly (() => SentWrite)[],
  options: WriteOptions,
): Promise<Stored> => make(place, writes, options, false, new Map())

/** Makes one write; `row` is the row that it changes, as its caller sees it. */
export const makeWrite = (place: WritePlace, write: SentWrite, options: WriteOptions, row?: Buffer): Promise<Stored> =>
  make(place, [() => write], options, true, new Map(row ? [[0, row]] : []))

const make = async (
  { storage, registry }: WritePlace,
  sentWrites: readonly (() => SentWrite)[],
  { rights, idempotencyKey, by }: WriteOptions,
  isSingle: boolean,
  foundRows: Map<number, Buffer>,
): Promise<Stored> => {
  const plan = writePlanner(storage, rights, sentWrites, isSingle)

  /** A single write needs no transaction around it: a create may be one statement, and an invalid one only reads. */
  const storeOne = async ({ writes: [only], check }: WriteBatch): Promise<BatchOutcome> => {
    const failed = (outcome: Outcome): BatchOutcome => ({ operation: 0, outcome, isUndone: true })
    if (!only) {
      const table = check && storage.table(check.resource, [], rights)
      return failed({ conflicts: (await table?.conflicts(check?.values ?? {}, check?.id, check?.sent)) ?? [] })
    }
    const outcome = await storage.table(only.resource, [], rights).write({ ...only.write, idempotencyKey, by })
    return 'id' in outcome || 'mismatch' in outcome ? outcome : failed(outcome)
  }
  return untilStored('rows', async () => {
    const { planned, failure } = await plan(foundRows)
    const { check, probe } = failure instanceof Invalid ? failure : {}
    const writes = planned.map(({ resource, write }) => ({ resource, write }))
    if (probe && check) writes.push({ resource: check.resource, write: probe })
    // What fails before the failure decides, so that the operations before it are made, and undone.
    const batch = { writes, check, isUndone: failure !== undefined, idempotencyKey, by }
    const outcome = isSingle ? await storeOne(batch) : await storage.batch(batch, rights)
    if ('mismatch' in outcome) throw errors.bodyInvalid([keyReused()])
    if ('body' in outcome) return outcome
    const operation = Math.min(outcome.operation, planned.length)
    const stored = outcome.outcome as Exclude<Outcome, { id: RowId }>
    if ('changed' in stored) {
      foundRows.set(operation, stored.changed)
      return undefined
    }
    const error = (({ resource, id, values }: Partial<Planned>): Error => {
      if (resource && values) return rejected(registry, resource, stored, { ...(id !== undefined && { id }), values })
      if (failure instanceof errors.HttpError) return failure
      if (check) return rejected(registry, check.resource, stored, { ...check, issues: failure?.issues ?? [] })
      return errors.bodyInvalid(failure?.issues ?? [])
    })(planned[operation] ?? {})
    throw isSingle ? error : inBatch(error, operation)
  })
}

export const rowPath = ({ path }: Resource, id: RowId): string => `${basePath}/v1/${path}/${encodeURIComponent(id)}`

/** Sends what a write has stored; nothing of a row that was deleted. */
export const sendStored = (
  ctx: AppContext,
  status: number,
  { body, replayed }: { readonly body: Buffer; readonly replayed: boolean },
): void => {
  ctx.status = status
  ctx.state.usedDatabase = true
  if (ctx.state.isPrivate) ctx.set({ 'Cache-Control': 'private, no-store', Vary: 'Authorization' })
  if (replayed) ctx.set(replayedHeader, 'true')
  if (body.length === 0) return
  ctx.set('Content-Type', jsonType)
  ctx.body = body
}
