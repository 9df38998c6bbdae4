/** Turns whatever was thrown into an answer of the interface's shape, and tells the log of what was not foreseen. */
import type { Logger } from 'pino'
import { HttpError, internalError, outcomeUnknown, unavailable } from '../contract/errors.js'
import { OutcomeUnknown, Unavailable } from '../storage/storage.js'
import { type Answer, jsonAnswer } from './answer.js'

const refusalFor = (error: unknown): HttpError => {
  if (error instanceof HttpError) return error
  if (error instanceof OutcomeUnknown) return outcomeUnknown()
  return error instanceof Unavailable ? unavailable() : internalError()
}

/** The answer in the place of a handler that threw. */
export const errorAnswer = (error: unknown, logger: Logger, id: string): Answer => {
  if (!(error instanceof HttpError)) logger.error({ id, err: error }, 'a request failed')
  const { status, body, headers } = refusalFor(error)
  return jsonAnswer(status, body, Object.entries(headers).flat())
}
