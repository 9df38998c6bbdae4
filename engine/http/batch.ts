/** The handler of a batch: makes its operations in one transaction, and tells which one failed and why. */
import { batchMethods, maxOperations, readOperations, type SentOperation } from '../contract/batchBody.js'
import * as errors from '../contract/errors.js'
import { bodyIssue } from '../contract/issues.js'
import type { BatchOperation } from '../contract/operations.js'
import { itemIdParser } from '../contract/parameters.js'
import { importLimit } from '../contract/rowBody.js'
import { isAllowed, isGuarded, type Rights, seesAll } from '../descriptor/access.js'
import { inTurns } from '../process/batchPerTick.js'
import { isErased } from '../storage/erasedResponses.js'
import { idempotencyKeyOf, readText } from './body.js'
import { tagsAllowedBy } from './conditional.js'
import type { Handler, Service } from './serviceParts.js'
import { resultsNow, storeWrites } from './transact.js'
import { earlierWrite, inBatch, replayed, sendStored } from './write.js'
import { Invalid, type SentWrite } from './writePlan.js'

/** The right that each method needs. */
const accessNames = { POST: 'create', PATCH: 'update', DELETE: 'delete' } as const

const readAll = async (source: string): Promise<SentOperation[]> => {
  const pause = inTurns()
  const operations: SentOperation[] = []
  for (const operation of readOperations(source)) {
    if (operations.push(operation) > maxOperations)
      throw errors.bodyInvalid([
        bodyIssue('too_long', `A batch has at most ${maxOperations} operations.`, 'operations'),
      ])
    await pause()
  }
  return operations
}

/** What an operation of a batch asks for; throws if that is not possible. */
const sentWrite = (writers: BatchOperation['writers'], rights: Rights, operation: SentOperation): SentWrite => {
  const { method, path, body, source, as, ifMatch, issues } = operation
  if (issues.length > 0) throw new Invalid(issues.map((issue) => ({ ...issue, loc: issue.loc.slice(1) })))
  const [, name = '', segment] = /^(?:\/api)?\/v1\/([^/?#]+)(?:\/([^/?#]+))?$/.exec(path) ?? []
  const writer = writers.get(name)
  if (!writer) throw errors.pathNotFound()
  const { resource } = writer
  const allowed = batchMethods.filter((one) => (one === 'POST') === (segment === undefined) && writer[one])
  if (!allowed.includes(method)) {
    const msg = `${method} is not possible at ${path}${allowed.length > 0 ? `; use ${allowed.join(' or ')}` : ''}.`
    throw new Invalid([{ type: 'enum', loc: ['method'], msg, ctx: { expected: allowed } }])
  }
  if (!isAllowed(rights.of(resource)[accessNames[method]])) throw errors.forbidden()
  const { id, text } = segment === undefined ? {} : itemIdParser(resource, errors.bodyInvalid)(segment)
  if (segment !== undefined && id === undefined) throw errors.rowNotFound(resource.name, text ?? '')
  const readBody = method === 'DELETE' ? undefined : writer[method]
  return { method, resource, readBody, id, ifMatch: tagsAllowedBy(ifMatch), body, source, as }
}

/** `finish` may add to the body of the response. */
export const batch = (
  service: Service,
  { writers }: Pick<BatchOperation, 'writers'>,
  finish: (body: Buffer) => Buffer = (body) => body,
): Handler => {
  const { storage, registry, callers } = service
  const managed = registry.find(({ existing }) => !existing)
  const resourceAt = (path: string) => writers.get(/\/v1\/([^/]+)/.exec(path)?.[1] ?? '')?.resource
  const isExisting = ({ path }: SentOperation) => resourceAt(path)?.existing

  const checkRight = ({ method, path }: SentOperation, n: number, rights: Rights): void => {
    const resource = resourceAt(path)
    if (resource && !isAllowed(rights.of(resource)[accessNames[method]])) throw inBatch(errors.forbidden(), n)
  }

  return async (ctx) => {
    if (!callers.isConfigured) throw errors.writesDisabled()
    const permit = await callers.required(ctx, 'write')
    const { caller, rights } = permit
    ctx.state.isPrivate = registry.some(isGuarded)
    const source = await readText(ctx, ['application/json'], importLimit)
    const sentOperations = await readAll(source)
    const keyIssues: errors.Issue[] = []
    const idempotencyKey = idempotencyKeyOf(ctx, caller, [source], keyIssues)
    if (keyIssues.length > 0) throw errors.bodyInvalid(keyIssues)
    if (idempotencyKey && (!managed || sentOperations.some(isExisting))) throw errors.keysNotSupported()
    const earlier = idempotencyKey && managed && (await earlierWrite(ctx, caller, storage, managed))
    // Rights come before a replay.
    if (earlier) for (const [n, operation] of sentOperations.entries()) checkRight(operation, n, rights)
    const writes = sentOperations.map((operation) => () => sentWrite(writers, rights, operation))
    const outcome = earlier
      ? replayed(earlier, idempotencyKey)
      : await storeWrites(service, writes, { permit, idempotencyKey })
    const resources = sentOperations.map(({ path }) => resourceAt(path))
    const isPlain = resources.every((one) => !one || seesAll(rights.of(one))) && !isErased(outcome.body)
    const isOther = outcome.replayed && !isPlain
    const body = isOther ? await resultsNow(storage, rights, resources, outcome.body) : outcome.body
    sendStored(ctx, 200, { body: finish(body), replayed: outcome.replayed })
  }
}
