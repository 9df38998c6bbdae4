/** The OpenAPI 3.1 document, interpreted from the operations. */
import { OpenAPIRegistry, OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi'
import type { Answer, Operation } from './operation.js'
import { basePath, type Product } from './service.js'

const json = 'application/json'

const response = ({ description, schema, example, headers }: Answer) => ({
  description,
  ...(schema && { content: { [json]: { schema, ...(example !== undefined && { example }) } } }),
  ...(headers && { headers }),
})

/** The areas of the interface, each with what is in it. */
const tagsOf = (operations: readonly Operation[]) => {
  const contents = new Map<string, string[]>()
  for (const operation of operations) {
    const inside = contents.get(operation.tag) ?? []
    if (operation.kind === 'list') inside.push(operation.resource.plural)
    if (!('resource' in operation)) inside.push(operation.summary)
    contents.set(operation.tag, inside)
  }
  return [...contents].map(([name, inside]) => ({ name, description: `${inside.join(', ')}.` }))
}

/** The document served at `/api/openapi.json`. */
export const openApiDocument = (product: Product, operations: readonly Operation[]) => {
  const registry = new OpenAPIRegistry()
  const bearer = registry.registerComponent('securitySchemes', 'writeToken', {
    type: 'http',
    scheme: 'bearer',
    description: 'The write token of the deployment (API_TOKEN).',
  })
  for (const operation of operations) {
    registry.registerPath({
      operationId: operation.id,
      method: operation.method,
      path: operation.path,
      tags: [operation.tag],
      summary: operation.summary,
      description: operation.description,
      security: operation.secured ? [{ [bearer.name]: [] }] : [],
      request: {
        ...(operation.pathParameters && { params: operation.pathParameters }),
        ...(operation.query && { query: operation.query }),
        ...(operation.headers && { headers: operation.headers }),
        ...(operation.body && { body: { required: true, content: { [json]: operation.body } } }),
      },
      responses: Object.fromEntries(
        Object.entries(operation.answers).map(([status, answer]) => [status, response(answer)]),
      ),
    })
  }
  const { webhooks: _, ...document } = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: product.name,
      version: product.version,
      description: product.about,
      license: { name: product.license, identifier: product.license },
    },
    servers: [{ url: basePath }],
    tags: tagsOf(operations),
  })
  return document
}

export type OpenApiDocument = ReturnType<typeof openApiDocument>
