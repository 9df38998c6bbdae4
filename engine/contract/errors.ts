/** The two error shapes of the interface, and the code that goes with each status. */
import { STATUS_CODES } from 'node:http'

/** Every code an envelope can carry; a code is never reused for another meaning. */
export type ErrorCode =
  | 'unauthorized'
  | 'writes_disabled'
  | 'validation_error'
  | 'not_found'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'precondition_failed'
  | 'bad_request'
  | 'unavailable'
  | 'internal_error'

/** One fault of a create body. */
export interface BodyIssue {
  readonly type: string
  readonly loc: readonly (string | number)[]
  readonly msg: string
}

/** One fault of a query or path parameter; the order of the keys is part of the contract. */
export interface ParameterIssue {
  readonly type: string
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly input: string
  readonly ctx?: Readonly<Record<string, number>>
}

/** An answer other than success: what the handlers throw and the app turns into a response. */
export class HttpError extends Error {
  readonly status: number
  readonly body: object
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, body: object, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.body = body
    this.headers = headers
  }
}

/** The envelope `{ error: { code, message, details? } }`. */
export const envelope = (code: ErrorCode, message: string, details?: object): object => ({
  error: details === undefined ? { code, message } : { code, message, details },
})

const refusal = (
  status: number,
  code: ErrorCode,
  message: string,
  headers?: Record<string, string>,
  details?: object,
) => new HttpError(status, message, envelope(code, message, details), headers)

/** The realm names what the token is for, not the host it is sent to. */
const challenge = 'Bearer realm="writes"'

export const tokenMissing = (): HttpError =>
  refusal(401, 'unauthorized', 'This operation needs the write token, sent as "Authorization: Bearer <API_TOKEN>".', {
    'WWW-Authenticate': challenge,
  })

export const tokenWrong = (): HttpError =>
  refusal(401, 'unauthorized', 'The token sent is not the write token of this deployment.', {
    'WWW-Authenticate': `${challenge}, error="invalid_token"`,
  })

export const writesDisabled = (): HttpError =>
  refusal(503, 'writes_disabled', 'Writes are disabled: this deployment has no write token configured (API_TOKEN).')

export const unavailable = (message = 'The database does not answer at the moment; try again shortly.'): HttpError =>
  refusal(503, 'unavailable', message, { 'Retry-After': '1' })

/** A request that is not valid HTTP. The connection closes: nothing that follows on it can be trusted. */
export const badRequest = (status: 400 | 408 | 414 | 431 | 501 | 505, message: string): HttpError =>
  refusal(status, 'bad_request', message, { Connection: 'close' })

export const hostUnclear = (): HttpError =>
  badRequest(400, 'The request needs exactly one Host header with a valid host name or address.')

export const rowNotFound = (resource: string, id: string): HttpError =>
  refusal(
    404,
    'not_found',
    `There is no ${resource.toLowerCase()} with the id "${id.length > 60 ? `${id.slice(0, 60)}…` : id}".`,
  )

export const pathNotFound = (): HttpError =>
  refusal(404, 'not_found', 'There is nothing at this path; the index at /api lists every path there is.')

export const methodNotAllowed = (method: string, allow: string): HttpError =>
  refusal(405, 'method_not_allowed', `${method} is not allowed here; this path takes ${allow}.`, { Allow: allow })

export const payloadTooLarge = (limit: number): HttpError =>
  refusal(413, 'payload_too_large', `The body is larger than the ${limit} bytes that a create may bring.`)

export const preconditionFailed = (): HttpError =>
  refusal(412, 'precondition_failed', 'If-Match does not name the current ETag; read the resource again.')

export const internalError = (): HttpError =>
  refusal(500, 'internal_error', 'Something went wrong on our side; the request can be tried again.')

/** The most faults one answer lists: past that a body was not mistyped but made. */
export const mostIssues = 100

/** A refused create body, with every fault it has. */
export const bodyInvalid = (issues: readonly BodyIssue[]): HttpError => {
  const [first] = issues
  const rest = issues.length > 1 ? ` Faults in all: ${issues.length}, listed in error.details.issues.` : ''
  return refusal(
    422,
    'validation_error',
    `${first?.msg ?? 'The body is not valid.'}${rest}`,
    {},
    {
      issues: issues.slice(0, mostIssues),
    },
  )
}

/** Refused query or path parameters, with every fault they have. */
export const parametersInvalid = (detail: readonly ParameterIssue[]): HttpError =>
  new HttpError(422, 'invalid parameters', { detail })

/** An error that a deployment's own middleware threw; its code is the name of its status, as in `too_many_requests`. */
export const middlewareError = (
  status: number,
  message = STATUS_CODES[status] ?? 'Unknown error',
  headers: Readonly<Record<string, string>> = {},
): HttpError => {
  const code = (STATUS_CODES[status] ?? `status ${status}`).toLowerCase().replaceAll(/\W+/g, '_')
  return new HttpError(status, message, { error: { code, message } }, headers)
}
