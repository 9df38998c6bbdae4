/** Both documents of an interface, as the bytes that are served. */
import { openApiDocument } from './openapi.js'
import type { Operation } from './operation.js'
import type { Product } from './service.js'
import { swaggerDocument } from './swagger.js'

/** Makes them: OpenAPI 3.1, and Swagger 2.0 from that. */
export const documentsOf = (product: Product, operations: readonly Operation[]) => {
  const openapi = openApiDocument(product, operations)
  const bytes = (document: object): Buffer => Buffer.from(JSON.stringify(document))
  return { openapi: bytes(openapi), swagger: bytes(swaggerDocument(openapi)) }
}
