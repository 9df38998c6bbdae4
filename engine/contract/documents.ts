/** The OpenAPI 3.1 document, made from the operations, and both documents as the bytes that are served. */
import { OpenAPIRegistry, OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi'
import type { Operation } from './operations.js'
import { basePath, type Product } from './service.js'
import { swaggerDocument } from './swagger.js'

const areaTags = (operations: readonly Operation[]) => {
  const contents = new Map<string, string[]>()
  for (const operation of operations) {
    const [area] = operation.route.tags
    const entries = contents.get(area) ?? []
    if (operation.kind === 'list') entries.push(operation.resource.plural)
    if (!('resource' in operation)) entries.push(operation.route.summary)
    contents.set(area, entries)
  }
  return [...contents].map(([name, entries]) => ({ name, description: `${entries.join(', ')}.` }))
}

const openApiDocument = (product: Product, operations: readonly Operation[]) => {
  const registry = new OpenAPIRegistry()
  registry.registerComponent('securitySchemes', 'writeToken', {
    type: 'http',
    scheme: 'bearer',
    description: 'The write token of the deployment (API_TOKEN).',
  })
  if (operations.some(({ route }) => route.security?.some((requirement) => 'caller' in requirement)))
    registry.registerComponent('securitySchemes', 'caller', {
      type: 'http',
      scheme: 'bearer',
      description: 'An API key, a token of the identity provider, or the write token.',
    })
  for (const { route } of operations) registry.registerPath(route)
  const { webhooks: _, ...document } = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: product.name,
      version: product.version,
      description: product.about,
      ...(product.contact && { contact: product.contact }),
      ...(product.license && { license: { name: product.license, identifier: product.license } }),
    },
    servers: [{ url: basePath }],
    tags: areaTags(operations),
  })
  return document
}

/** Both documents, as bytes; Swagger 2.0 names the host that it is served from. */
export const createDocuments = (product: Product, operations: readonly Operation[]) => {
  const openapi = openApiDocument(product, operations)
  const swagger = swaggerDocument(openapi)
  const bytes = (document: object): Buffer => Buffer.from(JSON.stringify(document))
  return { openapi: bytes(openapi), swagger: (host: string) => bytes({ ...swagger, ...(host !== '' && { host }) }) }
}
