/** The routes, interpreted from the operations and the documents. */
import { createHash } from 'node:crypto'
import Router from '@koa/router'
import { basePath, openApiDocument } from '../contract/openapi.js'
import type { Operation } from '../contract/operation.js'
import { operationsOf } from '../contract/operations.js'
import { swaggerDocument } from '../contract/swagger.js'
import type { Reading } from '../storage/storage.js'
import { docsAssets, docsPath, docsPolicy } from './docs.js'
import { handlerOf, type Service } from './handlers.js'
import { sendReading } from './reading.js'

/** The index answers with and without a slash; every other path has one spelling. */
const pathsOf = ({ path }: Operation): string[] =>
  path === '/' ? [basePath, `${basePath}/`] : [`${basePath}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`]

/** A document's tag is made from its bytes, so every process has the same one. */
const readingOf = (body: Buffer): Reading => ({
  tag: createHash('sha256').update(body).digest('hex').slice(0, 24),
  body,
})

/** The router of a service. */
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
    const reading = readingOf(Buffer.from(JSON.stringify(document)))
    router.get(path, (ctx) => sendReading(ctx, reading))
  }
  for (const [path, { type, body }] of docsAssets(service.product.name)) {
    const reading = readingOf(body)
    router.get(path, (ctx) => {
      ctx.set('Content-Type', type)
      ctx.set('Content-Security-Policy', docsPolicy)
      return sendReading(ctx, reading)
    })
  }
  router.get('/', async (ctx) => ctx.redirect(docsPath))
  return router
}
