/** The Swagger 2.0 document, for tools that read nothing newer: the 3.1 document said in the older words. */
import type { OpenApiDocument } from './openapi.js'
import { basePath } from './service.js'

type Json = Record<string, unknown>

const asObject = (value: unknown): Json => value as Json
const mapValues = (object: unknown, change: (value: Json) => unknown): Json =>
  Object.fromEntries(Object.entries(asObject(object ?? {})).map(([key, value]) => [key, change(asObject(value))]))

/** Swagger 2.0 knows neither `null` as a type nor unions: nullable is an extension there, a union anything. */
const schema = (source: Json): Json => {
  const { $ref, type, anyOf, properties, items, additionalProperties, examples: _, ...rest } = source
  if (typeof $ref === 'string') return { $ref: $ref.replace('#/components/schemas/', '#/definitions/') }
  if (anyOf) return rest
  const nullable = Array.isArray(type)
  return {
    ...(type !== undefined && { type: nullable ? type.find((one) => one !== 'null') : type }),
    ...(nullable && { 'x-nullable': true }),
    ...rest,
    ...(properties !== undefined && { properties: mapValues(properties, schema) }),
    ...(items !== undefined && { items: schema(asObject(items)) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: typeof additionalProperties === 'object' ? true : additionalProperties,
    }),
  }
}

const parameter = ({ schema: source, name, in: place, required, description }: Json): Json => {
  const { description: _, example: __, ...type } = schema(asObject(source))
  return { name, in: place, required, ...(description !== undefined && { description }), ...type }
}

const response = ({ description, content, headers }: Json): Json => {
  const { schema: body, example } = asObject(asObject(content ?? {})['application/json'] ?? {})
  return {
    description,
    ...(body !== undefined && { schema: schema(asObject(body)) }),
    ...(headers !== undefined && { headers: mapValues(headers, (header) => schema(asObject(header['schema']))) }),
    ...(example !== undefined && { examples: { 'application/json': example } }),
  }
}

const operation = ({ parameters, requestBody, responses, security, ...rest }: Json): Json => {
  const body =
    requestBody === undefined ? undefined : asObject(asObject(asObject(requestBody)['content'])['application/json'])
  const parts = ((parameters ?? []) as Json[]).map(parameter)
  if (body) parts.push({ name: 'body', in: 'body', required: true, schema: schema(asObject(body['schema'])) })
  const secured = (security as Json[]).length > 0
  return {
    ...rest,
    ...(parts.length > 0 && { parameters: parts }),
    responses: mapValues(responses, response),
    ...(secured && { security }),
  }
}

/** The document served at `/swagger.json`. */
export const swaggerDocument = (openapi: OpenApiDocument): Json => {
  const { title, version, description, license } = openapi.info
  return {
    swagger: '2.0',
    info: { title, version, description, license: { name: license?.name } },
    basePath,
    consumes: ['application/json'],
    produces: ['application/json'],
    tags: openapi.tags,
    securityDefinitions: {
      writeToken: {
        type: 'apiKey',
        name: 'Authorization',
        in: 'header',
        description: 'The write token of the deployment, sent as "Bearer <API_TOKEN>".',
      },
    },
    paths: mapValues(openapi.paths, (path) => mapValues(path, operation)),
    definitions: mapValues(openapi.components?.schemas, schema),
  }
}
