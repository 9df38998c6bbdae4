/** What every response has: the common headers, and the error envelope for what middleware and handlers throw. Logs what is not the client's fault. */
import type { Context, Middleware } from 'koa'
import type { Logger } from 'pino'
import * as errors from '../contract/errors.js'
import { responseHeaders } from '../contract/headers.js'
import { isApiError } from '../descriptor/operation.js'
import {
  Busy,
  Locked,
  OutcomeUnknown,
  TableChanged,
  TimedOut,
  TransactionTimedOut,
  Unavailable,
  WritesForbidden,
} from '../storage/failures.js'
import { type Reason, reasons, type State } from './requestLog.js'

const policy = ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"]

/** `directives` are the parts of the policy in which pages differ. */
export const pageHeaders = (...directives: readonly string[]) => ({
  'Content-Security-Policy': [...policy, ...directives, "base-uri 'none'", "frame-ancestors 'none'"].join('; '),
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
})

/**
 * Responses are data: they load nothing, may not be framed or sniffed, and any page may read them, because reads are
 * public and no browser sends the write token by itself. Each further header costs half a microsecond, so those that only
 * concern pages are set on the docs page alone. HSTS belongs to the proxy that terminates TLS.
 */
export const commonHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': ['Server-Timing', ...Object.keys(responseHeaders)].join(', '),
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
}

const commonEntries = Object.entries(commonHeaders)

export const setCommonHeaders: Middleware = (ctx, next) => {
  for (const [name, value] of commonEntries) ctx.res.setHeader(name, value)
  return next()
}

export const preflightHeaders = (allow: string): Record<string, string> => ({
  'Access-Control-Allow-Methods': allow,
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Request-Id, traceparent',
  'Access-Control-Max-Age': '86400',
})

/** An outage has ended if a request succeeds and none has failed for this long, in milliseconds. */
const calmMs = 2_000

export const outageLog = (logger: Logger) => {
  const [reasons, times] = [new Set<string>(), { first: 0, last: 0 }]
  let failed = 0
  return {
    failed(id: string, { message: reason }: Error): void {
      times.last = performance.now()
      if (failed++ === 0) {
        times.first = times.last
        const message = `The database is not available: ${reason}. Failed requests are counted until it recovers.`
        logger.error({ id, reason }, message)
      }
      if (reasons.size < 10) reasons.add(reason)
    },
    succeeded(): void {
      if (failed === 0 || performance.now() - times.last < calmMs) return
      const seconds = Math.round((times.last - times.first) / 100) / 10
      const requests = failed === 1 ? '1 request' : `${failed} requests`
      const message = `The database is available again: ${requests} failed within ${seconds} s.`
      logger.warn({ failed, seconds, reasons: [...reasons] }, message)
      reasons.clear()
      failed = 0
    },
  }
}

type OutageLog = ReturnType<typeof outageLog>

/** What `ctx.throw(429, 'Slow down')` throws. */
interface KoaError extends Error {
  readonly status?: number
  readonly expose?: boolean
  readonly headers?: Readonly<Record<string, string>>
}

const isErrorStatus = (status: unknown): status is number =>
  Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599

const toHttpError = (error: unknown, isRead: boolean): errors.HttpError => {
  if (error instanceof errors.HttpError) return error
  if (isApiError(error) && isErrorStatus(error.status))
    return errors.ownError(error.status, error.code, error.message, error.details)
  if (error instanceof Busy) return isRead ? errors.busy() : errors.writeBusy()
  if (error instanceof TimedOut)
    return errors.unavailable('The read exceeded its time limit. Narrow the query, or try again.')
  if (error instanceof TransactionTimedOut) return errors.transactionTooLong()
  if (error instanceof TableChanged) return errors.tableChanged()
  if (error instanceof Unavailable) return isRead ? errors.unavailable() : errors.notStored()
  if (error instanceof OutcomeUnknown) return errors.outcomeUnknown()
  if (error instanceof WritesForbidden) return errors.writesDisabled('the database does not let this deployment write')
  const { status, expose, message, headers } = (error ?? {}) as KoaError
  return isErrorStatus(status)
    ? errors.middlewareError(status, expose ? message : undefined, headers)
    : errors.internalError()
}

/** By the code of the database or of the file system, because a server may write its messages in any language. */
const isDiskFull = (error: unknown): boolean => {
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  return /^(?:53100|SQLITE_FULL|ENOSPC)$/.test(String(code)) || (cause instanceof Error && isDiskFull(cause))
}

const reasonFor = (error: unknown, { code }: errors.HttpError): Reason => {
  if (error instanceof TimedOut || error instanceof TransactionTimedOut) return 'timeout'
  if (error instanceof TableChanged) return 'table_changed'
  if (error instanceof Locked) return 'locked'
  if (isDiskFull(error)) return 'disk_full'
  // The storage has no part in it: too many downloads.
  if (error instanceof errors.HttpError && code === 'unavailable') return 'busy'
  return reasons.find((reason) => reason === code) ?? 'unavailable'
}

const isExpected = (error: unknown): boolean =>
  error instanceof errors.HttpError ||
  (isApiError(error) && isErrorStatus(error.status)) ||
  error instanceof TableChanged ||
  error instanceof Busy ||
  (error as KoaError | null)?.expose === true

const logError = (ctx: Context, error: unknown, logger: Logger, outages: OutageLog): void => {
  const id = ctx.response.get('X-Request-Id')
  if (error instanceof TimedOut) {
    // A read that was dropped because its client has gone is not a failure.
    if (!ctx.res.closed) logger.warn({ id, reason: error.message }, 'a read exceeded its time limit')
  } else if (error instanceof TransactionTimedOut) {
    logger.warn({ id, reason: error.message }, 'a transaction exceeded its time limit')
  } else if (error instanceof Locked) {
    logger.warn({ id, reason: error.message }, 'another program holds a lock')
  } else if (error instanceof WritesForbidden) {
    logger.error({ id, reason: error.message }, 'the database does not let this service write')
  } else if (error instanceof Unavailable || error instanceof OutcomeUnknown) outages.failed(id, error)
  else logger.error({ id, err: error }, 'a request failed')
}

export const errorEnvelope =
  (logger: Logger, outages: OutageLog): Middleware<State> =>
  async (ctx, next) => {
    ctx.state.failed = (error) => {
      if (!isExpected(error)) logError(ctx, error, logger, outages)
      const httpError = toHttpError(error, ctx.method === 'GET' || ctx.method === 'HEAD')
      if (httpError.status === 503) ctx.state.reason = reasonFor(error, httpError)
      return httpError
    }
    try {
      await next()
      if (ctx.status === 404 && ctx.body === undefined) throw errors.pathNotFound()
      if (ctx.state.usedDatabase) outages.succeeded()
    } catch (error) {
      const httpError = ctx.state.failed(error)
      ctx.set(httpError.headers)
      ctx.status = httpError.status
      const page = ctx.state.errorHtml?.(httpError)
      if (page !== undefined) ctx.set('Content-Type', 'text/html; charset=utf-8')
      ctx.body = page ?? httpError.body
    }
    if (ctx.status < 400) return
    const { isPrivate, session } = ctx.state
    ctx.set('Cache-Control', isPrivate || session ? 'private, no-store' : 'no-store')
    if (isPrivate) ctx.vary('Authorization')
    if (session) ctx.vary('Cookie')
  }
