/** An operation as data: everything that the router and the documents need. */
import type { z } from 'zod'
import type { Resource } from '../descriptor/registry.js'
import { type HttpError, hostUnclear, internalError, preconditionFailed, unavailable } from './errors.js'
import type { ResponseHeader } from './headers.js'
import { errorSchema } from './sharedSchemas.js'

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
  readonly method: 'get' | 'post'
  /** Relative to the base path, with parameters in braces. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  readonly pathParameters?: z.ZodObject
  readonly query?: z.ZodObject
  readonly headers: z.ZodObject
  readonly body?: { readonly schema: z.ZodType; readonly example: unknown }
  readonly secured: boolean
  /** By status; `default` is any other error of the HTTP layer. */
  readonly responses: Readonly<Record<string, ResponseSpec>>
}

export type Operation = OperationSpec &
  ({ readonly kind: 'index' | 'health' } | { readonly kind: 'list' | 'get' | 'create'; readonly resource: Resource })

/** An error response, with the body that the service really sends as its example. */
export const errorResponse = (
  description: string,
  { body }: HttpError,
  { schema = errorSchema, headers = [] }: Pick<ResponseSpec, 'schema' | 'headers'> = {},
): ResponseSpec => ({ description, schema, example: body, headers })

/** The responses that every operation can have. */
export const commonResponses = {
  400: errorResponse('The request is not HTTP that this server accepts.', hostUnclear()),
  default: errorResponse('Any other error.', internalError()),
} satisfies Record<string, ResponseSpec>

export const databaseDown = errorResponse('The database is not available; try again.', unavailable(), {
  headers: ['Retry-After'],
})

/** The responses to the conditional requests that every read supports. */
export const conditionalResponses = {
  304: { description: 'The current ETag is among those sent as `If-None-Match`.', headers: ['ETag'] },
  412: errorResponse('`If-Match` was sent and does not match the current ETag.', preconditionFailed()),
} satisfies Record<string, ResponseSpec>
