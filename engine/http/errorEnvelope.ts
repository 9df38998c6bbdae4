/** Turns everything that middleware and handlers throw into an error response, and logs what was unexpected. */
import type { Middleware } from 'koa'
import type { Logger } from 'pino'
import {
  HttpError,
  internalError,
  middlewareError,
  outcomeUnknown,
  pathNotFound,
  readTimedOut,
  unavailable,
} from '../contract/errors.js'
import { OutcomeUnknown, TimedOut, Unavailable } from '../storage/storage.js'
import type { State } from './requestLog.js'

/** What `ctx.throw(429, 'Slow down')` throws. */
interface KoaError extends Error {
  readonly status?: number
  readonly expose?: boolean
  readonly headers?: Readonly<Record<string, string>>
}

const isErrorStatus = (status: unknown): status is number => Number(status) >= 400 && Number(status) <= 599

const httpErrorOf = (error: unknown): HttpError => {
  if (error instanceof HttpError) return error
  if (error instanceof TimedOut) return readTimedOut()
  if (error instanceof Unavailable) return unavailable()
  if (error instanceof OutcomeUnknown) return outcomeUnknown()
  const { status, expose, message, headers } = (error ?? {}) as KoaError
  return isErrorStatus(status) ? middlewareError(status, expose ? message : undefined, headers) : internalError()
}

const isExpected = (error: unknown): boolean =>
  error instanceof HttpError || (error as KoaError | null)?.expose === true

export const errorEnvelope =
  (logger: Logger): Middleware<State> =>
  async (ctx, next) => {
    try {
      await next()
      if (ctx.status === 404 && ctx.body === undefined) throw pathNotFound()
    } catch (error) {
      // A read that was dropped because its client has gone is not a failure.
      const isDropped = error instanceof TimedOut && ctx.res.closed
      if (!isExpected(error) && !isDropped)
        logger.error({ id: ctx.response.get('X-Request-Id'), err: error }, 'a request failed')
      const httpError = httpErrorOf(error)
      ctx.set(httpError.headers)
      ctx.status = httpError.status
      const page = ctx.state.errorHtml?.(httpError)
      if (page !== undefined) ctx.set('Content-Type', 'text/html; charset=utf-8')
      ctx.body = page ?? httpError.body
    }
    if (ctx.status >= 400) ctx.set('Cache-Control', 'no-store')
  }
