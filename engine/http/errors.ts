/** Turns whatever was thrown into an answer of the interface's shape, and tells the log of what was not foreseen. */
import type { Context } from 'koa'
import type { Logger } from 'pino'
import { internalError, Refusal, unavailable } from '../contract/errors.js'
import { Unavailable } from '../storage/storage.js'
import { sendJson } from './send.js'

const refusalFor = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error
  return error instanceof Unavailable ? unavailable() : internalError()
}

/** Answers in the place of a handler that threw. */
export const answerError = (ctx: Context, error: unknown, logger: Logger): void => {
  if (!(error instanceof Refusal)) logger.error({ err: error }, 'a request failed')
  const { status, body, headers } = refusalFor(error)
  ctx.set(headers)
  sendJson(ctx, status, body)
}
