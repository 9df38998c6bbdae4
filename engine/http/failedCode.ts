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

/** What a response says of a row that its client may not have sent. */
const messageOf = ({ name }: Resource, { status, message }: errors.HttpError): string => {
  if (status === 404) return `There is no such ${name.toLowerCase()}.`
  return status === 409 ? `This ${name.toLowerCase()} cannot be deleted, because other rows reference it.` : message
}

/**
 * An error of the API as the code of a project gets it. Its message has no value that the code has chosen; `isService` says that the code
 * acted with rights that its caller may not have, who then learns nothing of other rows either.
 */
export const refusalOf = (resource: Resource, verb: string, error: unknown, isService = false): unknown => {
  if (!(error instanceof errors.HttpError)) return error
  const {
    code = '',
    message = '',
    details,
  } = (error.body as { error?: { code: string; message: string; details?: { issues?: readonly errors.Issue[] } } })
    .error ?? {}
  const { issues = [] } = details ?? {}
  if (error.status === 401) return new ApiError(401, code, message, undefined, { cause: error })
  if (error.status !== 422)
    return new ApiError(error.status, code, messageOf(resource, error), isService ? undefined : details)
  const isConflict = issues.every(({ type }) => type === 'unique' || type === 'reference')
  if (!isConflict || issues.length === 0) return new InvalidWrite(`${verb} of ${resource.path}`, issues)
  // Without the values and their places in a body that no client has sent.
  const conflicts = issues.map(({ type, loc }) => ({ resource: resource.path, field: String(loc.at(-1)), type }))
  const reasons = conflicts.map(({ field, type }) =>
    type === 'unique'
      ? `${field} must be unique; another row has this value`
      : `${field} must reference an existing row`,
  )
  return new ApiError(409, 'conflict', `${resource.path}: ${reasons.join('; ')}.`, { issues: conflicts })
}

/** An error that the code in a file has not caught, as the response has it. */
export const failureOf = (file: string, error: unknown): unknown => {
  if (error instanceof InvalidWrite) {
    const { write, issues } = error
    return Object.assign(new Error(`${file} failed`, { cause: error }), { file, write, issues })
  }
  if (isApiError(error)) {
    // With the headers that tell how to sign in.
    if (error.cause instanceof errors.HttpError) return error.cause
    // What is no JSON is an error of the code.
    JSON.stringify(error.details)
    return error
  }
  // Errors of other libraries may have a status and headers too.
  const isOther = Object(error) === error && !(error instanceof errors.HttpError) && 'status' in (error as object)
  return isOther ? new Error(`${file} failed`, { cause: error }) : error
}
