/** What happens around every request: errors, the headers that all answers share, and what is told of it. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import Koa from 'koa'
import type { Logger } from 'pino'
import { hostUnclear } from '../contract/errors.js'
import { replayedHeader } from '../contract/idempotency.js'
import { operationsOf } from '../contract/operations.js'
import type { Answer } from './answer.js'
import { errorAnswer } from './errors.js'
import { type Marks, type Record, requestIdOf, rounded, type State, serverTiming, teller } from './exchange.js'
import type { Service } from './handlers.js'
import { headerLists } from './headers.js'
import { hasOneHost } from './host.js'
import { otherMethods } from './methods.js'
import { routesOf } from './router.js'
import { unchangedReads } from './unchanged.js'

interface Told extends Marks {
  readonly id: string
  readonly path: string
  readonly operation?: string
}

/** The handler of a service's requests: a Koa app, and ahead of it the answers that need none of it. */
export const createApp = async (service: Service, logger: Logger, record?: Record): Promise<RequestListener> => {
  const operations = operationsOf(service.registry)
  const headersFor = await headerLists()
  const tell = teller(logger, record)

  const send = (request: IncomingMessage, response: ServerResponse, answer: Answer, told: Told) => {
    const { status, body } = answer
    const { id, path, operation = 'none', start, queried } = told
    const end = performance.now()
    const sent = headersFor(request, answer)
    if (queried !== undefined) sent.push('Server-Timing', serverTiming(told, end))
    sent.push('X-Request-Id', id)
    response.writeHead(status, sent)
    const { method = '' } = request
    const bytes = body && method !== 'HEAD' ? body.length : 0
    response.end(bytes > 0 ? body : undefined)
    const replayed = status === 201 && answer.headers.includes(replayedHeader)
    tell({ id, method, path, operation, status, bytes, replayed, duration: rounded(end - start) })
  }

  const app = new Koa<State>()
  app.on('error', (error: Error) => logger.error({ err: error }, 'a response failed'))
  // One frame and not a middleware for each concern: every layer costs each request a promise.
  app.use(async (ctx, next) => {
    const start = performance.now()
    const { req, res, state } = ctx
    const id = requestIdOf(req)
    try {
      if (!hasOneHost(req)) throw hostUnclear()
      await next()
    } catch (error) {
      state.answer = errorAnswer(error, logger, id)
    }
    ctx.respond = false
    send(req, res, state.answer as Answer, { id, path: ctx.path, start, ...state })
  })
  app.use(routesOf(service, operations))
  app.use(otherMethods)
  const handle = app.callback()
  const unchangedFor = unchangedReads(operations, service.storage)

  return async (request, response) => {
    const { headers, method } = request
    if (headers['if-none-match'] === undefined || method !== 'GET' || !hasOneHost(request)) {
      return handle(request, response)
    }
    const start = performance.now()
    const [path = '', querystring = ''] = (request.url ?? '').split('?', 2)
    const found = await unchangedFor(request, path, querystring)
    if (!found) return handle(request, response)
    const { operation, answer } = found
    send(request, response, answer, { id: requestIdOf(request), path, operation, start, queried: performance.now() })
  }
}
