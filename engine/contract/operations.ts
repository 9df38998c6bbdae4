/** Every operation of the interface, as one list: the router serves it and the documents describe it. */
import type { z } from 'zod'
import { filterFields, type Registry, type Resource, searchedFields } from '../descriptor/registry.js'
import { bodyLimit, createBodyReader } from './createBody.js'
import { bodyInvalid, parametersInvalid, payloadTooLarge, rowNotFound, tokenMissing, writesDisabled } from './errors.js'
import { createdExample, createExample, pageExample, rowExample } from './examples.js'
import { createHeaders, readHeaders, systemHeaders } from './headers.js'
import { conditionalResponses, databaseDown, errorResponse, type Operation } from './operation.js'
import { idNotText, itemIdSchema, listQuerySchema, notInteger } from './parameters.js'
import { collectionSchema, createSchema, pascal, rowSchema, withArticle } from './schemas.js'
import { healthSchema, indexSchema } from './sharedSchemas.js'

const index: Operation = {
  kind: 'index',
  id: 'getIndex',
  path: '/',
  tag: 'System',
  summary: 'Get the index',
  description: 'Returns the name and version of the service, and the paths of its documents and resources.',
  headers: systemHeaders,
  responses: { 200: { description: 'The index.', schema: indexSchema } },
}

const health: Operation = {
  kind: 'health',
  id: 'getHealth',
  path: '/v1/health',
  tag: 'System',
  summary: 'Check the health',
  description: 'Checks that the database responds.',
  headers: systemHeaders,
  responses: { 200: { description: 'The database responds.', schema: healthSchema }, 503: databaseDown },
}

const names = (fields: readonly { readonly name: string }[]): string =>
  fields.map(({ name }) => `\`${name}\``).join(', ')

const list = (resource: Resource, row: z.ZodType): Operation => {
  const filters = filterFields(resource)
  const searched = searchedFields(resource)
  const plural = resource.plural.toLowerCase()
  return {
    kind: 'list',
    resource,
    id: `list${pascal(resource.plural)}`,
    path: `/v1/${resource.path}`,
    tag: resource.area,
    summary: `List ${plural}`,
    description: [
      `Returns a page of ${plural}, ordered by \`id\`.`,
      searched.length > 0 && `\`q\` searches ${names(searched)}, joined by spaces in this order.`,
      filters.length > 0 && `Filters, combined with AND: ${names(filters)}.`,
    ]
      .filter(Boolean)
      .join(' '),
    query: listQuerySchema(resource),
    headers: readHeaders,
    responses: {
      200: {
        description: 'The page.',
        schema: collectionSchema(resource, row),
        example: pageExample(resource),
        headers: ['ETag'],
      },
      ...conditionalResponses,
      422: errorResponse(
        'A parameter is out of bounds or has the wrong type.',
        parametersInvalid([notInteger('limit', 'abc', 'int_parsing')]),
      ),
      503: databaseDown,
    },
  }
}

const get = (resource: Resource, row: z.ZodType): Operation => {
  const example = rowExample(resource)
  const singular = resource.name.toLowerCase()
  return {
    kind: 'get',
    resource,
    id: `get${pascal(resource.name)}`,
    path: `/v1/${resource.path}/{item_id}`,
    tag: resource.area,
    summary: `Get ${withArticle(singular)}`,
    description: `Returns the ${singular} with this \`id\`.`,
    pathParameters: itemIdSchema(singular, String(example['id'])),
    headers: readHeaders,
    responses: {
      200: { description: `The ${singular}.`, schema: row, example, headers: ['ETag'] },
      ...conditionalResponses,
      404: errorResponse('No row has this id.', rowNotFound(resource.name, '0')),
      422: errorResponse('`item_id` is not valid percent-encoded UTF-8.', parametersInvalid([idNotText('%FF')])),
      503: databaseDown,
    },
  }
}

const create = (resource: Resource, row: z.ZodType): Operation => {
  const singular = resource.name.toLowerCase()
  const example = createExample(resource)
  const schema = createSchema(resource)
  const { issues } = createBodyReader(resource, schema)({ ...example, not_a_field: 1 })
  return {
    kind: 'create',
    resource,
    id: `create${pascal(resource.name)}`,
    path: `/v1/${resource.path}`,
    tag: resource.area,
    summary: `Create ${withArticle(singular)}`,
    description: `Creates ${withArticle(singular)} and returns it. Requires the write token.`,
    headers: createHeaders,
    body: { schema, example },
    responses: {
      201: {
        description: `The new ${singular}.`,
        schema: row,
        example: createdExample(resource),
        headers: ['Location', 'Idempotency-Replayed'],
      },
      401: errorResponse('The write token is missing or wrong.', tokenMissing()),
      413: errorResponse('The body is too large.', payloadTooLarge(bodyLimit)),
      422: errorResponse('The create is invalid. Nothing was stored.', bodyInvalid(issues)),
      503: {
        ...errorResponse(
          '`writes_disabled`: no write token is configured. `unavailable`: the database is not available; nothing was stored unless the message says that the outcome is unknown.',
          writesDisabled(),
        ),
        headers: ['Retry-After'],
      },
    },
  }
}

/** The operations of a registry, system ones first. */
export const operationsOf = (registry: Registry): readonly Operation[] => [
  index,
  health,
  ...registry.flatMap((resource) => {
    const row = rowSchema(resource)
    return [list(resource, row), get(resource, row), ...(resource.create ? [create(resource, row)] : [])]
  }),
]
