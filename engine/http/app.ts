/** The Koa app: what runs around every request, and the order it runs in. */
import Koa, { type Middleware } from 'koa'
import type { Logger } from 'pino'
import { answerErrors } from './errors.js'
import type { Service } from './handlers.js'
import { commonHeaders } from './headers.js'
import { otherMethods } from './methods.js'
import { routerOf } from './router.js'

/** One line a request: the path without its query, whose values may be private. */
const logRequests =
  (logger: Logger): Middleware =>
  async (ctx, next) => {
    const start = performance.now()
    await next()
    const duration = Math.round((performance.now() - start) * 1000) / 1000
    logger.info({ method: ctx.method, path: ctx.path, status: ctx.status, duration }, 'request')
  }

/** The app of a service. */
export const createApp = async (service: Service, logger: Logger): Promise<Koa> => {
  const app = new Koa()
  app.on('error', (error: Error) => logger.error({ err: error }, 'a response failed'))
  app.use(logRequests(logger))
  app.use(await commonHeaders())
  app.use(answerErrors(logger))
  app.use(routerOf(service).routes())
  app.use(otherMethods)
  return app
}
