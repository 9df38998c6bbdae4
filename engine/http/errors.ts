/** Turns whatever was thrown into an answer of the interface's shape, and tells the log of what was not foreseen. */
import type { Middleware } from 'koa'
import type { Logger } from 'pino'
import { internalError, Refusal, unavailable } from '../contract/errors.js'
import { Unavailable } from '../storage/storage.js'
import { sendJson } from './send.js'

const refusalFor = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error
  return error instanceof Unavailable ? unavailable() : internalError()
}

/** Runs around everything else. */
export const answerErrors =
  (logger: Logger): Middleware =>
  async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      if (!(error instanceof Refusal)) logger.error({ err: error }, 'a request failed')
      const { status, body, headers } = refusalFor(error)
      ctx.set(headers)
      sendJson(ctx, status, body)
    }
  }
