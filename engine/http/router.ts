/** The routes: the operations, the documents, the docs page, and the explorer or the redirect to the docs page. */
import Router from '@koa/router'
import type { Middleware } from 'koa'
import { methodNotAllowed } from '../contract/errors.js'
import type { Operation } from '../contract/operations.js'
import { basePath, docsPath } from '../contract/service.js'
import { patchTypes } from './body.js'
import { sendTagged, taggedBody } from './conditional.js'
import { docsAssets, docsHeaders } from './docs.js'
import { preflightHeaders } from './envelope.js'
import { addExplorer, assetHandler } from './explorer.js'
import { createHandler, createProbes } from './handlers.js'
import type { AppContext, State } from './requestLog.js'
import type { Handler, Service } from './serviceParts.js'

/** The index has a path with and without a slash; every other path has one spelling. */
const pathSpellings = (path: string): string[] =>
  path === '/' ? [basePath, `${basePath}/`] : [`${basePath}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`]

/** Makes the function that makes the documents on its first call, so that no start waits for them. */
const documentMaker = ({ product }: Service, operations: readonly Operation[]) => {
  const make = async () => {
    const { createDocuments } = await import('../contract/documents.js')
    const { openapi, swagger } = createDocuments(product, operations)
    return { openapi: taggedBody(openapi), swagger: (host: string) => taggedBody(swagger(host)) }
  }
  let documents: ReturnType<typeof make> | undefined
  return () => {
    documents ??= make()
    return documents
  }
}

/** The segments of a path up to the one that names the resource: `/api/v1/books`, `/explore/books`. */
const routePrefix = (path: string): string => /^(?:\/explore\/[^/]*|(?:\/[^/]*){1,3})/.exec(path)?.[0] ?? ''

/** Whether a path is one of the explorer's. */
const isPage = (path: string): boolean => path === '/' || /^\/explore(?:\/|$)/.test(path)

/** Handles the methods that a known path has no route for: OPTIONS, and 405 for all others. */
const handleOtherMethods = (ctx: AppContext, routes: readonly { methods: readonly string[] }[]): void => {
  const methods = new Set(routes.flatMap((route) => route.methods))
  if (methods.size === 0) return
  const allow = [...methods, 'OPTIONS'].sort().join(', ')
  const patch: Record<string, string> = methods.has('PATCH') ? { 'Accept-Patch': patchTypes.join(', ') } : {}
  if (ctx.method !== 'OPTIONS') throw methodNotAllowed(ctx.method, allow, patch)
  ctx.status = 204
  ctx.set({ Allow: allow, ...patch, ...(!isPage(ctx.path) && preflightHeaders(allow)) })
}

/** Every route of a service. A path that has none is left to the error handling. */
export const createRoutes = (service: Service, operations: readonly Operation[]): Middleware<State> => {
  // A router tries its routes one by one, and forty of them cost a tenth of a request; so each prefix has its own router.
  const routers = new Map<string, Router<State>>()
  /** Logs and metrics use the name, which is that of the operation in the documents. */
  const add = (name: string, path: string, handler: Handler, method: Operation['route']['method'] = 'get'): void => {
    const prefix = routePrefix(path)
    const router = routers.get(prefix) ?? new Router<State>({ strict: true, sensitive: true })
    router[method](name, path, handler)
    routers.set(prefix, router)
  }

  // A word before a parameter: `/v1/visits/today` is no id of a row.
  const customOperations = operations.filter(({ kind }) => kind === 'own')
  customOperations.sort((a, b) => (a.route.path < b.route.path ? -1 : 1))
  const ordered = [...new Set([...customOperations, ...operations])]
  for (const operation of ordered) {
    const handler = createHandler(service, operation)
    const { operationId, path, method } = operation.route
    for (const full of pathSpellings(path)) add(operationId, full, handler, method)
  }
  for (const [path, handler] of Object.entries(createProbes(service))) add('probe', path, handler)
  const documents = documentMaker(service, operations)
  add('documents', `${basePath}/openapi.json`, async (ctx) => sendTagged(ctx, (await documents()).openapi))
  add('documents', '/swagger.json', async (ctx) => sendTagged(ctx, (await documents()).swagger(ctx.host)))
  for (const asset of docsAssets(service.product.name, service.explorer === true)) {
    add('docs', asset.path, assetHandler(asset, docsHeaders))
  }
  const prepare = service.explorer ? addExplorer(service, ordered, add) : undefined
  if (!prepare) add('root', '/', (ctx) => ctx.redirect(docsPath))

  return (ctx) => {
    const { path, method } = ctx
    if (isPage(path)) prepare?.(ctx)
    const matched = routers.get(routePrefix(path))?.match(path, method)
    if (!matched) return
    // The first path that matches is the only one: `/summary` is no id of a row.
    const routes = matched.path.filter((route) => route.path === matched.path[0]?.path)
    const route = matched.pathAndMethod.find((one) => routes.includes(one))
    if (!route) return handleOtherMethods(ctx, routes)
    // Under the names that @koa/router gives them, because tracing tools read these.
    ctx['_matchedRoute'] = route.path
    ctx['_matchedRouteName'] = route.name
    // router.routes() would compose the handler with middleware that sets ctx.params, anew for each request: 12 µs.
    const [handler] = route.stack as unknown as [Handler]
    return handler(ctx)
  }
}
