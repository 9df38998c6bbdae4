/** The error responses of the interface: the envelope with its codes, and the 422 of reads. */
import { STATUS_CODES } from 'node:http'
import { maxOtherRows } from '../descriptor/define.js'
import { shorten } from '../descriptor/violations.js'
import { basePath } from './service.js'

/** Every code of an envelope, with its meaning for the documents. A code never changes its meaning. */
export const errorCodes = {
  bad_request: 'the request is not HTTP that this server accepts (400, 408, 414, 431, 501, 505)',
  unauthorized: 'the write token is missing or wrong (401)',
  not_found: 'the path or the row does not exist (404)',
  method_not_allowed: 'the path does not support this method; see the `Allow` header (405)',
  referenced: 'other rows reference the row, so it cannot be deleted; see `error.details.references` (409)',
  precondition_failed: '`If-Match` does not match the current `ETag` (412)',
  payload_too_large: 'the body is too large (413)',
  validation_error: 'the write is invalid; see `error.details.issues` (422)',
  internal_error: 'unexpected error; report it with the `X-Request-Id` of the response (500)',
  not_supported: 'the service cannot do this for the resource (501)',
  writes_disabled: 'no write token is configured, or the database does not let this deployment write (503)',
  unavailable: 'the database is not available, or a read took too long; a write was not stored; try again (503)',
  busy: 'too many slow reads wait, so this one was not started; try again after `Retry-After` (503)',
  outcome_unknown: 'the commit was cut off; the row may or may not have been stored, so do not just try again (503)',
} as const

/** One error of a request; the order of the keys is part of the contract. Only parameters have `input`. */
export interface Issue {
  readonly type: string
  /** `body`, `query`, `path` or `header`, and the name. */
  readonly loc: readonly (string | number)[]
  readonly msg: string
  /** Where the row of an import begins, from 1. */
  readonly line?: number
  readonly input?: string
  readonly ctx?: Readonly<Record<string, unknown>>
}

type ResponseHeaders = Readonly<Record<string, string>>

export class HttpError extends Error {
  readonly status: number
  readonly body: object
  readonly headers: ResponseHeaders

  constructor(status: number, message: string, body: object, headers: ResponseHeaders = {}) {
    super(message)
    this.status = status
    this.body = body
    this.headers = headers
  }

  get code(): string | undefined {
    return (this.body as { error?: { code: string } }).error?.code
  }
}

const httpError = (
  status: number,
  // What not every service has, or depends on the caller, is documented where it applies.
  code: keyof typeof errorCodes | 'forbidden' | 'erased' | 'resync',
  message: string,
  headers?: ResponseHeaders,
  details?: object,
) => new HttpError(status, message, { error: { code, message, details } }, headers)

/** A token or key that is missing, or wrong; the realm names what it protects, not the host. */
const unauthorized = (realm: 'writes' | 'api', message: string, isWrong = false): HttpError =>
  httpError(401, 'unauthorized', message, {
    'WWW-Authenticate': `Bearer realm="${realm}"${isWrong ? ', error="invalid_token"' : ''}`,
  })

export const tokenMissing = (): HttpError =>
  unauthorized('writes', 'This operation requires the write token: send "Authorization: Bearer <API_TOKEN>".')

export const tokenWrong = (): HttpError =>
  unauthorized('writes', 'The bearer token is not the write token of this deployment.', true)

export const callerMissing = (): HttpError =>
  unauthorized('api', 'This operation requires a key or token: send "Authorization: Bearer <key>".')

export const callerUnknown = (): HttpError =>
  unauthorized('api', 'The key or token is not known, is wrong, or has expired.', true)

/** A token whose subject is the name of the caller with the write token. */
export const callerReserved = (name = 'API_TOKEN'): HttpError =>
  unauthorized('api', `A token cannot have the subject "${name}", which is the name of the write token.`, true)

export const forbidden = (): HttpError =>
  httpError(403, 'forbidden', 'Your key or token does not allow this operation.')

export const rowForbidden = (): HttpError =>
  httpError(403, 'forbidden', 'Your key or token does not allow this operation for such a row. Nothing was stored.')

export const writesDisabled = (reason = 'no write token (API_TOKEN) is configured'): HttpError =>
  httpError(503, 'writes_disabled', `Writes are disabled: ${reason}.`)

/** Only for requests that stored nothing. */
export const unavailable = (message = 'The database is not available. Try again shortly.'): HttpError =>
  httpError(503, 'unavailable', message, { 'Retry-After': '1' })

export const notStored = (): HttpError =>
  unavailable('The database is not available. Nothing was stored; try again shortly.')

export const busy = (seconds = 1): HttpError =>
  httpError(503, 'busy', 'Too many slow reads are waiting, so this one was not started. Try again later.', {
    'Retry-After': String(seconds),
  })

/** Of a write that found no turn. */
export const writeBusy = (): HttpError =>
  httpError(503, 'busy', 'Other requests came first for too long. Nothing was stored; try again later.', {
    'Retry-After': '1',
  })

export const tableChanged = (tables: readonly string[] = []): HttpError => {
  const which = tables.length === 0 ? 'The table of this resource' : `A table (${tables.join(', ')})`
  return unavailable(`${which} was changed while the service ran; the service must be restarted.`)
}

/**
 * Only for a commit that was cut off; the outcome of every other create is known. Without Retry-After: a client that retries by itself
 * could store the row twice.
 */
export const outcomeUnknown = (): HttpError =>
  httpError(
    503,
    'outcome_unknown',
    'The commit was cut off: the row may or may not have been stored. Retry with the same Idempotency-Key; if you sent none, check first whether the row exists.',
  )

/** A request that is not valid HTTP. The connection closes: nothing that follows on it can be trusted. */
export const badRequest = (status: 400 | 408 | 414 | 431 | 501 | 505, message: string): HttpError =>
  httpError(status, 'bad_request', message, { Connection: 'close' })

export const hostUnclear = (): HttpError =>
  badRequest(400, 'A request must have exactly one Host header, with a valid host name or address.')

export const rowNotFound = (resource: string, id: string): HttpError =>
  httpError(404, 'not_found', `There is no ${resource.toLowerCase()} with id "${shorten(id)}".`)

export const pathNotFound = (): HttpError =>
  httpError(404, 'not_found', `There is nothing at this path. GET ${basePath} lists every resource.`)

export const methodNotAllowed = (method: string, allow: string, headers?: ResponseHeaders): HttpError =>
  httpError(405, 'method_not_allowed', `${method} is not allowed on this path. Allowed: ${allow}.`, {
    Allow: allow,
    ...headers,
  })

/** Of somebody who follows changes. */
export const resync = (): HttpError =>
  httpError(
    410,
    'resync',
    'What has changed since this cursor cannot be told any more, or your rights have changed: take a new cursor, read the list again, and go on from there.',
  )

export const preconditionFailed = (etag?: string): HttpError =>
  httpError(
    412,
    'precondition_failed',
    'If-Match does not match the current ETag; read again without If-Match.',
    etag === undefined ? {} : { ETag: etag },
  )

/** Rows that reference the row of a delete, or one that would be deleted with it, as far as the caller may read them. */
export const referenced = (
  singular: string,
  referencing: readonly {
    readonly resource: string
    readonly field: string
    readonly count: number
    readonly onDelete?: string
  }[],
  isTooMany = false,
): HttpError => {
  const restricting = referencing.filter(({ onDelete = 'restrict' }) => onDelete === 'restrict')
  const isOverLimit = isTooMany && restricting.length === 0
  const references = (isOverLimit ? referencing : restricting).map(({ resource, field, count }) => ({
    resource,
    field,
    count,
  }))
  const rows = references.map(({ resource, field, count }) => `${count} of ${resource} (${field})`).join(', ')
  const reason = isOverLimit
    ? `a delete may remove or change at most ${maxOtherRows} other rows, and more reference it`
    : 'other rows reference it'
  const message = `This ${singular.toLowerCase()} cannot be deleted, because ${reason}${rows && `: ${rows}`}. Change or delete these first.`
  return httpError(409, 'referenced', message, {}, { references })
}

export const payloadTooLarge = (limit: number): HttpError =>
  httpError(413, 'payload_too_large', `The body exceeds the limit of ${limit} bytes.`)

export const tooManyRows = (limit: number): HttpError =>
  httpError(413, 'payload_too_large', `The body has more than ${limit} rows; send them in several requests.`)

/** Where no keys can be stored, a retry would not be recognised. */
export const keysNotSupported = (): HttpError =>
  httpError(
    501,
    'not_supported',
    'This resource takes no Idempotency-Key, because the service may store none beside its table. Send the request without it.',
  )

export const keyNotTaken = (): HttpError =>
  httpError(501, 'not_supported', 'This operation takes no Idempotency-Key. Send the request without it.')

/** Of a custom operation, or a write with hooks. */
export const transactionTooLong = (): HttpError =>
  unavailable('The operation took too long. Nothing was stored; try again later.')

/** An error that a custom operation has thrown. */
export const ownError = (status: number, code: string, message: string, details?: object): HttpError =>
  new HttpError(status, message, { error: { code, message, details } })

export const internalError = (): HttpError =>
  httpError(500, 'internal_error', 'Unexpected error. Report it with the X-Request-Id of this response.')

/** Of a retry whose first response cannot be returned, because values in it were erased since. */
export const responseErased = (): HttpError =>
  httpError(410, 'erased', 'This request was carried out before, and its response is erased. Nothing was done again.')

export const maxIssues = 100

/** The issues of a body, or the first of so many. */
export const bodyInvalid = (issues: readonly Issue[], total?: number): HttpError => {
  const firstMessage = issues[0]?.msg ?? 'The body is invalid.'
  const count = total ?? issues.length
  const end = /[.!?]$/.test(firstMessage) ? '' : '.'
  const message = count > 1 ? `${firstMessage}${end} ${count} errors; see error.details.issues.` : firstMessage
  const details = { issues: issues.slice(0, maxIssues), ...(total !== undefined && { total }) }
  return httpError(422, 'validation_error', message, {}, details)
}

export const parametersInvalid = (detail: readonly Issue[]): HttpError =>
  new HttpError(422, 'invalid parameters', { detail })

/** Only of a page, where people sign in. */
export const tooManyAttempts = (): HttpError => middlewareError(429, 'Too many attempts. Wait a minute, and try again.')

/** An error that a deployment's own middleware threw; its code is the name of its status, as in `too_many_requests`. */
export const middlewareError = (status: number, thrownMessage?: string, headers?: ResponseHeaders): HttpError => {
  const name = STATUS_CODES[status] ?? `Status ${status}`
  const code = name.toLowerCase().replaceAll(/\W+/g, '_')
  const message = thrownMessage ?? name
  return new HttpError(status, message, { error: { code, message } }, headers)
}
