/** The handler of each kind of operation, and of the probes: parse the request, query the storage, set the response. */
import type { Middleware } from 'koa'
import { conflictIssue, createBodyReader } from '../contract/createBody.js'
import { bodyInvalid, rowNotFound, stopping, tableChanged, unavailable } from '../contract/errors.js'
import { keyReused, replayedHeader } from '../contract/headers.js'
import type { Operation, OperationOf } from '../contract/operations.js'
import { itemIdParser, listQueryParser } from '../contract/parameters.js'
import { basePath, docsPath, type Product } from '../contract/service.js'
import type { Registry } from '../descriptor/registry.js'
import { type Storage, Unavailable } from '../storage/storage.js'
import { writeGuard } from './auth.js'
import { readIdempotencyKey, readJson } from './body.js'
import { jsonType, sendStreamed, sendTagged } from './conditional.js'
import { requestedFormat, sendRows } from './download.js'
import type { AppContext } from './requestLog.js'

/** Does not check the database: a restart would not repair it. */
const live: Handler = (ctx) => {
  ctx.set('Cache-Control', 'no-store')
  ctx.body = { status: 'ok' }
}

/** 503 if the database does not respond, if a table no longer fits its descriptor, or while the process stops. */
const ready =
  ({ storage, isStopping }: Service): Handler =>
  async (ctx) => {
    if (isStopping?.()) throw stopping()
    const { isReadOnly, changedTables } = await storage.ping().catch(() => {
      throw unavailable()
    })
    if (changedTables.length > 0) throw tableChanged(changedTables)
    ctx.set('Cache-Control', 'no-store')
    ctx.body = { status: isReadOnly ? 'read-only' : 'ok' }
  }

/** The path of each probe, and its handler. */
export const probesOf = (service: Service): Readonly<Record<string, Handler>> => ({
  '/livez': live,
  '/readyz': ready(service),
})

export type Handler = (ctx: AppContext) => Promise<void> | void

/** The dependencies of the handlers. */
export interface Service {
  readonly product: Product
  readonly registry: Registry
  readonly storage: Storage
  /** The write token; writes are disabled without one. */
  readonly token: string | undefined
  /** The most downloads and large pages that one process sends at the same time. */
  readonly maxDownloads?: number | undefined
  /** Whether to serve the explorer; without it, `/` redirects to the docs page. */
  readonly explorer?: boolean
  /** Whether the process is stopping: it finishes its requests and should get no new ones. */
  readonly isStopping?: () => boolean
  /** Koa middleware of the deployment; it runs around every operation. */
  readonly middleware?: readonly Middleware[]
}

const index = ({ product, registry }: Service): Handler => {
  const body = {
    name: product.name,
    version: product.version,
    openapi: `${basePath}/openapi.json`,
    swagger: '/swagger.json',
    docs: docsPath,
    health: `${basePath}/v1/health`,
    resources: registry.map(({ name, path, create }) => ({ name, path: `${basePath}/v1/${path}`, create })),
  }
  return (ctx) => {
    ctx.body = body
  }
}

const health =
  ({ product, storage, token }: Service): Handler =>
  async (ctx) => {
    const { isReadOnly, mayWrite = true } = await storage.ping().catch((error: Error) => {
      throw new Unavailable(error.message, { cause: error })
    })
    ctx.state.usedDatabase = true
    ctx.set('Cache-Control', 'no-store')
    ctx.body = {
      status: isReadOnly ? 'read-only' : 'ok',
      product: product.name,
      version: product.version,
      writes_enabled: token !== undefined && mayWrite,
    }
  }

const list = (service: Service, { resource, route }: OperationOf<'list'>): Handler => {
  const table = service.storage.table(resource)
  const parseQuery = listQueryParser(resource, route.request.query)
  return async (ctx) => {
    const query = parseQuery(ctx.querystring)
    ctx.state.parsed = performance.now()
    const format = requestedFormat(ctx)
    if (format) return sendRows(ctx, service, resource, query, format)
    const page = await table.list(query, ctx.res)
    ctx.state.queried = performance.now()
    ctx.state.usedDatabase = true
    if ('tag' in page) await sendTagged(ctx, page, jsonType, 'Accept, Accept-Encoding')
    else sendStreamed(ctx, page, service.maxDownloads)
  }
}

const get = ({ storage }: Service, { resource, route }: OperationOf<'get'>): Handler => {
  const table = storage.table(resource)
  const parseItemId = itemIdParser(route.request.params)
  return async (ctx) => {
    // Not ctx.params: the router's decoding hides which segments are not valid.
    const { id, text } = parseItemId(ctx.path.slice(ctx.path.lastIndexOf('/') + 1))
    ctx.state.parsed = performance.now()
    const row = id === undefined ? undefined : await table.get(id, ctx.res)
    ctx.state.queried = performance.now()
    ctx.state.usedDatabase = id !== undefined
    if (!row) throw rowNotFound(resource.name, text)
    await sendTagged(ctx, row)
  }
}

const create = ({ registry, storage, token }: Service, { resource, route }: OperationOf<'create'>): Handler => {
  const table = storage.table(resource)
  const checkToken = writeGuard(token)
  const parseBody = createBodyReader(resource, route.request.body.content['application/json'].schema)
  return async (ctx) => {
    checkToken(ctx.get('Authorization'))
    const { value, source } = await readJson(ctx)
    const { row, issues } = parseBody(value, source)
    const retry = readIdempotencyKey(ctx, source, issues)
    // An invalid body is still checked against the database, so that the client gets every error at once.
    const outcome = issues.length > 0 ? { conflicts: await table.conflicts(row) } : await table.create(row, retry)
    ctx.state.usedDatabase = true
    if ('mismatch' in outcome) throw bodyInvalid([keyReused()])
    if ('conflicts' in outcome) {
      const found = outcome.conflicts.map(({ type, field }) => conflictIssue(registry, resource, type, field, row))
      throw bodyInvalid([...issues, ...found])
    }
    ctx.status = 201
    ctx.set('Location', `${basePath}/v1/${resource.path}/${outcome.id}`)
    if (outcome.replayed) ctx.set(replayedHeader, 'true')
    ctx.set('Content-Type', jsonType)
    ctx.body = outcome.body
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
      return list(service, operation)
    case 'get':
      return get(service, operation)
    case 'create':
      return create(service, operation)
  }
}
