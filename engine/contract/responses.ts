/** The responses of operations as the documents describe them, with the bodies that the service really sends as their examples. */
import type { ResponseConfig } from '@asteasolutions/zod-to-openapi'
import type { z } from 'zod'
import type { Resource } from '../descriptor/registry.js'
import * as errors from './errors.js'
import { type ResponseHeader, responseHeaders } from './headers.js'
import { bodyLimit } from './rowBody.js'
import { errorSchema, parameterErrorSchema } from './schemas.js'

export const jsonContent = (schema: z.ZodType, example?: unknown) => ({ 'application/json': { schema, example } })

/** Inline, because openapi-typescript makes every header that is a `$ref` mandatory. Every response has a request id. */
export const headers = (...names: readonly ResponseHeader[]) =>
  Object.fromEntries([...names, 'X-Request-Id' as const].map((name) => [name, responseHeaders[name]]))

const isDocumented = (name: string): name is ResponseHeader => name in responseHeaders

/** An error response, with the body that the service really sends as its example. */
export const errorResponse = (description: string, error: errors.HttpError): ResponseConfig => ({
  description,
  headers: headers(...Object.keys(error.headers).filter(isDocumented)),
  content: jsonContent('detail' in error.body ? parameterErrorSchema : errorSchema, error.body),
})

export const success = (
  description: string,
  schema: z.ZodType,
  example?: unknown,
  ...names: readonly ResponseHeader[]
): ResponseConfig => ({ description, headers: headers(...names), content: jsonContent(schema, example) })

/** The responses that every operation can have; `default` is any other error of the HTTP layer. */
export const commonResponses = {
  400: errorResponse('The request is not HTTP that this server accepts.', errors.hostUnclear()),
  default: errorResponse('Any other error.', errors.internalError()),
}

export const databaseDown = errorResponse('The database is not available; try again.', errors.unavailable())

export const notRead = errorResponse(
  '`unavailable`: the database is not available, or the read took too long. `busy`: too many slow reads wait, so this one was not started.',
  errors.unavailable(),
)

export const readResponses = {
  ...commonResponses,
  304: { description: 'The current ETag is among those sent as `If-None-Match`.', headers: headers('ETag') },
  412: errorResponse('`If-Match` was sent and does not match the current ETag.', errors.preconditionFailed()),
  503: notRead,
}

export const responseErased = errorResponse(
  '`erased`: the request was carried out before, and its response is erased with the history of a row.',
  errors.responseErased(),
)

/** The responses of a write that was not made, or may not have been. An existing table takes no Idempotency-Key. */
export const writeResponses = ({ existing, history }: Pick<Resource, 'existing' | 'history'>) => ({
  ...commonResponses,
  ...(history && { 410: responseErased }),
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

export const tooLarge = errorResponse('The body is too large.', errors.payloadTooLarge(bodyLimit))

export const rowMissing = ({ name }: Resource) => errorResponse('No row has this id.', errors.rowNotFound(name, '0'))

export const changeResponses = (resource: Resource) => ({
  ...writeResponses(resource),
  404: rowMissing(resource),
  412: errorResponse('`If-Match` was sent and does not match the current ETag.', errors.preconditionFailed('"…"')),
})
