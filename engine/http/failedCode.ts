/** What code of a project gets when a write is refused, and what becomes of an error that it throws. */
import * as errors from '../contract/errors.js'
import { ApiError, isApiError } from '../descriptor/operation.js'
import type { Resource } from '../descriptor/registry.js'

/** A write whose values are wrong: an error of the code, unless the code expects it. */
class InvalidWrite extends ApiError {
  readonly issues: readonly errors.Issue[]
  readonly write: string

  constructor(write: string, issues: readonly errors.Issue[]) {
    const reasons = issues.map(({ msg }) => msg).join(' ')
    super(422, 'validation_error', `The ${write} is invalid. ${reasons}`, { issues })
    this.issues = issues
    this.write = write
  }
}

/** An error of the API as the code of a project gets it. */
export const refusalOf = (resource: Resource, verb: string, error: unknown): unknown => {
  if (!(error instanceof errors.HttpError)) return error
  const {
    code = '',
    message = '',
    details,
  } = (error.body as { error?: { code: string; message: string; details?: { issues?: readonly errors.Issue[] } } })
    .error ?? {}
  const { issues = [] } = details ?? {}
  if (error.status !== 422) return new ApiError(error.status, code, message, details, { cause: error })
  const isConflict = issues.every(({ type }) => type === 'unique' || type === 'reference')
  if (!isConflict || issues.length === 0) return new InvalidWrite(`${verb} of ${resource.path}`, issues)
  // Without the place in a body that no client has sent.
  const conflicts = issues.map(({ type, loc }) => ({ resource: resource.path, field: String(loc.at(-1)), type }))
  return new ApiError(409, 'conflict', message, { issues: conflicts })
}

/** An error that the code in a file has not caught, as the response has it. */
export const failureOf = (file: string, error: unknown): unknown => {
  if (error instanceof InvalidWrite) {
    const { write, issues } = error
    return Object.assign(new Error(`${file}: ${error.message}`, { cause: error }), { file, write, issues })
  }
  if (isApiError(error)) {
    // Of a refused write, the response that its client would get, with its headers.
    if (error.cause instanceof errors.HttpError) return error.cause
    // What is no JSON is an error of the code.
    JSON.stringify(error.details)
    return error
  }
  // Errors of other libraries may have a status and headers too.
  const isOther = Object(error) === error && !(error instanceof errors.HttpError) && 'status' in (error as object)
  return isOther ? new Error(`${file} failed`, { cause: error }) : error
}
