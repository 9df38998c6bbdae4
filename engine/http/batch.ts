/** The handler of a batch: makes its operations in one transaction, and tells which one failed and why. */
import { maxOperations, readOperations, type SentOperation } from '../contract/batchBody.js'
import * as errors from '../contract/errors.js'
import { keyReused } from '../contract/headers.js'
import { bodyIssue } from '../contract/issues.js'
import type { BatchOperation } from '../contract/operations.js'
import { importLimit } from '../contract/rowBody.js'
import { isAllowed, isGuarded, type Rights, seesAll } from '../descriptor/access.js'
import type { Resource, RowId } from '../descriptor/registry.js'
import { inTurns } from '../process/batchPerTick.js'
import { Unavailable } from '../storage/storage.js'
import type { IdempotencyKey } from '../storage/write.js'
import { accessNames, batchPlanner, Invalid, type Planned } from './batchPlan.js'
import { idempotencyKeyOf, readText } from './body.js'
import type { Handler, Service } from './handlers.js'
import { sendStored, storedRow } from './stored.js'

/** How often a batch is repeated because a row that its rules were asked for has changed meanwhile. */
const maxAttempts = 20

/** Runs work whose error is that of an operation: it then has the place of the operation. */
const asOperation = (operation: number, work: () => unknown): void => {
  try {
    work()
  } catch (error) {
    if (!(error instanceof errors.HttpError)) throw error
    const { error: sent } = error.body as { error: { details?: { issues?: readonly errors.Issue[] } } }
    const issues = sent.details?.issues?.map((issue) => ({
      ...issue,
      loc: ['body', 'operations', operation, ...issue.loc],
    }))
    const details = { ...sent.details, ...(issues && { issues }), operation }
    throw new errors.HttpError(error.status, error.message, { error: { ...sent, details } }, error.headers)
  }
}

const readAll = async (source: string): Promise<SentOperation[]> => {
  const pause = inTurns()
  const sent: SentOperation[] = []
  for (const operation of readOperations(source)) {
    if (sent.push(operation) > maxOperations)
      throw errors.bodyInvalid([
        bodyIssue('too_long', `A batch has at most ${maxOperations} operations.`, 'operations'),
      ])
    await pause()
  }
  return sent
}

/** Makes the function that makes the operations of a batch for somebody; throws the response of the first that fails. */
export const batchRunner =
  ({ storage, registry }: Pick<Service, 'storage' | 'registry'>, writers: BatchOperation['writers']) =>
  async (sent: readonly SentOperation[], rights: Rights, idempotencyKey?: IdempotencyKey, isRetry = false) => {
    const plan = batchPlanner(storage, rights, writers, isRetry ? [] : sent)
    const found = new Map<number, Buffer>()
    for (let left = maxAttempts; left > 0; left--) {
      const { all, failure } = await plan(found)
      const check = failure instanceof Invalid ? failure.check : undefined
      const probe = failure instanceof Invalid &&
        failure.probe &&
        check && { resource: check.resource, write: failure.probe }
      const writes = [...all, ...(probe ? [probe] : [])].map(({ resource, write }) => ({ resource, write }))
      // What fails before the failure decides, so that the operations before it are made, and undone.
      const outcome = await storage.batch({ writes, check, isUndone: failure !== undefined, idempotencyKey }, rights)
      if ('mismatch' in outcome) throw errors.bodyInvalid([keyReused()])
      if ('body' in outcome) return outcome
      const { outcome: failed } = outcome
      const operation = Math.min(outcome.operation, all.length)
      const { resource, id, values } = all[operation] ?? ({ values: {} } as Partial<Planned>)
      if ('changed' in failed) {
        found.set(operation, failed.changed)
        continue
      }
      asOperation(operation, () => {
        if (resource && values) storedRow(registry, resource, failed, { ...(id !== undefined && { id }), values })
        if (failure instanceof errors.HttpError) throw failure
        if (check) storedRow(registry, check.resource, failed, { ...check, issues: failure?.issues ?? [] })
        throw errors.bodyInvalid(failure?.issues ?? [])
      })
    }
    throw new Unavailable('rows that a batch changes are changed too often')
  }

/** `finish` may add to the body of the response. */
export const batch = (
  service: Service,
  { writers }: Pick<BatchOperation, 'writers'>,
  finish: (body: Buffer) => Buffer = (body) => body,
): Handler => {
  const { storage, registry, callers } = service
  const run = batchRunner(service, writers)
  const managed = registry.find(({ existing }) => !existing)
  const resourceAt = (path: string) => writers.get(/\/v1\/([^/]+)/.exec(path)?.[1] ?? '')?.resource
  const isExisting = ({ path }: SentOperation) => resourceAt(path)?.existing

  /** The outcome of an earlier request, with the rows as the caller may see them now. */
  const shownAgain = async (
    sent: readonly SentOperation[],
    rights: Rights,
    stored: { body: Buffer; replayed: boolean },
  ) => {
    const resources = sent.map(({ path }) => resourceAt(path))
    const isHidden = (resource: Resource | undefined) => resource && !seesAll(rights.of(resource))
    if (!resources.some(isHidden)) return stored
    const { results } = JSON.parse(String(stored.body)) as {
      results: { status: number; body?: { id: RowId | number } }[]
    }
    const texts = await Promise.all(
      results.map(async ({ status, body }, n) => {
        const resource = resources[n]
        if (!body || !resource) return JSON.stringify({ status })
        const row = await storage.table(resource, [], rights).get(String(body.id))
        return `{"status":${status},"body":${row?.body ?? JSON.stringify({ id: body.id })}}`
      }),
    )
    return { ...stored, body: Buffer.from(`{"results":[${texts.join(',')}]}`) }
  }

  return async (ctx) => {
    if (!callers.isConfigured) throw errors.writesDisabled()
    const { caller, rights } = await callers.required(ctx, 'write')
    ctx.state.isPrivate = registry.some(isGuarded)
    const source = await readText(ctx, ['application/json'], importLimit)
    const sent = await readAll(source)
    const keyIssues: errors.Issue[] = []
    const idempotencyKey = idempotencyKeyOf(ctx, caller, [source], keyIssues)
    if (keyIssues.length > 0) throw errors.bodyInvalid(keyIssues)
    if (idempotencyKey && (!managed || sent.some(isExisting))) throw errors.keysNotSupported()
    // A retry has the outcome of the first request, whatever the rows are now.
    const isRetry = idempotencyKey && managed && (await storage.table(managed).hasKey(idempotencyKey.key))
    for (const [n, { method, path }] of isRetry ? sent.entries() : []) {
      const resource = resourceAt(path)
      if (resource && !isAllowed(rights.of(resource)[accessNames[method]]))
        asOperation(n, () => {
          throw errors.forbidden()
        })
    }
    const outcome = await run(sent, rights, idempotencyKey, Boolean(isRetry))
    const stored = outcome.replayed ? await shownAgain(sent, rights, outcome) : outcome
    sendStored(ctx, 200, { ...stored, body: finish(stored.body) })
  }
}
