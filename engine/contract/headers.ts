/** The request and response headers that clients use, as the documents describe them; `Idempotency-Key` makes a create safe to retry. */
import { z } from 'zod'
import type { Issue } from './errors.js'

const keyHeader = 'Idempotency-Key'
export const replayedHeader = 'Idempotency-Replayed'

/** Visible ASCII only, so that every proxy passes a key on unchanged. */
export const idempotencyKey = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[!-~]+$/)
  .meta({
    description:
      'A unique key of your choice, such as a UUID. Retrying with the same key and body within 24 hours stores nothing and returns the first response; the same key with another body or path is refused with 422.',
  })

const keyIssue = (type: string, msg: string): Issue => ({ type, loc: ['header', keyHeader], msg })

export const invalidKeyIssue = (key: string): Issue | undefined =>
  idempotencyKey.safeParse(key).success
    ? undefined
    : keyIssue('idempotency_key', `${keyHeader} must be 1 to 255 visible ASCII characters, without spaces.`)

export const keyReused = (): Issue =>
  keyIssue(
    'idempotency_key_reused',
    `This ${keyHeader} was used for a different request within the last 24 hours; use a new key.`,
  )

// No header has an example: Swagger UI would fill it in and send it.

/** A refinement and not a pattern: the documents allow every string, because an invalid id is replaced, not refused. */
export const requestId = z
  .string()
  .refine((id) => /^[!-~]{1,128}$/.test(id))
  .optional()
  .meta({
    description:
      'Id of this request for the log and the response: 1 to 128 visible ASCII characters. Any other value is replaced by a generated id.',
  })
const optional = (description: string) => z.string().optional().meta({ description })

const ifNoneMatch = optional(
  'One or more ETags, each in quotes. The response is 304 without a body if the current ETag is among them.',
)
const ifMatch = optional(
  'The ETag of the row that was read. The response is 412, and nothing changes, if the row has another one by now.',
)

export const requestHeaders = {
  system: z.object({ 'X-Request-Id': requestId }),
  read: z.object({ 'If-None-Match': ifNoneMatch, 'X-Request-Id': requestId }),
  create: z.object({ [keyHeader]: idempotencyKey.optional(), 'X-Request-Id': requestId }),
  change: z.object({ [keyHeader]: idempotencyKey.optional(), 'X-Request-Id': requestId, 'If-Match': ifMatch }),
  /** No key can be stored beside an existing table. */
  changeExisting: z.object({ 'X-Request-Id': requestId, 'If-Match': ifMatch }),
}

const header = (description: string, type: 'string' | 'integer' = 'string') => ({
  description,
  required: false,
  schema: { type },
})
const always = (description: string) => ({ ...header(description), required: true })

export const responseHeaders = {
  ETag: header(
    'Of a row, changes with the row; of a page, with its table. Send it back as `If-None-Match`, and that of a row as `If-Match` where it can be changed. Pages of more than 4 MB have none.',
  ),
  [replayedHeader]: header('`true` if an earlier request with the same `Idempotency-Key` stored the row.'),
  Link: header(
    'Of a list with more rows: the path of the next page, `rel="next"`, and of the first one, `rel="first"`. Following `next` never skips or repeats a row that stays.',
  ),
  Location: always('Path of the new row.'),
  'Content-Location': always('Path of the row.'),
  'Retry-After': header(
    'Seconds to wait before retrying. Sent with `unavailable` and `busy`, not with `writes_disabled`.',
    'integer',
  ),
  'WWW-Authenticate': always('`Bearer realm="writes"`, with `error="invalid_token"` if a token was sent.'),
  'X-Request-Id': always('Id of this request in the log: the one that was sent, or a generated one.'),
}

export type ResponseHeader = keyof typeof responseHeaders
