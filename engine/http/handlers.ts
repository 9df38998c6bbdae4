/** The handler of each kind of operation, and of the probes: parse the request, query the storage, set the response. */
import type { Middleware } from 'koa'
import * as errors from '../contract/errors.js'
import { withoutHidden } from '../contract/hiddenFields.js'
import { changeIssues, expandedCellsIssue, largeGroupsIssue } from '../contract/issues.js'
import type { Operation, ResourceOperation, WriteOperation } from '../contract/operations.js'
import { itemIdParser, listQueryParser, rowQueryParser, summaryQueryParser } from '../contract/parameters.js'
import { basePath, docsPath, type Product } from '../contract/service.js'
import { seesAll } from '../descriptor/access.js'
import { defaultListQuery, type ListQuery } from '../descriptor/listQuery.js'
import type { NamedOperation } from '../descriptor/operationFiles.js'
import { currentStamps, type Registry, type Resource, type RowId } from '../descriptor/registry.js'
import { isRuled } from '../descriptor/rowRules.js'
import { buildOnce } from '../process/buildOnce.js'
import { GroupsTooLarge, type Storage, type Table, Unavailable } from '../storage/storage.js'
import { type Outcome, rowTag } from '../storage/write.js'
import { batch } from './batch.js'
import { idempotencyKeyOf, keyOf, patchTypes, readJson, rejectKey } from './body.js'
import { type Callers, type Credentials, type Permit, resourceGuard } from './callers.js'
import { allowedTags, jsonType, sendRow, sendStreamed, sendTagged } from './conditional.js'
import { requestedFormat, sendRows } from './download.js'
import { rowExpander } from './expand.js'
import { importRows } from './import.js'
import { setLinks } from './links.js'
import { ownHandler } from './own.js'
import type { AppContext } from './requestLog.js'
import { rowPath, sendStored, shownNow, storedRow } from './stored.js'

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

export type Handler = (ctx: AppContext) => Promise<void> | void

/** What a service consists of. */
export interface ServiceParts {
  readonly product: Product
  readonly registry: Registry
  readonly storage: Storage
  /** The operations of the deployment's own code. */
  readonly operations?: readonly NamedOperation[] | undefined
  /** The write token, with which everything is allowed. */
  readonly token: string | undefined
  /** Where other callers are known from; without them and without a write token, writes are disabled. */
  readonly credentials?: Credentials | undefined
  /** Seals the sessions of the explorer; by default a random one. */
  readonly sessionSecret?: string | undefined
  /** The most downloads and large pages that one process sends at the same time. */
  readonly maxDownloads?: number | undefined
  /** Whether to serve the explorer; without it, `/` redirects to the docs page. */
  readonly explorer?: boolean
  /** Whether the process is stopping: it finishes its requests and should get no new ones. */
  readonly isStopping?: () => boolean
  /** Koa middleware of the deployment; it runs around every operation. */
  readonly middleware?: readonly Middleware[]
}

export interface Service extends ServiceParts {
  readonly callers: Callers
}

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
    // What is not a list, a row or a create is only named where it is declared.
    resources: registry.map(
      ({ name, path, create, update, delete: remove, summary: isSummarized, import: isImported }) => ({
        name,
        path: `${basePath}/v1/${path}`,
        create,
        ...(update && { update: true }),
        ...(remove && { delete: true }),
        ...(isSummarized && { summary: true }),
        ...(isImported && { import: true }),
      }),
    ),
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
    const found = await table.summary(query, ctx.res).catch((error: unknown) => {
      if (!(error instanceof GroupsTooLarge)) throw error
      throw errors.parametersInvalid([largeGroupsIssue(query.by.map(({ name }) => name))])
    })
    ctx.state.queried = performance.now()
    ctx.state.usedDatabase = true
    await sendTagged(ctx, found)
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

const create = (service: Service, { resource, readBody }: WriteOperation): Handler => {
  const guard = resourceGuard(service, resource)
  return async (ctx) => {
    const { caller, rights } = await guard.write(ctx, 'create')
    const own = rights.of(resource)
    const table = service.storage.table(resource, [], rights)
    rejectKey(ctx, resource)
    const { value, source } = await readJson(ctx, resource)
    const { values, issues } = withoutHidden(readBody, own.hidden)(value, source)
    const idempotencyKey = idempotencyKeyOf(ctx, caller, [source], issues)
    const sent = Object.keys(Object(value))
    // An invalid body is still checked against the database, so that the client gets every error at once.
    const outcome =
      issues.length > 0
        ? { conflicts: await table.conflicts(values, undefined, sent) }
        : await table.write({ kind: 'insert', values, sent, idempotencyKey })
    const stored = storedRow(service.registry, resource, outcome, { values, issues })
    ctx.set('Location', rowPath(resource, stored.id))
    sendStored(ctx, 201, await shownNow(table, !seesAll(own), stored))
  }
}

/** A row that may be changed; without its body if only a retry can succeed. */
interface Checked extends Permit {
  readonly table: Table
  readonly id: RowId
  readonly ifMatch: readonly string[] | undefined
  readonly body?: Buffer
}

/** Makes the checks that precede every change of a row: the caller, the row and If-Match. */
const existingRow = (service: Service, resource: Resource, kind: 'update' | 'delete') => {
  const guard = resourceGuard(service, resource)
  const parseItemId = itemIdParser(resource, errors.bodyInvalid)
  return async (ctx: AppContext): Promise<Checked> => {
    const { caller, rights } = await guard.write(ctx, kind)
    const table = service.storage.table(resource, [], rights)
    rejectKey(ctx, resource)
    const { id, text } = parseItemId(ctx.path.slice(ctx.path.lastIndexOf('/') + 1))
    const ifMatch = allowedTags(ctx)
    const key = keyOf(ctx, caller)
    if (id === undefined) throw errors.rowNotFound(resource.name, text)
    const row = await table.get(id)
    const checked = { caller, rights, table, id, ifMatch }
    const isRetry = async () => key !== undefined && (await table.hasKey(key))
    if (row && rights.of(resource)[kind] !== 'all' && !(await table.allows(kind, id))) {
      if (await isRetry()) return checked
      throw errors.rowForbidden()
    }
    if (row && (!ifMatch || ifMatch.includes(row.tag))) return { ...checked, body: row.body }
    // The retry of a change that was made succeeds again, although the row has another tag by now, or is gone.
    if (await isRetry()) return checked
    throw row ? errors.preconditionFailed(`"${row.tag}"`) : errors.rowNotFound(resource.name, text)
  }
}

/** How often an update is repeated because the row that its rules were asked for has changed meanwhile. */
const maxAttempts = 20

const update = (service: Service, { resource, readBody }: WriteOperation): Handler => {
  const isChecked = isRuled(resource)
  const check = existingRow(service, resource, 'update')
  return async (ctx) => {
    const { caller, rights, table, id, ifMatch, body } = await check(ctx)
    const { value, source } = await readJson(ctx, resource, patchTypes)
    const { values, issues } = withoutHidden(readBody, rights.of(resource).hidden)(value, source)
    const idempotencyKey = idempotencyKeyOf(ctx, caller, [source], issues)
    const write = { kind: 'update', id, values, stamps: currentStamps(resource), ifMatch, idempotencyKey } as const
    // A retry has the outcome of the first request, whatever the row is now.
    const isRetry = isChecked && idempotencyKey !== undefined && (await table.hasKey(idempotencyKey.key))
    const attempt = async (current: Buffer | undefined, left: number): Promise<ReturnType<typeof storedRow>> => {
      const isCompared = isChecked && current !== undefined && !isRetry
      const broken = isCompared ? changeIssues(resource, JSON.parse(String(current)), values, write.stamps) : []
      const all = [...issues, ...broken]
      // Only if the row is still the one that was compared: two updates at once could break a rule together.
      const condition = isCompared && { unchanged: rowTag(current) }
      const outcome: Outcome =
        all.length > 0
          ? { conflicts: await table.conflicts(values, id) }
          : await table.write({ ...write, ...condition })
      return 'changed' in outcome && left > 0
        ? attempt(outcome.changed, left - 1)
        : storedRow(service.registry, resource, outcome, { id, values, issues: all })
    }
    const stored = await shownNow(table, !seesAll(rights.of(resource)), await attempt(body, maxAttempts))
    ctx.set('Content-Location', rowPath(resource, id))
    ctx.set('ETag', `"${rowTag(stored.body)}"`)
    sendStored(ctx, 200, stored)
  }
}

const remove = (service: Service, { resource }: ResourceOperation): Handler => {
  const check = existingRow(service, resource, 'delete')
  return async (ctx) => {
    const { caller, table, id, ifMatch } = await check(ctx)
    const issues: errors.Issue[] = []
    const idempotencyKey = idempotencyKeyOf(ctx, caller, [''], issues)
    if (issues.length > 0) throw errors.bodyInvalid(issues)
    const outcome = await table.write({ kind: 'delete', id, ifMatch, idempotencyKey })
    sendStored(ctx, 204, storedRow(service.registry, resource, outcome, { id }))
  }
}

const handlers = {
  index,
  health,
  batch,
  own: ownHandler,
  list,
  summary,
  get,
  create,
  import: importRows,
  update,
  delete: remove,
}

export const createHandler = (service: Service, operation: Operation): Handler =>
  handlers[operation.kind](service, operation as never)
