/** The routes, made from the operations and the documents. */
import { createHash } from 'node:crypto'
import Router from '@koa/router'
import type { Middleware } from 'koa'
import { methodNotAllowed } from '../contract/errors.js'
import { methodOf, type Operation } from '../contract/operation.js'
import { basePath } from '../contract/service.js'
import type { CachedBody } from '../storage/storage.js'
import { sendTagged } from './conditional.js'
import { docsAssets, docsPath, docsPolicy } from './docs.js'
import { type Handler, handlerOf, type Service } from './handlers.js'
import { preflightHeaders } from './headers.js'
import type { AppContext, State } from './requestLog.js'

interface Route {
  /** The operation's name in the documents; logs and metrics use it. */
  readonly name: string
  readonly path: string
  readonly method: 'get' | 'post'
  readonly handler: Handler
}

/** The index has a path with and without a slash; every other path has one spelling. */
const pathsOf = ({ path }: Operation): string[] =>
  path === '/' ? [basePath, `${basePath}/`] : [`${basePath}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`]

/** The tag is a hash of the bytes, so every process has the same one. */
const taggedBody = (body: Buffer): CachedBody => ({
  tag: createHash('sha256').update(body).digest('hex').slice(0, 24),
  body,
})

const operationRoutes = (service: Service, operations: readonly Operation[]): Route[] =>
  operations.flatMap((operation) => {
    const handler = handlerOf(service, operation)
    return pathsOf(operation).map((path) => ({ name: operation.id, path, method: methodOf(operation), handler }))
  })

/** The documents are made on the first request for one, so that no start waits for them. */
const documentRoutes = ({ product }: Service, operations: readonly Operation[]): Route[] => {
  const make = async () => {
    const { documentsOf } = await import('../contract/documents.js')
    const { openapi, swagger } = documentsOf(product, operations)
    return { openapi: taggedBody(openapi), swagger: (host: string) => taggedBody(swagger(host)) }
  }
  type Documents = Awaited<ReturnType<typeof make>>
  let documents: Promise<Documents> | undefined
  const route = (path: string, choose: (made: Documents, host: string) => CachedBody): Route => ({
    name: 'documents',
    path,
    method: 'get',
    async handler(ctx) {
      documents ??= make()
      await sendTagged(ctx, choose(await documents, ctx.host))
    },
  })
  return [
    route(`${basePath}/openapi.json`, ({ openapi }) => openapi),
    route('/swagger.json', ({ swagger }, host) => swagger(host)),
  ]
}

const docsRoutes = ({ product }: Service): Route[] =>
  [...docsAssets(product.name)].map(([path, { type, body }]) => {
    const asset = taggedBody(body)
    return {
      name: 'docs',
      path,
      method: 'get',
      async handler(ctx) {
        ctx.set({ 'Content-Security-Policy': docsPolicy, 'Referrer-Policy': 'no-referrer', 'X-Frame-Options': 'DENY' })
        await sendTagged(ctx, asset, type)
      },
    }
  })

const redirectToDocs: Route = {
  name: 'root',
  path: '/',
  method: 'get',
  handler(ctx) {
    ctx.status = 302
    ctx.set('Location', docsPath)
    ctx.body = ''
  },
}

/** The first three segments of a path, of which the third names the resource: `/api/v1/employees`. */
const prefixOf = (path: string): string => /^(?:\/[^/]*){1,3}/.exec(path)?.[0] ?? ''

/** Handles the methods that a known path has no route for: OPTIONS, and 405 for all others. */
const handleOtherMethods = (ctx: AppContext & { matched?: readonly { methods: readonly string[] }[] }): void => {
  const methods = new Set(ctx.matched?.flatMap((layer) => layer.methods))
  if (methods.size === 0) return
  const allow = [...methods, 'OPTIONS'].sort().join(', ')
  if (ctx.method !== 'OPTIONS') throw methodNotAllowed(ctx.method, allow)
  ctx.status = 204
  ctx.set({ Allow: allow, ...preflightHeaders(allow) })
}

/** Every route of a service. A path that has none is left to the error handling. */
export const routesOf = (service: Service, operations: readonly Operation[]): Middleware<State> => {
  const routes: Route[] = [
    ...operationRoutes(service, operations),
    ...documentRoutes(service, operations),
    ...docsRoutes(service),
    redirectToDocs,
  ]
  // A router tries its routes in turn, and forty of them cost a tenth of a request; so each prefix has its own.
  const routers = new Map<string, Router<State>>()
  for (const { name, path, method, handler } of routes) {
    const prefix = prefixOf(path)
    const router = routers.get(prefix) ?? new Router<State>({ strict: true, sensitive: true })
    router[method](name, path, handler)
    routers.set(prefix, router)
  }
  const byPrefix = new Map([...routers].map(([prefix, router]) => [prefix, router.routes() as Middleware<State>]))
  return (ctx) => byPrefix.get(prefixOf(ctx.path))?.(ctx, async () => handleOtherMethods(ctx))
}
