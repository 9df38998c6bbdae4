/** The routes, interpreted from the operations and the documents. */
import Router from '@koa/router'
import { basePath, openApiDocument } from '../contract/openapi.js'
import type { Operation } from '../contract/operation.js'
import { operationsOf } from '../contract/operations.js'
import { swaggerDocument } from '../contract/swagger.js'
import { docsAssets, docsPath, docsPolicy } from './docs.js'
import { handlerOf, type Service } from './handlers.js'
import { sendJson } from './send.js'

/** The index answers with and without a slash; every other path has one spelling. */
const pathsOf = ({ path }: Operation): string[] =>
  path === '/' ? [basePath, `${basePath}/`] : [`${basePath}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`]

export const routerOf = (service: Service): Router => {
  const router = new Router({ strict: true, sensitive: true })
  const operations = operationsOf(service.registry)
  for (const operation of operations) {
    const handler = handlerOf(service, operation)
    for (const path of pathsOf(operation)) router.register(path, [operation.method], handler)
  }
  const openapi = openApiDocument(service.product, operations)
  const documents = { [`${basePath}/openapi.json`]: openapi, '/swagger.json': swaggerDocument(openapi) }
  for (const [path, document] of Object.entries(documents)) {
    const body = Buffer.from(JSON.stringify(document))
    router.get(path, async (ctx) => sendJson(ctx, 200, body))
  }
  for (const [path, { type, body }] of docsAssets(service.product.name)) {
    router.get(path, async (ctx) => {
      ctx.set('Content-Type', type)
      ctx.set('Content-Security-Policy', docsPolicy)
      ctx.body = body
    })
  }
  router.get('/', async (ctx) => ctx.redirect(docsPath))
  return router
}
