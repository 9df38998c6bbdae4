/** The handler of a batch: makes its operations in one transaction, and tells which one failed and why. */
import { batchMethods, maxOperations, readOperations, type SentOperation } from '../contract/batchBody.js'
import * as errors from '../contract/errors.js'
import { bodyIssue } from '../contract/issues.js'
import type { BatchOperation } from '../contract/operations.js'
import { itemIdParser } from '../contract/parameters.js'
import { importLimit } from '../contract/rowBody.js'
import { isAllowed, isGuarded, type Rights, seesAll } from '../descriptor/access.js'
import { inTurns } from '../process/batchPerTick.js'
import type { IdempotencyKey } from '../storage/writeData.js'
import { idempotencyKeyOf, readText } from './body.js'
import { tagsAllowedBy } from './conditional.js'
import type { Handler, Service } from './serviceParts.js'
import { earlierWrite, inBatch, makeWrites, replayed, rowNow, sendStored } from './write.js'
import { Invalid, type SentWrite } from './writePlan.js'

/** The right that each method needs. */
const accessNames = { POST: 'create', PATCH: 'update', DELETE: 'delete' } as const

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

/** Creates the function that makes the operations of a batch for somebody; it throws the response of the first that fails. */
export const batchRunner =
  (service: Pick<Service, 'storage' | 'registry'>, writers: BatchOperation['writers']) =>
  (sent: readonly SentOperation[], rights: Rights, idempotencyKey?: IdempotencyKey) =>
    makeWrites(
      service,
      sent.map((operation) => () => sentWrite(writers, rights, operation)),
      { rights, idempotencyKey },
    )

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

  /** The results of an earlier request, with the rows as the caller may see them now. */
  const resultsNow = async (sent: readonly SentOperation[], rights: Rights, body: Buffer): Promise<Buffer> => {
    const resources = sent.map(({ path }) => resourceAt(path))
    if (resources.every((resource) => !resource || seesAll(rights.of(resource)))) return body
    const { results } = JSON.parse(String(body)) as { results: { status: number; body?: object }[] }
    const texts = await Promise.all(
      results.map(async ({ status, body: row }, n) => {
        const resource = resources[n]
        if (!row || !resource) return JSON.stringify({ status })
        const shown = await rowNow(storage, rights, resource, Buffer.from(JSON.stringify(row)))
        return `{"status":${status},"body":${shown}}`
      }),
    )
    return Buffer.from(`{"results":[${texts.join(',')}]}`)
  }

  const checkRight = ({ method, path }: SentOperation, n: number, rights: Rights): void => {
    const resource = resourceAt(path)
    if (resource && !isAllowed(rights.of(resource)[accessNames[method]])) throw inBatch(errors.forbidden(), n)
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
    const earlier = idempotencyKey && managed && (await earlierWrite(ctx, caller, storage, managed))
    // Rights come before a replay.
    if (earlier) for (const [n, operation] of sent.entries()) checkRight(operation, n, rights)
    const outcome = earlier ? replayed(earlier, idempotencyKey) : await run(sent, rights, idempotencyKey)
    const body = outcome.replayed ? await resultsNow(sent, rights, outcome.body) : outcome.body
    sendStored(ctx, 200, { body: finish(body), replayed: outcome.replayed })
  }
}
