/** What happens around every request: errors, the headers that all answers share, and the log. */
import type { RequestListener } from 'node:http'
import Koa from 'koa'
import type { Logger } from 'pino'
import { answerError } from './errors.js'
import type { Service } from './handlers.js'
import { commonHeaders, openness } from './headers.js'
import { otherMethods } from './methods.js'
import { routesOf } from './router.js'
import { unchangedReads } from './unchanged.js'

/** The handler of a service's requests: a Koa app, and ahead of it the answers that need none of it. */
export const createApp = async (service: Service, logger: Logger): Promise<RequestListener> => {
  const app = new Koa()
  const setCommonHeaders = await commonHeaders()
  const log = (method: string, path: string, status: number, start: number): void => {
    // The path without its query, whose values may be private.
    const duration = Math.round((performance.now() - start) * 1000) / 1000
    logger.info({ method, path, status, duration }, 'request')
  }
  app.on('error', (error: Error) => logger.error({ err: error }, 'a response failed'))
  // One frame and not a middleware for each concern: every layer costs each request a promise.
  app.use(async (ctx, next) => {
    const start = performance.now()
    try {
      await next()
    } catch (error) {
      answerError(ctx, error, logger)
    }
    setCommonHeaders(ctx.req, ctx.res, ctx.state['policy'])
    log(ctx.method, ctx.path, ctx.status, start)
  })
  app.use(routesOf(service))
  app.use(otherMethods)
  const handle = app.callback()
  const unchanged = unchangedReads(service.registry, service.storage)

  return async (request, response) => {
    if (request.headers['if-none-match'] === undefined || request.method !== 'GET') return handle(request, response)
    const start = performance.now()
    const [path = '', querystring = ''] = (request.url ?? '').split('?', 2)
    const headers = await unchanged(request, path, querystring)
    if (!headers) return handle(request, response)
    response.writeHead(304, Object.assign(headers, openness(request)))
    response.end()
    log('GET', path, 304, start)
  }
}
