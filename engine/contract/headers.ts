/** The request and response headers that clients use, as the documents describe them. */
import { z } from 'zod'
import { idempotencyKey, keyHeader, replayedHeader } from './idempotency.js'

/** A request id that a client may choose; any other is replaced. */
export const requestIdGrammar = /^[\x21-\x7e]{1,128}$/

// No header has an example: Swagger UI would fill it in and send it.
const requestId = z.string().optional().meta({
  description:
    'Id of this request for the log and the response: 1 to 128 visible ASCII characters. Any other value is replaced by a generated id.',
})
const ifNoneMatch = z.string().optional().meta({
  description:
    'One or more ETags, each in quotes. The response is 304 without a body if the current ETag is among them.',
})

/** The request headers, by the kind of operation that reads them. */
export const systemHeaders = z.object({ 'X-Request-Id': requestId })
export const readHeaders = z.object({ 'If-None-Match': ifNoneMatch, 'X-Request-Id': requestId })
export const createHeaders = z.object({ [keyHeader]: idempotencyKey.optional(), 'X-Request-Id': requestId })

/** The response headers, by name. */
export const responseHeaders = {
  ETag: {
    description:
      'Changes whenever the table changes. Send it back as `If-None-Match`. Pages of more than 4 MB have none.',
    required: false,
    schema: { type: 'string' },
  },
  [replayedHeader]: {
    description: '`true` if an earlier request with the same `Idempotency-Key` stored the row.',
    required: false,
    schema: { type: 'string' },
  },
  Location: { description: 'Path of the new row.', required: true, schema: { type: 'string' } },
  'Retry-After': {
    description: 'Seconds to wait before retrying. Sent with `unavailable`, not with `writes_disabled`.',
    required: false,
    schema: { type: 'integer' },
  },
  'WWW-Authenticate': {
    description: '`Bearer realm="writes"`, with `error="invalid_token"` if a token was sent.',
    required: true,
    schema: { type: 'string' },
  },
  'X-Request-Id': {
    description: 'Id of this request in the log: the one that was sent, or a generated one.',
    required: true,
    schema: { type: 'string' },
  },
} as const

export type ResponseHeader = keyof typeof responseHeaders
