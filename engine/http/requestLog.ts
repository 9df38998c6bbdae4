/** Request id, trace context, Server-Timing and one log line per request. */

import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { Middleware, ParameterizedContext } from 'koa'
import type { Logger } from 'pino'
import type { HttpError } from '../contract/errors.js'
import { replayedHeader, requestId } from '../contract/headers.js'
import type { Identity } from '../descriptor/access.js'
import { batchPerTick } from '../process/batchPerTick.js'

/** Entered only if the debug log is on: it costs every request some microseconds. */
export const currentRequest = new AsyncLocalStorage<string>()

/** Version, trace id, parent id and flags; only versions after 00 may have more. */
const format = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-[!-~]*)?$/

/** The ids by which tracing tools find the trace and the caller's span; undefined if its header is not valid, so that it is ignored as the standard asks. */
export const parseTrace = ({ headers }: Pick<IncomingMessage, 'headers'>) => {
  const { traceparent } = headers
  if (traceparent === undefined) return undefined
  const [, version, traceId = '', parentId = '', more] = format.exec(String(traceparent)) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  return /^0+$/.test(traceId) || /^0+$/.test(parentId) ? undefined : { traceId, parentId }
}

/** Why a response is 503, for the log and the metrics. */
export const reasons = [
  'unavailable',
  'timeout',
  'busy',
  'locked',
  'disk_full',
  'table_changed',
  'outcome_unknown',
  'writes_disabled',
] as const
export type Reason = (typeof reasons)[number]

export interface State {
  /** The times at which a read was parsed and its query finished, in milliseconds, for Server-Timing. */
  parsed?: number
  queried?: number
  usedDatabase?: boolean
  streamedBytes?: number
  /** Renders an error as a page, for requests of the explorer; others get the envelope. */
  errorHtml?: (error: HttpError) => string
  /** Logs what was thrown, if it is not the client's fault, and makes it an error response. */
  failed?: (error: unknown) => HttpError
  /** Why the response is 503. */
  reason?: Reason
  /** Who has signed in to the explorer, for its own requests. */
  session?: Identity
  /** The name of the caller with a key or token. */
  caller?: string | undefined
  /** Whether the response depends on who sent the request. */
  isPrivate?: boolean
}

export type AppContext = ParameterizedContext<State>

export interface RequestLog {
  readonly id: string
  readonly method: string
  /** Without the query string, whose values may be private. */
  readonly path: string
  /** The operation's name in the OpenAPI document; `none` where no operation ran. */
  readonly operation: string
  readonly status: number
  readonly bytes: number
  /** Whether a create returned the row of an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean
  /** In milliseconds. */
  readonly duration: number
  /** Why it was refused as HTTP, or is 503. */
  readonly reason?: string | undefined
  readonly caller?: string | undefined
  readonly trace: ReturnType<typeof parseTrace>
}

/** Called once for every request that is no probe, after its log line; used by the metrics. */
export type OnRequest = (request: RequestLog) => void

export const requestLogger = (logger: Logger, onRequest?: OnRequest): OnRequest =>
  batchPerTick((requests) => {
    for (const request of requests) {
      const { id, method, path, status, bytes, duration, reason, caller, trace } = request
      const fields = { id, method, path, status, bytes, duration, reason, caller }
      // Probes arrive every few seconds; a readiness probe that fails is no failure of a client's request.
      const isProbe = request.operation === 'probe'
      const line = trace ? { ...fields, trace_id: trace.traceId, parent_id: trace.parentId } : fields
      logger[isProbe ? 'debug' : 'info'](line, 'request')
      if (!isProbe) onRequest?.(request)
    }
  })

export const readRequestId = ({ headers }: IncomingMessage): string => {
  const givenId = headers['x-request-id']
  return (givenId !== undefined && requestId.safeParse(givenId).data) || randomUUID()
}

const roundToMicroseconds = (milliseconds: number): number => Math.round(milliseconds * 1000) / 1000

const serverTiming = (start: number, { parsed = start, queried = parsed }: State, end: number): string => {
  const parse = roundToMicroseconds(parsed - start)
  const query = roundToMicroseconds(queried - parsed)
  return `parse;dur=${parse}, query;dur=${query}, total;dur=${roundToMicroseconds(end - start)}`
}

/** The numbers of requests whose response has not been made yet, or is still being streamed, and of those that wait for a change. */
export interface InFlight {
  count: number
  waiting: number
}

/** The outermost middleware: it logs the response as every other middleware left it, and a streamed one when it has ended. */
export const logRequests =
  (logRequest: OnRequest, inFlight: InFlight, isTraced: boolean): Middleware<State> =>
  async (ctx, next) => {
    const start = performance.now()
    const id = readRequestId(ctx.req)
    ctx.res.setHeader('X-Request-Id', id)
    const { state, method } = ctx
    const finish = (bytes: number, end: number) => {
      inFlight.count--
      const { status } = ctx
      logRequest({
        id,
        method,
        path: ctx.path,
        // @koa/router sets it to the name of the matched route.
        operation: (ctx['_matchedRouteName'] as string | undefined) ?? 'none',
        status,
        bytes: method === 'HEAD' ? 0 : bytes,
        replayed: status === 201 && ctx.res.hasHeader(replayedHeader),
        duration: roundToMicroseconds(end - start),
        reason: state.reason,
        caller: state.caller,
        trace: parseTrace(ctx.req),
      })
    }
    inFlight.count++
    await (isTraced ? currentRequest.run(id, next) : next())
    const end = performance.now()
    if (state.queried !== undefined) ctx.set('Server-Timing', serverTiming(start, state, end))
    if (ctx.body instanceof Readable && !ctx.res.closed) {
      ctx.res.once('close', () => finish(state.streamedBytes ?? 0, performance.now()))
    } else finish(ctx.length ?? 0, end)
  }
