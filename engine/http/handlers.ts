/** The handler of each kind of operation, and of the probes: parse the request, query the storage, set the response. */
import * as errors from '../contract/errors.js'
import { expandedCellsIssue, largeGroupsIssue } from '../contract/issues.js'
import type { Operation, ResourceOperation } from '../contract/operations.js'
import { itemIdParser, listQueryParser, rowQueryParser, summaryQueryParser } from '../contract/parameters.js'
import { basePath, docsPath } from '../contract/service.js'
import { isOffered, verbNames } from '../contract/verbs.js'
import { seesAll } from '../descriptor/access.js'
import { defaultListQuery, type ListQuery } from '../descriptor/listQuery.js'
import { buildOnce } from '../process/buildOnce.js'
import { isErased } from '../storage/erasedResponses.js'
import { GroupsTooLarge, Unavailable } from '../storage/failures.js'
import { rowTag } from '../storage/sql.js'
import { batch } from './batch.js'
import { idempotencyKeyOf, patchTypes, readJson, rejectKey } from './body.js'
import { resourceGuard } from './callers.js'
import { followChanges } from './changes.js'
import { allowedTags, jsonType, sendRow, sendStreamed, sendTagged } from './conditional.js'
import { requestedFormat, sendRows } from './download.js'
import { rowExpander } from './expand.js'
import { eraseHistory, history } from './history.js'
import { importRows } from './import.js'
import { setLinks } from './links.js'
import { ownHandler } from './own.js'
import type { AppContext } from './requestLog.js'
import type { Handler, Service } from './serviceParts.js'
import { storeWrite } from './transact.js'
import { earlierWrite, findChangeable, replayed, rowNow, rowPath, sendStored } from './write.js'
import type { SentWrite } from './writePlan.js'

/** Does not check the database: a restart would not repair it. */
const live: Handler = (ctx) => {
  ctx.set('Cache-Control', 'no-store')
  ctx.body = { status: 'ok' }
}

/** 503 if the database does not respond, if a table no longer fits its descriptor, or while the process stops. */
const ready =
  ({ storage, isStopping }: Service): Handler =>
  async (ctx) => {
    if (isStopping?.()) throw errors.unavailable('The service is stopping; send requests to another instance.')
    const { isReadOnly, changedTables } = await storage.ping().catch(() => {
      throw errors.unavailable()
    })
    if (changedTables.length > 0) throw errors.tableChanged(changedTables)
    ctx.set('Cache-Control', 'no-store')
    ctx.body = { status: isReadOnly ? 'read-only' : 'ok' }
  }

export const createProbes = (service: Service): Readonly<Record<string, Handler>> => ({
  '/livez': live,
  '/readyz': ready(service),
})

/** What the index says of a resource where it is declared; each has a list and rows. */
const namedVerbs = verbNames.filter((name) => !['list', 'get', 'eraseHistory'].includes(name))

const index = ({ product, registry, operations = [] }: Service): Handler => {
  const body = {
    name: product.name,
    version: product.version,
    openapi: `${basePath}/openapi.json`,
    swagger: '/swagger.json',
    docs: docsPath,
    health: `${basePath}/v1/health`,
    ...(product.batch && { batch: `${basePath}/v1/batch` }),
    ...(operations.length > 0 && {
      operations: operations.map(({ name, method, path }) => ({ name, method, path: `${basePath}${path}` })),
    }),
    resources: registry.map((resource) => ({
      name: resource.name,
      path: `${basePath}/v1/${resource.path}`,
      create: resource.create,
      ...Object.fromEntries(namedVerbs.filter((name) => isOffered(name, resource)).map((name) => [name, true])),
    })),
  }
  return (ctx) => {
    ctx.body = body
  }
}

const health =
  ({ product, storage, callers }: Service): Handler =>
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
      writes_enabled: callers.isConfigured && mayWrite && !isReadOnly,
    }
  }

/** The longest query string that is kept with its query. */
const maxKept = 200

const list = (service: Service, { resource }: ResourceOperation): Handler => {
  const { storage, registry } = service
  const parseQuery = listQueryParser(resource, registry)
  const parseOnce = buildOnce<ListQuery>()
  const guard = resourceGuard(service, resource)
  /** Requests repeat each other's short queries: parsing one costs 6 µs, a twentieth of a request. */
  const queryOf = (querystring: string): ListQuery => {
    if (querystring === '') return defaultListQuery
    return querystring.length > maxKept
      ? parseQuery(querystring)
      : parseOnce(querystring, () => parseQuery(querystring))
  }
  return async (ctx) => {
    const rights = await guard.read(ctx)
    const query = queryOf(ctx.querystring)
    ctx.state.parsed = performance.now()
    const { expand = [] } = query
    const format = requestedFormat(ctx)
    if (format === 'text/csv' && expand.length > 0) throw errors.parametersInvalid([expandedCellsIssue(expand)])
    if (format) return sendRows(ctx, service, resource, query, format, rights)
    const page = await storage.table(resource, expand, rights).list(query, ctx.res)
    ctx.state.queried = performance.now()
    ctx.state.usedDatabase = true
    setLinks(ctx, resource, query, page.next)
    if ('tag' in page) await sendTagged(ctx, page, jsonType, 'Accept, Accept-Encoding')
    else sendStreamed(ctx, page, service.maxDownloads)
  }
}

const summary = (service: Service, { resource }: ResourceOperation): Handler => {
  const parseQuery = summaryQueryParser(resource)
  const guard = resourceGuard(service, resource)
  return async (ctx) => {
    const rights = await guard.read(ctx)
    const query = parseQuery(ctx.querystring)
    ctx.state.parsed = performance.now()
    const table = service.storage.table(resource, [], rights)
    const groups = await table.summary(query, ctx.res).catch((error: unknown) => {
      if (!(error instanceof GroupsTooLarge)) throw error
      throw errors.parametersInvalid([largeGroupsIssue(query.by.map(({ name }) => name))])
    })
    ctx.state.queried = performance.now()
    ctx.state.usedDatabase = true
    await sendTagged(ctx, groups)
  }
}

const get = (service: Service, { resource }: ResourceOperation): Handler => {
  const { storage, registry, maxDownloads } = service
  const guard = resourceGuard(service, resource)
  const parseItemId = itemIdParser(resource)
  const parseQuery = rowQueryParser(registry, resource)
  const expander = rowExpander(storage, registry, resource)
  return async (ctx) => {
    const rights = await guard.read(ctx)
    // Not ctx.params: the router's decoding hides which segments are not valid.
    const { id, text } = parseItemId(ctx.path.slice(ctx.path.lastIndexOf('/') + 1))
    const expand = parseQuery(ctx.querystring)
    ctx.state.parsed = performance.now()
    const row = id === undefined ? undefined : await expander(id, expand, ctx.res, rights)
    ctx.state.queried = performance.now()
    ctx.state.usedDatabase = id !== undefined
    if (!row) throw errors.rowNotFound(resource.name, text)
    if ('tag' in row) await sendRow(ctx, row)
    else sendStreamed(ctx, row, maxDownloads)
  }
}

/** A create, an update or a delete. */
export interface RowOperation extends ResourceOperation {
  readonly kind: 'create' | 'update' | 'delete'
}

/** What a write of one row stores, for the caller; in the order of its checks: the caller, the row, its tag, the body. */
const rowWriter = (service: Service, { kind: access, resource, readBody, route }: RowOperation) => {
  const { storage } = service
  const guard = resourceGuard(service, resource)
  const parseItemId = itemIdParser(resource, errors.bodyInvalid)
  const method = route.method.toUpperCase() as SentWrite['method']
  return async (ctx: AppContext) => {
    const permit = await guard.write(ctx, access)
    const { caller, rights } = permit
    rejectKey(ctx, resource)
    const { id, text = '' } = access === 'create' ? {} : parseItemId(ctx.path.slice(ctx.path.lastIndexOf('/') + 1))
    if (access !== 'create' && id === undefined) throw errors.rowNotFound(resource.name, text)
    const ifMatch = access === 'create' ? undefined : allowedTags(ctx)
    // The retry of a change that was made succeeds again, although the row has another tag by now, or is gone.
    let earlier = id === undefined ? undefined : await earlierWrite(ctx, caller, storage, resource)
    const find = async () => {
      if (access === 'create' || id === undefined || earlier) return undefined
      return findChangeable(storage, rights, resource, access, { id, text, ifMatch }).catch(async (error) => {
        // The same request may have changed the row since.
        earlier = await earlierWrite(ctx, caller, storage, resource)
        if (!earlier) throw error
        return undefined
      })
    }
    const row = await find()
    const { value: body, source } =
      access === 'delete'
        ? { value: undefined, source: '' }
        : await readJson(ctx, resource, access === 'update' ? patchTypes : undefined)
    const issues: errors.Issue[] = []
    const idempotencyKey = idempotencyKeyOf(ctx, caller, [source], issues)
    const stored =
      earlier && idempotencyKey
        ? replayed(earlier, idempotencyKey)
        : await storeWrite(
            service,
            { method, resource, readBody, id, ifMatch, body, source, issues },
            { permit, idempotencyKey },
            row,
          )
    const isPlain = seesAll(rights.of(resource)) && !isErased(stored.body)
    const isOther = stored.replayed && stored.body.length > 0 && !isPlain
    const shownBody = isOther ? await rowNow(storage, rights, resource, stored.body) : stored.body
    return { id: String(id ?? stored.id), body: shownBody, replayed: stored.replayed }
  }
}

const create = (service: Service, operation: RowOperation): Handler => {
  const write = rowWriter(service, operation)
  return async (ctx) => {
    const stored = await write(ctx)
    ctx.set('Location', rowPath(operation.resource, stored.id))
    sendStored(ctx, 201, stored)
  }
}

const update = (service: Service, operation: RowOperation): Handler => {
  const write = rowWriter(service, operation)
  return async (ctx) => {
    const stored = await write(ctx)
    ctx.set('Content-Location', rowPath(operation.resource, stored.id))
    ctx.set('ETag', `"${rowTag(stored.body)}"`)
    sendStored(ctx, 200, stored)
  }
}

const remove = (service: Service, operation: RowOperation): Handler => {
  const write = rowWriter(service, operation)
  return async (ctx) => sendStored(ctx, 204, await write(ctx))
}

const handlers = {
  index,
  health,
  batch,
  own: ownHandler,
  list,
  summary,
  changes: (service: Service, operation: ResourceOperation) => followChanges(service, operation),
  get,
  create,
  import: importRows,
  update,
  delete: remove,
  history,
  eraseHistory,
}

export const createHandler = (service: Service, operation: Operation): Handler =>
  handlers[operation.kind](service, operation as never)
