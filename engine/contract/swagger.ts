/** Converts the OpenAPI 3.1 document to Swagger 2.0, for older tools. */
import type { OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi'
import { basePath } from './service.js'

type Json = Record<string, unknown>
type OpenApiDocument = ReturnType<OpenApiGeneratorV31['generateDocument']>

const asObject = (value: unknown): Json => value as Json
const mapValues = (object: unknown, change: (value: Json) => unknown): Json =>
  Object.fromEntries(Object.entries(asObject(object ?? {})).map(([key, value]) => [key, change(asObject(value))]))

/** Swagger 2.0 has neither the type `null` nor unions: nullable becomes an extension, a union or several types any value. */
const schema = (source: Json): Json => {
  const {
    $ref,
    type,
    anyOf,
    allOf,
    properties,
    items,
    additionalProperties,
    enum: values,
    examples: _,
    ...keywords
  } = source
  if (typeof $ref === 'string') return { $ref: $ref.replace('#/components/schemas/', '#/definitions/') }
  if (Array.isArray(allOf)) return { ...keywords, allOf: allOf.map(schema) }
  const choices = Array.isArray(anyOf) ? anyOf.filter((choice) => choice.type !== 'null') : []
  if (choices.length === 1) return { type: 'object', 'x-nullable': true, allOf: choices.map(schema) }
  const types = [type].flat().filter((name) => name !== 'null')
  if (anyOf || types.length > 1) return keywords
  const isNullable = Array.isArray(type)
  // JSON leaves out what is undefined.
  return {
    type: types[0],
    'x-nullable': isNullable || undefined,
    ...keywords,
    enum: Array.isArray(values) ? values.filter((value) => value !== null) : undefined,
    properties: properties && mapValues(properties, schema),
    items: items && schema(asObject(items)),
    additionalProperties: typeof additionalProperties === 'object' ? true : additionalProperties,
  }
}

const parameter = ({ schema: source, name, in: place, required, description }: Json): Json => {
  const { description: _, example: __, ...type } = schema(asObject(source))
  return {
    name,
    in: place,
    required,
    description,
    ...type,
    collectionFormat: type['type'] === 'array' ? 'multi' : undefined,
  }
}

const header = ({ schema: type, description }: Json): Json => ({ description, ...asObject(type) })

const response = ({ description, content, headers }: Json): Json => {
  const { schema: body, example } = asObject(asObject(content ?? {})['application/json'] ?? {})
  return {
    description,
    schema: body && schema(asObject(body)),
    headers: mapValues(headers, header),
    examples: example && { 'application/json': example },
  }
}

const operation = ({ parameters, requestBody, responses, ...properties }: Json): Json => {
  const body =
    requestBody === undefined ? undefined : asObject(asObject(asObject(requestBody)['content'])['application/json'])
  const parts = (parameters as Json[]).map(parameter)
  if (body) parts.push({ name: 'body', in: 'body', required: true, schema: schema(asObject(body['schema'])) })
  return { ...properties, parameters: parts, responses: mapValues(responses, response) }
}

const bearer = (description: string) => ({ type: 'apiKey', name: 'Authorization', in: 'header', description })

export const swaggerDocument = (openapi: OpenApiDocument): Json => {
  const { title, version, description, contact, license } = openapi.info
  return {
    swagger: '2.0',
    info: {
      title,
      version,
      description,
      ...(contact && { contact }),
      ...(license && { license: { name: license.name, url: `https://spdx.org/licenses/${license.name}.html` } }),
    },
    // The service speaks HTTP; a proxy in front of it may add TLS.
    schemes: ['http', 'https'],
    basePath,
    consumes: ['application/json'],
    produces: ['application/json'],
    tags: openapi.tags,
    securityDefinitions: {
      writeToken: bearer('The write token of the deployment, sent as "Bearer <API_TOKEN>".'),
      ...(openapi.components?.securitySchemes?.['caller'] && {
        caller: bearer('An API key, a token or the write token, sent as "Bearer <key>".'),
      }),
    },
    paths: mapValues(openapi.paths, (path) => mapValues(path, operation)),
    definitions: mapValues(openapi.components?.schemas, schema),
  }
}
