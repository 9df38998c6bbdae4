/** The routes, interpreted from the operations and the documents. */
import { createHash } from 'node:crypto'
import Router from '@koa/router'
import type { Middleware } from 'koa'
import type { Operation } from '../contract/operation.js'
import { basePath } from '../contract/service.js'
import type { CachedBody } from '../storage/storage.js'
import { docsAssets, docsPath, docsPolicy } from './docs.js'
import type { HandlerContext } from './exchange.js'
import { type Handler, handlerOf, type Service } from './handlers.js'
import { readingAnswer } from './reading.js'

interface Route {
  /** What it is, as the documents name it, for those who count. */
  readonly name: string
  readonly path: string
  readonly method: 'get' | 'post'
  readonly handler: Handler
}

/** A handler whose answer is left for the app to send. */
type Answering = (ctx: HandlerContext) => Promise<void>

/** The index answers with and without a slash; every other path has one spelling. */
const pathsOf = ({ path }: Operation): string[] =>
  path === '/' ? [basePath, `${basePath}/`] : [`${basePath}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`]

/** A document's tag is made from its bytes, so every process has the same one. */
const readingOf = (body: Buffer): CachedBody => ({
  tag: createHash('sha256').update(body).digest('hex').slice(0, 24),
  body,
})

const operationRoutes = (service: Service, operations: readonly Operation[]): Route[] =>
  operations.flatMap((operation) => {
    const handler = handlerOf(service, operation)
    return pathsOf(operation).map((path) => ({ name: operation.id, path, method: operation.method, handler }))
  })

/** The documents are made when one is first asked for: every start would wait for what few of them need. */
const documentRoutes = ({ product }: Service, operations: readonly Operation[]): Route[] => {
  const make = async () => {
    const { documentsOf } = await import('../contract/documents.js')
    const { openapi, swagger } = documentsOf(product, operations)
    return { openapi: readingOf(openapi), swagger: readingOf(swagger) }
  }
  let made: ReturnType<typeof make> | undefined
  const route = (path: string, which: 'openapi' | 'swagger'): Route => ({
    name: 'documents',
    path,
    method: 'get',
    async handler(ctx) {
      made ??= make()
      return readingAnswer(ctx, (await made)[which])
    },
  })
  return [route(`${basePath}/openapi.json`, 'openapi'), route('/swagger.json', 'swagger')]
}

const docsRoutes = ({ product }: Service): Route[] =>
  [...docsAssets(product.name)].map(([path, { type, body }]) => {
    const reading = readingOf(body)
    return {
      name: 'docs',
      path,
      method: 'get',
      handler: async (ctx) => {
        const answer = await readingAnswer(ctx, reading, type)
        return { ...answer, headers: [...answer.headers, 'Content-Security-Policy', docsPolicy] }
      },
    }
  })

/** A path up to its third part, which names the resource: `/api/v1/employees`. */
const room = /^(?:\/[^/]*){1,3}/
const roomOf = (path: string): string => room.exec(path)?.[0] ?? ''

/** Every route of a service. */
export const routesOf = (service: Service, operations: readonly Operation[]): Middleware => {
  const routes: Route[] = [
    ...operationRoutes(service, operations),
    ...documentRoutes(service, operations),
    ...docsRoutes(service),
    { name: 'root', path: '/', method: 'get', handler: async () => ({ status: 302, headers: ['Location', docsPath] }) },
  ]
  // The router tries each of its routes on each request, so every room has a router of its own, found by name; and a
  // plain read, the most frequent request of all, is found by its path, or by its path up to the id, without a router.
  const routers = new Map<string, Router>()
  const reads = new Map<string, Answering>()
  const readsOfOne = new Map<string, Answering>()
  for (const { name, path, method, handler: answer } of routes) {
    const handler: Answering = async (ctx) => {
      ctx.state.operation = name
      ctx.state.answer = await answer(ctx)
    }
    const router = routers.get(roomOf(path)) ?? new Router({ strict: true, sensitive: true })
    router.register(path, [method], handler)
    routers.set(roomOf(path), router)
    if (method !== 'get') continue
    if (path.includes(':')) readsOfOne.set(path.slice(0, path.indexOf(':')), handler)
    else reads.set(path, handler)
  }
  const rooms = new Map([...routers].map(([name, router]) => [name, router.routes() as unknown as Middleware]))
  const readOf = (path: string): Answering | undefined => {
    const id = path.lastIndexOf('/') + 1
    return reads.get(path) ?? (id < path.length ? readsOfOne.get(path.slice(0, id)) : undefined)
  }
  return (ctx, next) => {
    const read = ctx.method === 'GET' ? readOf(ctx.path) : undefined
    return read ? read(ctx) : (rooms.get(roomOf(ctx.path))?.(ctx, next) ?? next())
  }
}
