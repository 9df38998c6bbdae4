/** Every operation of the interface as data: the router serves it, its schemas validate requests, and the documents describe it. */
import type { RouteConfig } from '@asteasolutions/zod-to-openapi'
import { z } from 'zod'
import { expandableFields, expandableReferrers } from '../descriptor/expansion.js'
import { operationNames } from '../descriptor/names.js'
import type { NamedOperation } from '../descriptor/operationFiles.js'
import type { Registry, Resource } from '../descriptor/registry.js'
import { accessOf, hasAccess, tokenMissingResponse } from './accessDocuments.js'
import { maxOperations, withReferences } from './batchBody.js'
import * as errors from './errors.js'
import { requestHeaders } from './headers.js'
import { bodyIssue } from './issues.js'
import { customOperation } from './ownOperations.js'
import { commonResponses, databaseDown, errorResponse, jsonContent, success, writeResponses } from './responses.js'
import { type BodyReader, importLimit } from './rowBody.js'
import {
  collectionSchema,
  createSchema,
  expandedSchema,
  healthSchema,
  indexSchema,
  rowSchema,
  updateSchema,
} from './schemas.js'
import type { Product } from './service.js'
import { type BodyReaders, type ImportReaders, isOffered, type VerbName, verbNames, verbOf } from './verbs.js'

/** A route; its path is relative to the base path. */
interface OperationRoute extends RouteConfig {
  readonly operationId: string
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  readonly summary: string
  readonly tags: [area: string]
}

export interface SystemOperation {
  readonly kind: 'index' | 'health'
  readonly route: OperationRoute
}

export interface ResourceOperation extends BodyReaders {
  readonly kind: VerbName
  readonly resource: Resource
  readonly route: OperationRoute
}

export type ImportOperation = ResourceOperation & ImportReaders

/** What can be done with a resource in a batch. */
export interface Writers {
  readonly resource: Resource
  readonly POST?: BodyReader
  readonly PATCH?: BodyReader
  readonly DELETE?: true
}

export interface BatchOperation {
  readonly kind: 'batch'
  readonly route: OperationRoute
  /** By the path of the resource. */
  readonly writers: ReadonlyMap<string, Writers>
}

/** A custom operation of the project. */
export interface CustomOperation {
  readonly kind: 'own'
  readonly definition: NamedOperation
  readonly route: OperationRoute
}

export type Operation = CustomOperation | BatchOperation | SystemOperation | ResourceOperation

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
      const reader = (kind: VerbName) =>
        operations.find(
          (one): one is ResourceOperation => one.kind === kind && 'resource' in one && one.resource === resource,
        )?.readBody
      const [POST, PATCH] = [reader('create'), reader('update')]
      const writers = {
        resource,
        ...(POST && { POST }),
        ...(PATCH && { PATCH }),
        ...(resource.delete && { DELETE: true as const }),
      }
      return [resource.path, writers]
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
          content: jsonContent(
            z.strictObject({ operations: z.array(z.union(schemas as [z.ZodType, z.ZodType])).max(maxOperations) }),
          ),
        },
      },
      responses: {
        ...writeResponses({}),
        401: tokenMissingResponse,
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
  const byPath = <T>(createSchemaOf: (resource: Resource) => T) => {
    const schemas = new Map(registry.map((resource) => [resource.path, createSchemaOf(resource)]))
    return (path: string) => schemas.get(path) as T
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

const resourceOperations = (registry: Registry): ResourceOperation[] => {
  const schemas = responseSchemas(registry)
  return registry.flatMap((resource) => {
    const { path, area } = resource
    const context = {
      registry,
      resource,
      singular: resource.name.toLowerCase(),
      plural: resource.plural.toLowerCase(),
      row: schemas.row(path),
      page: schemas.page(path),
      single: schemas.single(path),
    }
    const offered = verbNames.filter((name) => isOffered(name, resource))
    return offered.map((kind): ResourceOperation => {
      const { method, suffix, right, describe } = verbOf(kind)
      const { readers, description, responses, ...otherProperties } = describe(context)
      const { sentence, responses: accessResponses, ...access } = accessOf(registry, resource, right)
      const route = {
        operationId: operationNames(resource)[kind],
        method,
        path: `/v1/${path}${suffix}`,
        tags: [area] as [string],
        ...otherProperties,
        description: sentence === undefined ? description : `${description} ${sentence}`,
        responses: { ...responses, ...accessResponses },
        ...access,
      }
      return { kind, resource, route, ...readers }
    })
  })
}

export const deriveOperations = (
  registry: Registry,
  product?: Pick<Product, 'batch'>,
  customOperations: readonly NamedOperation[] = [],
): readonly Operation[] => {
  const operations = [index, health, ...resourceOperations(registry)]
  const batch = product?.batch ? [batchOperation(registry, operations)] : []
  const mayBeErased = registry.some(({ history }) => history)
  const own = customOperations.map((definition) => customOperation(definition, mayBeErased))
  return [...operations, ...batch, ...own]
}
