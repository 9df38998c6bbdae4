/** What each kind of operation does: read the request, ask the storage, answer. */
import { conflictIssue, createBodyReader } from '../contract/createBody.js'
import { bodyInvalid, rowNotFound, unavailable } from '../contract/errors.js'
import { keyReused, replayedHeader } from '../contract/idempotency.js'
import type { Operation } from '../contract/operation.js'
import { basePath, type Product } from '../contract/service.js'
import type { Registry, Resource } from '../descriptor/registry.js'
import type { Storage } from '../storage/storage.js'
import { type Answer, jsonAnswer } from './answer.js'
import { writeGuard } from './auth.js'
import { readJson } from './body.js'
import type { HandlerContext } from './exchange.js'
import { readItemId } from './itemId.js'
import { listQueryReader } from './query.js'
import { readingAnswer } from './reading.js'
import { retryOf } from './retry.js'

export type Handler = (ctx: HandlerContext) => Promise<Answer>

/** What the handlers work with. */
export interface Service {
  readonly product: Product
  readonly registry: Registry
  readonly storage: Storage
  /** The write token; writes are disabled without one. */
  readonly token: string | undefined
}

const index = ({ product, registry }: Service): Handler => {
  const body = {
    name: product.name,
    version: product.version,
    openapi: `${basePath}/openapi.json`,
    swagger: '/swagger.json',
    docs: `${basePath}/docs`,
    health: `${basePath}/v1/health`,
    resources: registry.map(({ name, path, create }) => ({ name, path: `${basePath}/v1/${path}`, create })),
  }
  return async () => jsonAnswer(200, body)
}

const health =
  ({ product, storage, token }: Service): Handler =>
  async () => {
    await storage.ping().catch(() => {
      throw unavailable()
    })
    return jsonAnswer(200, {
      status: 'ok',
      product: product.name,
      version: product.version,
      writes_enabled: token !== undefined,
    })
  }

const list = ({ storage }: Service, resource: Resource): Handler => {
  const table = storage.table(resource)
  const parseQuery = listQueryReader(resource)
  return async (ctx) => {
    const query = parseQuery(ctx.querystring)
    ctx.state.parsed = performance.now()
    const page = await table.list(query)
    ctx.state.queried = performance.now()
    if (!('tag' in page)) {
      const parts: Uint8Array[] = []
      for await (const part of page.body) parts.push(part)
      return jsonAnswer(200, Buffer.concat(parts))
    }
    return readingAnswer(ctx, page)
  }
}

const get = ({ storage }: Service, resource: Resource): Handler => {
  const table = storage.table(resource)
  return async (ctx) => {
    const { id, text } = readItemId(ctx.path.slice(ctx.path.lastIndexOf('/') + 1))
    ctx.state.parsed = performance.now()
    const reading = id === undefined ? undefined : await table.get(id)
    ctx.state.queried = performance.now()
    if (!reading) throw rowNotFound(resource.name, text)
    return readingAnswer(ctx, reading)
  }
}

const create = ({ registry, storage, token }: Service, resource: Resource): Handler => {
  const table = storage.table(resource)
  const checkToken = writeGuard(token)
  const parseBody = createBodyReader(resource)
  return async (ctx) => {
    checkToken(ctx.get('Authorization'))
    const { value, source } = await readJson(ctx)
    const { row, issues } = parseBody(value, source)
    const retry = retryOf(ctx, source, issues)
    // A body at fault is still held against the database, so that the client learns of everything at once.
    const outcome = issues.length > 0 ? { conflicts: await table.conflicts(row) } : await table.create(row, retry)
    if ('mismatch' in outcome) throw bodyInvalid([keyReused()])
    if ('conflicts' in outcome) {
      const found = outcome.conflicts.map(({ type, field }) => conflictIssue(registry, resource, type, field, row))
      throw bodyInvalid([...issues, ...found])
    }
    const location = `${basePath}/v1/${resource.path}/${outcome.id}`
    return jsonAnswer(201, outcome.body, ['Location', location, ...(outcome.replayed ? [replayedHeader, 'true'] : [])])
  }
}

/** The handler of an operation. */
export const handlerOf = (service: Service, operation: Operation): Handler => {
  switch (operation.kind) {
    case 'index':
      return index(service)
    case 'health':
      return health(service)
    case 'list':
      return list(service, operation.resource)
    case 'get':
      return get(service, operation.resource)
    case 'create':
      return create(service, operation.resource)
  }
}
