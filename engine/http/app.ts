/** The Koa app: what happens around every request. */
import Koa from 'koa'
import type { Logger } from 'pino'
import { answerError } from './errors.js'
import type { Service } from './handlers.js'
import { commonHeaders } from './headers.js'
import { otherMethods } from './methods.js'
import { routesOf } from './router.js'

/** The app of a service. */
export const createApp = async (service: Service, logger: Logger): Promise<Koa> => {
  const app = new Koa()
  const setCommonHeaders = await commonHeaders()
  app.on('error', (error: Error) => logger.error({ err: error }, 'a response failed'))
  // One frame and not a middleware for each concern: every layer costs each request a promise.
  app.use(async (ctx, next) => {
    const start = performance.now()
    try {
      await next()
    } catch (error) {
      answerError(ctx, error, logger)
    }
    setCommonHeaders(ctx)
    // The path without its query, whose values may be private.
    const duration = Math.round((performance.now() - start) * 1000) / 1000
    logger.info({ method: ctx.method, path: ctx.path, status: ctx.status, duration }, 'request')
  })
  app.use(routesOf(service))
  app.use(otherMethods)
  return app
}
