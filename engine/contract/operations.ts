/** Every operation of the interface as data: the router serves it, its schemas validate requests, and the documents describe it. */

import type { ResponseConfig, RouteConfig } from '@asteasolutions/zod-to-openapi'
import { z } from 'zod'
import { expandableFields, expandableReferrers } from '../descriptor/expansion.js'
import { listParameters, rowParameters, summaryParameters } from '../descriptor/listParameters.js'
import { operationNames } from '../descriptor/names.js'
import type { NamedOperation } from '../descriptor/operationFiles.js'
import { filterFields, type Registry, type Resource, searchedFields, updatableFields } from '../descriptor/registry.js'
import { possibleGroups } from '../descriptor/summary.js'
import { Violation } from '../descriptor/violations.js'
import { hasAccess, withAccess } from './accessDocuments.js'
import { maxOperations, withReferences } from './batchBody.js'
import * as errors from './errors.js'
import { createdExample, createExample, pageExample, rowExample } from './examples.js'
import { formats } from './formats.js'
import { keyReused, type ResponseHeader, requestHeaders, responseHeaders } from './headers.js'
import { importQuerySchema } from './importParameters.js'
import { bodyIssue, itemIdIssue, parameterIssue } from './issues.js'
import { ownOperation } from './ownOperations.js'
import { itemIdSchema, querySchema } from './parameters.js'
import { type BodyReader, bodyLimit, createBodyReader, importLimit, updateBodyReader } from './rowBody.js'
import {
  collectionSchema,
  createSchema,
  errorSchema,
  expandedSchema,
  healthSchema,
  importSchema,
  indexSchema,
  parameterErrorSchema,
  rowSchema,
  summarySchema,
  updateSchema,
  withArticle,
} from './schemas.js'
import type { Product } from './service.js'

/** A route; its path is relative to the base path. */
interface Route extends RouteConfig {
  readonly operationId: string
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  readonly summary: string
  readonly tags: [area: string]
}

export interface SystemOperation {
  readonly kind: 'index' | 'health'
  readonly route: Route
}

export interface ResourceOperation {
  readonly kind: keyof ReturnType<typeof operationNames>
  readonly resource: Resource
  readonly route: Route
}

export interface WriteOperation extends ResourceOperation {
  readonly readBody: BodyReader
}

export interface ImportOperation extends ResourceOperation {
  readonly readCreate: BodyReader
  /** Undefined if rows cannot be changed. */
  readonly readUpdate?: BodyReader
}

/** What can be done with a resource in a batch. */
export interface Writers {
  readonly resource: Resource
  readonly POST?: BodyReader
  readonly PATCH?: BodyReader
  readonly DELETE?: true
}

export interface BatchOperation {
  readonly kind: 'batch'
  readonly route: Route
  /** By the path of the resource. */
  readonly writers: ReadonlyMap<string, Writers>
}

/** One of a deployment's own code. */
export interface OwnOperation {
  readonly kind: 'own'
  readonly own: NamedOperation
  readonly route: Route
}

export type Operation =
  | OwnOperation
  | BatchOperation
  | SystemOperation
  | ResourceOperation
  | WriteOperation
  | ImportOperation

const json = (schema: z.ZodType, example?: unknown) => ({ 'application/json': { schema, example } })

/** Inline, because openapi-typescript makes every header that is a `$ref` mandatory. Every response has a request id. */
const headers = (...names: readonly ResponseHeader[]) =>
  Object.fromEntries([...names, 'X-Request-Id' as const].map((name) => [name, responseHeaders[name]]))

const isDocumented = (name: string): name is ResponseHeader => name in responseHeaders

/** An error response, with the body that the service really sends as its example. */
const errorResponse = (description: string, error: errors.HttpError): ResponseConfig => ({
  description,
  headers: headers(...Object.keys(error.headers).filter(isDocumented)),
  content: json('detail' in error.body ? parameterErrorSchema : errorSchema, error.body),
})

const success = (
  description: string,
  schema: z.ZodType,
  example?: unknown,
  ...names: readonly ResponseHeader[]
): ResponseConfig => ({ description, headers: headers(...names), content: json(schema, example) })

/** The responses that every operation can have; `default` is any other error of the HTTP layer. */
const commonResponses = {
  400: errorResponse('The request is not HTTP that this server accepts.', errors.hostUnclear()),
  default: errorResponse('Any other error.', errors.internalError()),
}

const databaseDown = errorResponse('The database is not available; try again.', errors.unavailable())

const notRead = errorResponse(
  '`unavailable`: the database is not available, or the read took too long. `busy`: too many slow reads wait, so this one was not started.',
  errors.unavailable(),
)

const readResponses = {
  ...commonResponses,
  304: { description: 'The current ETag is among those sent as `If-None-Match`.', headers: headers('ETag') },
  412: errorResponse('`If-Match` was sent and does not match the current ETag.', errors.preconditionFailed()),
  503: notRead,
}

const system = {
  method: 'get' as const,
  tags: ['System'] as [string],
  security: [],
  request: { headers: requestHeaders.system },
}

const index: Operation = {
  kind: 'index',
  route: {
    operationId: 'getIndex',
    path: '/',
    summary: 'Get the index',
    description: 'Returns the name and version of the service, and the paths of its documents and resources.',
    ...system,
    responses: { ...commonResponses, 200: success('The index.', indexSchema) },
  },
}

const health: Operation = {
  kind: 'health',
  route: {
    operationId: 'getHealth',
    path: '/v1/health',
    summary: 'Check the health',
    description: 'Checks that the database responds.',
    ...system,
    responses: { ...commonResponses, 200: success('The database responds.', healthSchema), 503: databaseDown },
  },
}

const names = (fields: readonly { readonly name: string }[]): string =>
  fields.map(({ name }) => `\`${name}\``).join(', ')

/** Only here: a second media type in the response would make its type a union in generated clients. */
const formatSentences = Object.entries(formats).map(([name, { description }]) => `\`Accept: ${name}\`: ${description}`)

/** What follows the path of a resource in the path of an operation. */
const suffixes: Partial<Record<ResourceOperation['kind'], string>> = {
  summary: '/summary',
  import: '/import',
  get: '/{item_id}',
  update: '/{item_id}',
  delete: '/{item_id}',
}

const operationOn = (
  resource: Resource,
  kind: ResourceOperation['kind'],
  method: Route['method'],
  described: Pick<Route, 'summary' | 'description' | 'request' | 'responses'>,
): ResourceOperation => ({
  kind,
  resource,
  route: {
    operationId: operationNames(resource)[kind],
    method,
    path: `/v1/${resource.path}${suffixes[kind] ?? ''}`,
    tags: [resource.area],
    ...described,
    security: method === 'get' ? [] : [{ writeToken: [] }],
  },
})

const list = (registry: Registry, resource: Resource, page: z.ZodType): Operation => {
  const filters = filterFields(resource)
  const ranges = resource.fields.filter((field) => field.range)
  const searched = searchedFields(resource)
  const expandable = expandableFields(resource)
  const plural = resource.plural.toLowerCase()
  const sentences = [
    `Returns a page of ${plural}, ordered by \`id\` unless \`sort\` names a field.`,
    searched.length > 0 && `\`q\` searches ${names(searched)}, joined by spaces in this order.`,
    filters.length > 0 && `Filters, combined with AND: ${names(filters)}.`,
    ranges.length > 0 && `Bounds, combined with AND: ${names(ranges)}.`,
    expandable.length > 0 && `\`expand\` shows the rows that ${names(expandable)} name.`,
    ...formatSentences,
  ]
  const notANumber = errors.parametersInvalid([parameterIssue('limit', 'abc', new Violation('int_parsing', 'abc'))])
  return operationOn(resource, 'list', 'get', {
    summary: `List ${plural}`,
    description: sentences.filter(Boolean).join(' '),
    request: { query: querySchema(listParameters(resource, registry)), headers: requestHeaders.read },
    responses: {
      ...readResponses,
      200: success('The page.', page, pageExample(resource), 'ETag', 'Link'),
      422: errorResponse('A parameter is out of bounds or has the wrong type.', notANumber),
    },
  })
}

const summary = (resource: Resource): Operation => {
  const plural = resource.plural.toLowerCase()
  const expected = possibleGroups(resource).map(({ name }) => name)
  const unknown = errors.parametersInvalid([parameterIssue('by', 'x', new Violation('enum', 'x', { expected }))])
  return operationOn(resource, 'summary', 'get', {
    summary: `Summarize ${plural}`,
    description: `Counts ${plural} by groups, those with the most rows first, and computes sums, averages and extremes. Filters, bounds and \`q\` are those of the list.`,
    request: { query: querySchema(summaryParameters(resource)), headers: requestHeaders.read },
    responses: {
      ...readResponses,
      200: success('The groups.', summarySchema(resource), undefined, 'ETag'),
      422: errorResponse('A parameter names nothing that can be computed, or is invalid.', unknown),
    },
  })
}

const rowMissing = ({ name }: Resource) => errorResponse('No row has this id.', errors.rowNotFound(name, '0'))

const get = (registry: Registry, resource: Resource, row: z.ZodType): Operation => {
  const example = rowExample(resource)
  const singular = resource.name.toLowerCase()
  const parameters = rowParameters(registry, resource)
  return operationOn(resource, 'get', 'get', {
    summary: `Get ${withArticle(singular)}`,
    description: `Returns the ${singular} with this \`id\`.`,
    request: {
      params: itemIdSchema(singular, String(example['id'])),
      ...(parameters.size > 0 && { query: querySchema(parameters) }),
      headers: requestHeaders.read,
    },
    responses: {
      ...readResponses,
      200: success(`The ${singular}.`, row, example, 'ETag'),
      404: rowMissing(resource),
      422: errorResponse(
        parameters.size > 0
          ? '`item_id` is not valid percent-encoded UTF-8, or `expand` names nothing that can be shown.'
          : '`item_id` is not valid percent-encoded UTF-8.',
        errors.parametersInvalid([itemIdIssue('%FF')]),
      ),
    },
  })
}

/** The responses of a write that was not made, or may not have been. An existing table takes no Idempotency-Key. */
const writeResponses = ({ existing }: Resource) => ({
  ...commonResponses,
  401: errorResponse('The write token is missing or wrong.', errors.tokenMissing()),
  ...(existing && {
    501: errorResponse('An `Idempotency-Key` was sent, which this resource does not take.', errors.keysNotSupported()),
  }),
  503: {
    ...errorResponse(
      '`writes_disabled`: no write token is configured, or the database does not let this deployment write. `unavailable`: the database is not available; nothing was stored. `outcome_unknown`: the commit was cut off; the row may or may not have been stored.',
      errors.writesDisabled(),
    ),
    headers: headers('Retry-After'),
  },
})

const tooLarge = errorResponse('The body is too large.', errors.payloadTooLarge(bodyLimit))

const create = (registry: Registry, resource: Resource, row: z.ZodType): WriteOperation => {
  const singular = resource.name.toLowerCase()
  const example = createExample(registry, resource)
  const created = createdExample(registry, resource)
  const schema = createSchema(resource)
  const readBody = createBodyReader(resource, schema)
  const { issues } = readBody({ ...example, not_a_field: 1 })
  const described = operationOn(resource, 'create', 'post', {
    summary: `Create ${withArticle(singular)}`,
    description: `Creates ${withArticle(singular)} and returns it. Requires the write token.`,
    request: {
      headers: resource.existing ? requestHeaders.system : requestHeaders.create,
      body: { required: true, content: json(schema, example) },
    },
    responses: {
      ...writeResponses(resource),
      201: success(`The new ${singular}.`, row, created, 'Location', 'Idempotency-Replayed'),
      413: tooLarge,
      422: errorResponse('The create is invalid. Nothing was stored.', errors.bodyInvalid(issues)),
    },
  })
  return { ...described, readBody }
}

/** What reads the rows of an import: as new ones, and as changes. */
export const importReaders = (resource: Resource): Pick<ImportOperation, 'readCreate' | 'readUpdate'> => ({
  readCreate: createBodyReader(resource, createSchema(resource)),
  ...(updatableFields(resource).length > 0 && { readUpdate: updateBodyReader(resource, updateSchema(resource)) }),
})

const importRows = (registry: Registry, resource: Resource): ImportOperation => {
  const plural = resource.plural.toLowerCase()
  const schema = createSchema(resource)
  const example = createExample(registry, resource)
  const readers = importReaders(resource)
  const { readCreate } = readers
  const { issues } = readCreate({ ...example, not_a_field: 1 })
  const rows = issues.map(({ loc: [place, ...rest], ...issue }) => ({ ...issue, loc: [place as string, 0, ...rest] }))
  const text = (description: string) => ({ schema: z.string().meta({ description }) })
  const isChanged = updatableFields(resource).length > 0
  const described = operationOn(resource, 'import', 'post', {
    summary: `Import ${plural}`,
    description: `Creates up to 10,000 ${plural} at once${isChanged ? ', or changes those that `match` finds' : ''}: all of them, or none. Requires the write token.`,
    request: {
      query: importQuerySchema(resource),
      headers: resource.existing ? requestHeaders.system : requestHeaders.create,
      body: {
        required: true,
        content: {
          ...json(z.array(schema), [example]),
          'text/csv': text('The first line names the fields. An empty cell is null, `""` an empty text.'),
          'application/x-ndjson': text('A JSON object in each line.'),
        },
      },
    },
    responses: {
      ...writeResponses(resource),
      200: success('What a dry run would have stored.', importSchema, {
        created: 1,
        updated: 0,
        unchanged: 0,
        ids: [],
      }),
      201: success(
        'What was stored; the ids in the order of the rows.',
        importSchema,
        { created: 1, updated: 0, unchanged: 0, ids: [createdExample(registry, resource)['id']] },
        'Idempotency-Replayed',
      ),
      413: errorResponse('The body is too large, or has too many rows.', errors.payloadTooLarge(importLimit)),
      422: errorResponse('A row or a parameter is invalid. Nothing was stored.', errors.bodyInvalid(rows, rows.length)),
    },
  })
  return { ...described, ...readers }
}

const changeResponses = (resource: Resource) => ({
  ...writeResponses(resource),
  404: rowMissing(resource),
  412: errorResponse('`If-Match` was sent and does not match the current ETag.', errors.preconditionFailed('"…"')),
})

const update = (registry: Registry, resource: Resource, row: z.ZodType): WriteOperation => {
  const singular = resource.name.toLowerCase()
  const example = rowExample(resource)
  const schema = updateSchema(resource)
  const created = createExample(registry, resource)
  const changes = Object.keys(schema.shape).map((name) => ({ [name]: example[name] ?? created[name] ?? null }))
  // A redacted field has no example, and null is refused for it.
  const changed = changes.find((body) => schema.safeParse(body).success) ?? {}
  const readBody = updateBodyReader(resource, schema)
  const { issues } = readBody({ not_a_field: 1 })
  const content = { 'application/merge-patch+json': { schema, example: changed }, ...json(schema, changed) }
  const described = operationOn(resource, 'update', 'patch', {
    summary: `Change ${withArticle(singular)}`,
    description: `Changes the fields that the body has (RFC 7396), and returns the ${singular}. A body that changes nothing writes nothing. Requires the write token.`,
    request: {
      params: itemIdSchema(singular, String(example['id'])),
      headers: resource.existing ? requestHeaders.changeExisting : requestHeaders.change,
      body: { required: true, content },
    },
    responses: {
      ...changeResponses(resource),
      200: success(`The ${singular} as it is now.`, row, example, 'ETag', 'Content-Location', 'Idempotency-Replayed'),
      413: tooLarge,
      422: errorResponse('The update is invalid. Nothing was changed.', errors.bodyInvalid(issues)),
    },
  })
  return { ...described, readBody }
}

const remove = (resource: Resource): Operation => {
  const singular = resource.name.toLowerCase()
  const references = [{ resource: 'others', field: `${singular.replaceAll(/\W+/g, '_')}_id`, count: 3 }]
  const reused = errors.bodyInvalid([keyReused()])
  return operationOn(resource, 'delete', 'delete', {
    summary: `Delete ${withArticle(singular)}`,
    description: `Deletes the ${singular}. Requires the write token.`,
    request: {
      params: itemIdSchema(singular, String(rowExample(resource)['id'])),
      headers: resource.existing ? requestHeaders.changeExisting : requestHeaders.change,
    },
    responses: {
      ...changeResponses(resource),
      204: { description: `The ${singular} is deleted.`, headers: headers('Idempotency-Replayed') },
      409: errorResponse(
        'Other rows reference the row. Nothing was deleted.',
        errors.referenced(resource.name, references),
      ),
      422: errorResponse('The `Idempotency-Key` is invalid, or was used for another request.', reused),
    },
  })
}

/** All writes of a resource in a batch, as schemas. */
const batchSchemas = (resource: Resource, { POST, PATCH, DELETE }: Writers): z.ZodType[] => {
  const isReference = (name: string) => resource.fields.some((field) => field.name === name && field.references)
  const row = z.string().meta({ description: `\`/v1/${resource.path}/\` and the id.` })
  const ifMatch = z.string().optional().meta({ description: 'The ETag of the row, in quotes.' })
  const as = z.string().optional().meta({ description: 'The name by which later operations refer to the row.' })
  return [
    ...(POST
      ? [
          z.strictObject({
            method: z.literal('POST'),
            path: z.literal(`/v1/${resource.path}`),
            as,
            body: withReferences(createSchema(resource), isReference),
          }),
        ]
      : []),
    ...(PATCH
      ? [
          z.strictObject({
            method: z.literal('PATCH'),
            path: row,
            ifMatch,
            body: withReferences(updateSchema(resource), isReference),
          }),
        ]
      : []),
    ...(DELETE ? [z.strictObject({ method: z.literal('DELETE'), path: row, ifMatch })] : []),
  ]
}

/** What can be done with each resource in a batch. */
export const batchWriters = (registry: Registry, operations: readonly Operation[]): BatchOperation['writers'] =>
  new Map(
    registry.map((resource) => {
      const reader = (kind: string) =>
        operations.find(
          (one): one is WriteOperation => one.kind === kind && 'readBody' in one && one.resource === resource,
        )?.readBody
      const [POST, PATCH] = [reader('create'), reader('update')]
      const made = {
        resource,
        ...(POST && { POST }),
        ...(PATCH && { PATCH }),
        ...(resource.delete && { DELETE: true as const }),
      }
      return [resource.path, made]
    }),
  )

const batchOperation = (registry: Registry, operations: readonly Operation[]): BatchOperation => {
  const writers = batchWriters(registry, operations)
  const schemas = [...writers.values()].flatMap((one) => batchSchemas(one.resource, one))
  const result = z.object({ status: z.int(), body: z.looseObject({}).optional() })
  const tooMany = errors.bodyInvalid([bodyIssue('too_long', 'A batch has at most 1000 operations.', 'operations')])
  return {
    kind: 'batch',
    writers,
    route: {
      operationId: 'batch',
      method: 'post',
      path: '/v1/batch',
      tags: ['System'],
      summary: 'Make several writes',
      description:
        'Creates, changes and deletes rows of any resources, in order and all or none. A later operation sees the earlier ones. ' +
        (hasAccess(registry) ? 'Each needs its own right.' : 'Requires the write token.'),
      security: [hasAccess(registry) ? { caller: [] } : { writeToken: [] }],
      request: {
        headers: requestHeaders.create,
        body: {
          required: true,
          content: json(
            z.strictObject({ operations: z.array(z.union(schemas as [z.ZodType, z.ZodType])).max(maxOperations) }),
          ),
        },
      },
      responses: {
        ...writeResponses({} as Resource),
        200: success(
          'What each operation has returned.',
          z.object({ results: z.array(result) }),
          { results: [{ status: 204 }] },
          'Idempotency-Replayed',
        ),
        ...(hasAccess(registry) && {
          403: errorResponse(
            '`forbidden`: the key or token does not allow an operation. Nothing was stored.',
            errors.forbidden(),
          ),
        }),
        404: errorResponse('There is no such path or row. Nothing was stored.', errors.pathNotFound()),
        409: errorResponse(
          'Other rows reference a row that was to be deleted. Nothing was stored.',
          errors.referenced('row', []),
        ),
        412: errorResponse('An `ifMatch` does not match. Nothing was stored.', errors.preconditionFailed()),
        413: errorResponse('The body is too large.', errors.payloadTooLarge(importLimit)),
        422: errorResponse('An operation is invalid. Nothing was stored.', tooMany),
        501: errorResponse(
          'An `Idempotency-Key` was sent with a write of an existing table.',
          errors.keysNotSupported(),
        ),
      },
    },
  }
}

/** The schemas of the responses, by path: the row, the page, and the row with what can be shown with it. */
const responseSchemas = (registry: Registry) => {
  const byPath = <T>(make: (resource: Resource) => T) => {
    const made = new Map(registry.map((resource) => [resource.path, make(resource)]))
    return (path: string) => made.get(path) as T
  }
  const row = byPath(rowSchema)
  const referenced = (resource: Resource) =>
    Object.fromEntries(
      expandableFields(resource).map(({ name, references }) => [name, z.union([row(String(references)), z.null()])]),
    )
  const page = byPath((resource) =>
    collectionSchema(resource, expandedSchema(row(resource.path), referenced(resource))),
  )
  const single = byPath((resource) => {
    const referrers = [...expandableReferrers(registry, resource)].map(
      ([
        name,
        {
          resource: { path },
        },
      ]) => [name, page(path)],
    )
    return expandedSchema(row(resource.path), { ...referenced(resource), ...Object.fromEntries(referrers) })
  })
  return { row, page, single }
}

export const deriveOperations = (
  registry: Registry,
  product?: Pick<Product, 'batch'>,
  own: readonly NamedOperation[] = [],
): readonly Operation[] => {
  const { row, page, single } = responseSchemas(registry)
  const operations: Operation[] = [
    index,
    health,
    ...registry.flatMap((resource): Operation[] => {
      const { path } = resource
      return [
        list(registry, resource, page(path)),
        // Before the row, whose path would be theirs too.
        ...(resource.summary ? [summary(resource)] : []),
        ...(resource.import ? [importRows(registry, resource)] : []),
        get(registry, resource, single(path)),
        ...(resource.create ? [create(registry, resource, row(path))] : []),
        ...(updatableFields(resource).length > 0 ? [update(registry, resource, row(path))] : []),
        ...(resource.delete ? [remove(resource)] : []),
      ].map((operation) => withAccess(operation, registry, errorResponse))
    }),
  ]
  return [
    ...operations,
    ...(product?.batch ? [batchOperation(registry, operations)] : []),
    ...own.map((one) => ownOperation(one, errorResponse, commonResponses)),
  ]
}
