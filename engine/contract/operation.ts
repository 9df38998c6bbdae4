/** An operation as data: its route in the form that zod-to-openapi documents, whose schemas also validate its requests. */
import type { ResponseConfig, RouteConfig } from '@asteasolutions/zod-to-openapi'
import type { z } from 'zod'
import type { Resource } from '../descriptor/registry.js'
import { type HttpError, hostUnclear, internalError, preconditionFailed, unavailable } from './errors.js'
import { type ResponseHeader, responseHeaders } from './headers.js'
import type { ItemIdSchema, ListQuerySchema } from './parameters.js'
import { errorSchema, parameterErrorSchema } from './sharedSchemas.js'

/** A route with the parts of its request that the handler validates. The path is relative to the base path. */
type Route<Request> = Omit<RouteConfig, 'request'> & {
  readonly operationId: string
  readonly method: 'get' | 'post' | 'patch' | 'delete'
  readonly summary: string
  readonly tags: [area: string]
  readonly request: { readonly headers: z.ZodObject } & Request
}

type Body<Type extends string> = {
  readonly required: true
  readonly content: { readonly [Name in Type]: { schema: z.ZodObject; example?: unknown } }
}

export type Operation =
  | { readonly kind: 'index' | 'health'; readonly route: Route<object> }
  | { readonly kind: 'list'; readonly resource: Resource; readonly route: Route<{ query: ListQuerySchema }> }
  | { readonly kind: 'get'; readonly resource: Resource; readonly route: Route<{ params: ItemIdSchema }> }
  | { readonly kind: 'create'; readonly resource: Resource; readonly route: Route<{ body: Body<'application/json'> }> }
  | {
      readonly kind: 'update'
      readonly resource: Resource
      readonly route: Route<{ params: ItemIdSchema; body: Body<'application/merge-patch+json'> }>
    }
  | { readonly kind: 'delete'; readonly resource: Resource; readonly route: Route<{ params: ItemIdSchema }> }

export type OperationOf<Kind extends Operation['kind']> = Extract<Operation, { readonly kind: Kind }>

/** The content of a body. */
export const json = <Schema extends z.ZodType>(schema: Schema, example?: unknown) => ({
  'application/json': { schema, example },
})

/** Inline, because openapi-typescript makes every header that is a `$ref` mandatory. Every response has a request id. */
export const headers = (...names: readonly ResponseHeader[]) =>
  Object.fromEntries([...names, 'X-Request-Id' as const].map((name) => [name, responseHeaders[name]]))

const isDocumented = (name: string): name is ResponseHeader => name in responseHeaders

/** An error response, with the body that the service really sends as its example. */
export const errorResponse = (description: string, error: HttpError): ResponseConfig => ({
  description,
  headers: headers(...Object.keys(error.headers).filter(isDocumented)),
  content: json('detail' in error.body ? parameterErrorSchema : errorSchema, error.body),
})

/** The responses that every operation can have; `default` is any other error of the HTTP layer. */
export const commonResponses = {
  400: errorResponse('The request is not HTTP that this server accepts.', hostUnclear()),
  default: errorResponse('Any other error.', internalError()),
}

export const databaseDown = errorResponse('The database is not available; try again.', unavailable())

/** The responses that every read can have. */
export const readResponses = {
  ...commonResponses,
  304: { description: 'The current ETag is among those sent as `If-None-Match`.', headers: headers('ETag') },
  412: errorResponse('`If-Match` was sent and does not match the current ETag.', preconditionFailed()),
  503: databaseDown,
}
