/** An operation as data: everything the router and the documents need to know about one. */
import type { z } from 'zod'
import type { Resource } from '../descriptor/registry.js'
import { type HttpError, hostUnclear, internalError, preconditionFailed, unavailable } from './errors.js'
import { type ResponseHeader, responseHeaders } from './headers.js'
import type { ItemIdSchema, ListQuerySchema } from './parameters.js'
import { errorSchema, parameterErrorSchema } from './sharedSchemas.js'

export interface ResponseSpec {
  readonly description: string
  /** Missing where there is no body. */
  readonly schema?: z.ZodType
  readonly example?: unknown
  /** Besides `X-Request-Id`, which every response has. */
  readonly headers?: readonly ResponseHeader[]
}

interface OperationSpec {
  readonly id: string
  /** Relative to the base path, with parameters in braces. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  readonly headers: z.ZodObject
  /** By status; besides those of `commonResponses`. */
  readonly responses: Readonly<Record<number, ResponseSpec>>
}

/** The schemas of the requests are also those that validate them. */
export type Operation = OperationSpec &
  (
    | { readonly kind: 'index' | 'health' }
    | { readonly kind: 'list'; readonly resource: Resource; readonly query: ListQuerySchema }
    | { readonly kind: 'get'; readonly resource: Resource; readonly pathParameters: ItemIdSchema }
    | {
        readonly kind: 'create'
        readonly resource: Resource
        readonly body: { readonly schema: z.ZodObject; readonly example: unknown }
      }
  )

export type OperationOf<Kind extends Operation['kind']> = Extract<Operation, { readonly kind: Kind }>

export const methodOf = ({ kind }: Operation): 'get' | 'post' => (kind === 'create' ? 'post' : 'get')

const isDocumented = (name: string): name is ResponseHeader => name in responseHeaders

/** An error response, with the body that the service really sends as its example. */
export const errorResponse = (description: string, { body, headers }: HttpError): ResponseSpec => ({
  description,
  schema: 'detail' in body ? parameterErrorSchema : errorSchema,
  example: body,
  headers: Object.keys(headers).filter(isDocumented),
})

/** The responses that every operation can have; `default` is any other error of the HTTP layer. */
export const commonResponses = {
  400: errorResponse('The request is not HTTP that this server accepts.', hostUnclear()),
  default: errorResponse('Any other error.', internalError()),
}

export const databaseDown = errorResponse('The database is not available; try again.', unavailable())

/** The responses to the conditional requests that every read supports. */
export const conditionalResponses = {
  304: { description: 'The current ETag is among those sent as `If-None-Match`.', headers: ['ETag'] },
  412: errorResponse('`If-Match` was sent and does not match the current ETag.', preconditionFailed()),
} satisfies Record<number, ResponseSpec>
