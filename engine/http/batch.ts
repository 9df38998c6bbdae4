/** The handler of a batch: plans its operations, makes them in one transaction, and tells which one failed and why. */
import { batchMethods, maxOperations, readOperations, type SentOperation } from '../contract/batchBody.js'
import * as errors from '../contract/errors.js'
import { keyReused, replayedHeader } from '../contract/headers.js'
import { bodyIssue, changeIssues } from '../contract/issues.js'
import type { BatchOperation, Writers } from '../contract/operations.js'
import { itemIdParser } from '../contract/parameters.js'
import { type BodyReader, importLimit } from '../contract/rowBody.js'
import {
  currentStamps,
  idField,
  type Resource,
  type RowId,
  type RowValues,
  type Value,
} from '../descriptor/registry.js'
import { inTurns } from '../process/batchPerTick.js'
import type { WriteBatch } from '../storage/batch.js'
import { Unavailable } from '../storage/storage.js'
import { rowTag, type Write } from '../storage/write.js'
import { idempotencyKeyOf, readText, writeGuard } from './body.js'
import { jsonType, tagsAllowedBy } from './conditional.js'
import type { Handler, Service } from './handlers.js'
import { storedRow } from './stored.js'

/** How often a batch is repeated because a row that its rules were asked for has changed meanwhile. */
const maxAttempts = 20

/** Stands for an integer id that is not assigned yet: as large as no row's, and another one for each operation. */
const placeholderFrom = 2 ** 52

/** The row that an operation creates, as later ones refer to it. */
interface Named {
  readonly operation: number
  readonly resource: Resource
  /** Its id if it is known before it is stored. */
  readonly id: Value | undefined
}

/** An operation that can be made: its write, and what its errors need. */
interface Planned {
  readonly resource: Resource
  readonly write: Write
  readonly id?: RowId
  readonly values: RowValues
  /** The tags that the client allows, if it named any. */
  readonly ifMatch?: readonly string[] | undefined
  /** Whether its rules were asked for the row with the tags of the write. */
  readonly isCompared?: boolean
}

/** An operation that cannot be made; its conflicts are looked for too, if it has values. */
class Invalid extends Error {
  readonly issues: readonly errors.Issue[]
  readonly check: WriteBatch['check']

  constructor(issues: readonly errors.Issue[], check?: WriteBatch['check']) {
    super('the operation is invalid')
    this.issues = issues
    this.check = check
  }
}

/**
 * What depends on the time is the same however often a batch is planned: a row that it changes twice would otherwise be another one
 * each time.
 */
const fixedTimes = () => {
  const read = new Map<number, ReturnType<BodyReader>>()
  const stamps = new Map<Resource, RowValues>()
  const once = <K, V>(known: Map<K, V>, key: K, make: () => V): V => {
    const value = known.get(key) ?? make()
    known.set(key, value)
    return value
  }
  return {
    values: (operation: number, make: () => ReturnType<BodyReader>) => once(read, operation, make),
    stamps: (resource: Resource) => once(stamps, resource, () => currentStamps(resource)),
  }
}

type Times = ReturnType<typeof fixedTimes>

/** The error of an operation, with its place. */
const ofOperation = (error: errors.HttpError, operation: number): errors.HttpError => {
  const { error: sent } = error.body as { error: { details?: { issues?: readonly errors.Issue[] } } }
  const issues = sent.details?.issues?.map(({ loc, ...issue }) => ({
    ...issue,
    loc: ['body', 'operations', operation, ...loc],
  }))
  const details = { ...sent.details, ...(issues && { issues }), operation }
  return new errors.HttpError(error.status, error.message, { error: { ...sent, details } }, error.headers)
}

export const batch = (service: Service, { writers }: BatchOperation): Handler => {
  const { storage, registry, token } = service
  const checkToken = writeGuard(token)

  /** The resource that a path names, and the id after it. */
  const target = (path: string): { writer: Writers; segment: string | undefined } => {
    const [, resource = '', segment] = /^(?:\/api)?\/v1\/([^/?#]+)(?:\/([^/?#]+))?$/.exec(path) ?? []
    const writer = writers.get(resource)
    if (!writer) throw errors.pathNotFound()
    return { writer, segment }
  }

  /** The body with the ids of rows that are created before it, or what stands for them. */
  const resolved = (body: unknown, resource: Resource, names: ReadonlyMap<string, Named>) => {
    const later = new Map<string, Named>()
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return { body, later, issues: [] }
    const issues: errors.Issue[] = []
    const entries = Object.entries(body).map(([name, value]): [string, unknown] => {
      const ref =
        typeof value === 'object' && value !== null && Object.keys(value).join() === '$ref' ? value.$ref : undefined
      if (ref === undefined || resource.fields.some((field) => field.name === name && field.kind === 'json'))
        return [name, value]
      const [, as = ''] = /^(.*)\.id$/s.exec(String(ref)) ?? []
      const named = typeof ref === 'string' ? names.get(as) : undefined
      if (!named)
        issues.push(
          bodyIssue(
            'reference',
            `${name}: no operation before this one has "as" for ${JSON.stringify(ref)}; write {"$ref": "NAME.id"}.`,
            name,
          ),
        )
      else if (named.id === undefined) later.set(name, named)
      return [name, named ? (named.id ?? placeholderFrom + named.operation) : null]
    })
    return { body: Object.fromEntries(entries), later, issues }
  }
  const withLater = (values: RowValues, later: ReadonlyMap<string, Named>): RowValues => ({
    ...values,
    ...Object.fromEntries([...later].map(([name, { operation }]) => [name, { $operation: operation }])),
  })

  const planned = async (
    sent: SentOperation,
    operation: number,
    names: Map<string, Named>,
    known: Buffer | undefined,
    times: Times,
  ): Promise<Planned> => {
    const { method, ifMatch: header, as } = sent
    if (sent.issues.length > 0) throw new Invalid(sent.issues.map((issue) => ({ ...issue, loc: issue.loc.slice(1) })))
    const { writer, segment } = target(sent.path)
    const { resource } = writer
    const allowed = batchMethods.filter((one) => (one === 'POST') === (segment === undefined) && writer[one])
    if (!allowed.includes(method)) {
      const msg = `${method} is not possible at ${sent.path}${allowed.length > 0 ? `; use ${allowed.join(' or ')}` : ''}.`
      throw new Invalid([{ type: 'enum', loc: ['method'], msg, ctx: { expected: allowed } }])
    }
    if (as !== undefined && names.has(as))
      throw new Invalid([
        { type: 'unique', loc: ['as'], msg: `An earlier operation has "as": ${JSON.stringify(as)} too.` },
      ])
    const ifMatch = tagsAllowedBy(header)
    const { id, text } = segment === undefined ? {} : itemIdParser(resource, errors.bodyInvalid)(segment)
    if (segment !== undefined && id === undefined) throw errors.rowNotFound(resource.name, text ?? '')
    if (method === 'DELETE' && id !== undefined)
      return { resource, id, values: {}, ifMatch, write: { kind: 'delete', id, ifMatch } }
    const { body, later, issues: references } = resolved(sent.body, resource, names)
    const reader = method === 'POST' ? writer.POST : writer.PATCH
    const { values, issues } = times.values(operation, () => reader?.(body, sent.source) ?? { values: {}, issues: [] })
    const invalid = (found: readonly errors.Issue[]) =>
      new Invalid(found, { resource, values: withLater(values, later), ...(id !== undefined && { id }) })
    const wrong = [...references, ...issues.filter(({ loc }) => !references.some((one) => one.loc[1] === loc[1]))]
    if (id === undefined) {
      if (wrong.length > 0) throw invalid(wrong)
      const { kind } = idField(resource)
      if (as !== undefined) names.set(as, { operation, resource, id: kind === 'integer' ? undefined : values['id'] })
      return { resource, values, write: { kind: 'insert', values: withLater(values, later) } }
    }
    const stamps = times.stamps(resource)
    const isRuled = resource.rules !== undefined || resource.fields.some(({ next }) => next)
    const before = isRuled ? (known ?? (await storage.table(resource).get(id))?.body) : undefined
    const broken = before ? changeIssues(resource, JSON.parse(String(before)), values, stamps) : []
    const tags = before && (ifMatch ? ifMatch.filter((tag) => tag === rowTag(before)) : [rowTag(before)])
    if (wrong.length > 0) throw invalid([...wrong, ...broken])
    // The rules are asked for the row as it is then; if it is another one, the operation is planned again.
    const condition = isRuled ? { ifMatch: broken.length > 0 ? [] : (tags ?? []) } : { ifMatch }
    if (broken.length > 0 && known) throw invalid(broken)
    return {
      resource,
      id,
      values,
      ifMatch,
      isCompared: isRuled,
      write: { kind: 'update', id, values: withLater(values, later), stamps, ...condition },
    }
  }

  /** Plans the operations up to the first that cannot be made. */
  const planAll = async (sent: readonly SentOperation[], currents: ReadonlyMap<number, Buffer>, times: Times) => {
    const pause = inTurns()
    const names = new Map<string, Named>()
    const all: Planned[] = []
    for (const [n, operation] of sent.entries()) {
      await pause()
      try {
        all.push(await planned(operation, n, names, currents.get(n), times))
      } catch (error) {
        if (error instanceof Invalid || error instanceof errors.HttpError) return { all, failure: error }
        throw error
      }
    }
    return { all, failure: undefined }
  }

  return async (ctx) => {
    checkToken(ctx.get('Authorization'))
    const source = await readText(ctx, ['application/json'], importLimit)
    const pause = inTurns()
    const sent: SentOperation[] = []
    for (const operation of readOperations(source)) {
      if (sent.push(operation) > maxOperations)
        throw errors.bodyInvalid([
          bodyIssue('too_long', `A batch has at most ${maxOperations} operations.`, 'operations'),
        ])
      await pause()
    }
    const keyIssues: errors.Issue[] = []
    const idempotencyKey = idempotencyKeyOf(ctx, [source], keyIssues)
    if (keyIssues.length > 0) throw errors.bodyInvalid(keyIssues)
    const isExisting = ({ path }: SentOperation) =>
      writers.get(/\/v1\/([^/]+)/.exec(path)?.[1] ?? '')?.resource.existing
    if (idempotencyKey && sent.some(isExisting)) throw errors.keysNotSupported()
    const managed = registry.find(({ existing }) => !existing)
    // A retry has the outcome of the first request, whatever the rows are now.
    const isRetry = idempotencyKey && managed && (await storage.table(managed).hasKey(idempotencyKey.key))
    const currents = new Map<number, Buffer>()
    const times = fixedTimes()
    for (let left = maxAttempts; left > 0; left--) {
      const { all, failure } = isRetry ? { all: [], failure: undefined } : await planAll(sent, currents, times)
      const check = failure instanceof Invalid ? failure.check : undefined
      // What fails before it decides, so the operations before it are made, and undone.
      const writes = all.map(({ resource, write }) => ({ resource, write }))
      const outcome =
        failure && writes.length === 0 && !check
          ? undefined
          : await storage.batch({ writes, check, isUndone: failure !== undefined, idempotencyKey })
      if (outcome && 'mismatch' in outcome) throw errors.bodyInvalid([keyReused()])
      if (outcome && 'operation' in outcome && outcome.operation < all.length) {
        const { operation, outcome: failed } = outcome
        const { resource, id, values, ifMatch, isCompared } = all[operation] as Planned
        const isOther = 'current' in failed && ifMatch && !ifMatch.includes(rowTag(failed.current))
        if ('current' in failed && isCompared && !isOther) {
          currents.set(operation, failed.current)
          continue
        }
        try {
          storedRow(registry, resource, failed, { ...(id !== undefined && { id }), values })
        } catch (error) {
          throw error instanceof errors.HttpError ? ofOperation(error, operation) : error
        }
      }
      if (failure instanceof errors.HttpError) throw ofOperation(failure, all.length)
      if (failure) {
        const found = outcome && 'operation' in outcome ? outcome.outcome : { conflicts: [] }
        const { resource, values } = failure.check ?? {}
        try {
          if (resource && values) storedRow(registry, resource, found, { values, issues: failure.issues })
        } catch (error) {
          throw error instanceof errors.HttpError ? ofOperation(error, all.length) : error
        }
        throw ofOperation(errors.bodyInvalid(failure.issues), all.length)
      }
      if (!outcome || !('body' in outcome)) throw new TypeError('a batch has no outcome')
      ctx.status = 200
      ctx.state.usedDatabase = true
      if (outcome.replayed) ctx.set(replayedHeader, 'true')
      ctx.set('Content-Type', jsonType)
      ctx.body = outcome.body
      return
    }
    throw new Unavailable('rows that a batch changes are changed too often')
  }
}
