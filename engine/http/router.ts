/** The routes, interpreted from the operations and the documents. */
import { createHash } from 'node:crypto'
import Router from '@koa/router'
import type { Middleware } from 'koa'
import { basePath, openApiDocument } from '../contract/openapi.js'
import type { Operation } from '../contract/operation.js'
import { operationsOf } from '../contract/operations.js'
import { swaggerDocument } from '../contract/swagger.js'
import type { Reading } from '../storage/storage.js'
import { docsAssets, docsPath, docsPolicy } from './docs.js'
import { type Handler, handlerOf, type Service } from './handlers.js'
import { sendReading } from './reading.js'

interface Route {
  readonly path: string
  readonly method: 'get' | 'post'
  readonly handler: Handler
}

/** The index answers with and without a slash; every other path has one spelling. */
const pathsOf = ({ path }: Operation): string[] =>
  path === '/' ? [basePath, `${basePath}/`] : [`${basePath}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`]

/** A document's tag is made from its bytes, so every process has the same one. */
const readingOf = (body: Buffer): Reading => ({
  tag: createHash('sha256').update(body).digest('hex').slice(0, 24),
  body,
})

const operationRoutes = (service: Service, operations: readonly Operation[]): Route[] =>
  operations.flatMap((operation) => {
    const handler = handlerOf(service, operation)
    return pathsOf(operation).map((path) => ({ path, method: operation.method, handler }))
  })

const documentRoutes = ({ product }: Service, operations: readonly Operation[]): Route[] => {
  const openapi = openApiDocument(product, operations)
  const documents = { [`${basePath}/openapi.json`]: openapi, '/swagger.json': swaggerDocument(openapi) }
  return Object.entries(documents).map(([path, document]) => {
    const reading = readingOf(Buffer.from(JSON.stringify(document)))
    return { path, method: 'get', handler: (ctx) => sendReading(ctx, reading) }
  })
}

const docsRoutes = ({ product }: Service): Route[] =>
  [...docsAssets(product.name)].map(([path, { type, body }]) => {
    const reading = readingOf(body)
    return {
      path,
      method: 'get',
      handler: (ctx) => {
        ctx.state['policy'] = docsPolicy
        return sendReading(ctx, reading, type)
      },
    }
  })

/** A path up to its third part, which names the resource: `/api/v1/employees`. */
const room = /^(?:\/[^/]*){1,3}/
const roomOf = (path: string): string => room.exec(path)?.[0] ?? ''

/** Every route of a service. */
export const routesOf = (service: Service): Middleware => {
  const operations = operationsOf(service.registry)
  const routes: Route[] = [
    ...operationRoutes(service, operations),
    ...documentRoutes(service, operations),
    ...docsRoutes(service),
    { path: '/', method: 'get', handler: async (ctx) => ctx.redirect(docsPath) },
  ]
  // The router tries each of its routes on each request, so every room has a router of its own, found by name; and a
  // plain read, the most frequent request of all, is found by its path, or by its path up to the id, without a router.
  const routers = new Map<string, Router>()
  const reads = new Map<string, Handler>()
  const readsOfOne = new Map<string, Handler>()
  for (const { path, method, handler } of routes) {
    const router = routers.get(roomOf(path)) ?? new Router({ strict: true, sensitive: true })
    router.register(path, [method], handler)
    routers.set(roomOf(path), router)
    if (method !== 'get') continue
    if (path.includes(':')) readsOfOne.set(path.slice(0, path.indexOf(':')), handler)
    else reads.set(path, handler)
  }
  const rooms = new Map([...routers].map(([name, router]) => [name, router.routes() as unknown as Middleware]))
  const readOf = (path: string): Handler | undefined => {
    const id = path.lastIndexOf('/') + 1
    return reads.get(path) ?? (id < path.length ? readsOfOne.get(path.slice(0, id)) : undefined)
  }
  return (ctx, next) => {
    const read = ctx.method === 'GET' ? readOf(ctx.path) : undefined
    return read ? read(ctx) : (rooms.get(roomOf(ctx.path))?.(ctx, next) ?? next())
  }
}
