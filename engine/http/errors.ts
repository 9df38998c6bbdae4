/** Turns whatever was thrown into an answer of the interface's shape, and tells the log of what was not foreseen. */
import type { Middleware } from 'koa'
import type { Logger } from 'pino'
import { internalError, Refusal } from '../contract/errors.js'
import { sendJson } from './send.js'

/** Runs around everything else. */
export const answerErrors =
  (logger: Logger): Middleware =>
  async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      if (!(error instanceof Refusal)) logger.error({ err: error }, 'a request failed')
      const { status, body, headers } = error instanceof Refusal ? error : internalError()
      ctx.set(headers)
      sendJson(ctx, status, body)
    }
  }
