/** What is told of an exchange: to the client who it was and where its time went, to the log one line. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import type { Logger } from 'pino'
import { batchPerTick } from '../batchPerTick.js'
import type { Answer } from './answer.js'

/** Readings of the clock as an exchange goes on, in milliseconds. */
export interface Marks {
  readonly start: number
  /** When the request was understood, and when the storage had answered; only reads are marked. */
  readonly parsed?: number
  readonly queried?: number
}

/** What a handler leaves for the frame around it. */
export interface State {
  parsed?: number
  queried?: number
  /** What was asked for, as the documents name it. */
  operation?: string
  answer?: Answer
}

/** What a handler is given. */
export type HandlerContext = Context & { readonly state: State }

/** An exchange whose answer is known. */
export interface Exchange {
  readonly id: string
  readonly method: string
  /** Without its query, whose values may be private. */
  readonly path: string
  /** What was asked for, as the documents name it. */
  readonly operation: string
  readonly status: number
  readonly bytes: number
  /** Whether a create was answered as it was before. */
  readonly replayed: boolean
  /** In milliseconds. */
  readonly duration: number
}

/** Where exchanges are told of besides the log. */
export type Record = (exchange: Exchange) => void

/** An id that someone on the way may have given: visible characters, and few enough to be one. */
const acceptable = /^[\x21-\x7e]{1,128}$/

/** The id of a request: the one it came with, or a new one. */
export const requestIdOf = ({ headers }: IncomingMessage): string => {
  const sent = headers['x-request-id'] as string | undefined
  return sent !== undefined && acceptable.test(sent) ? sent : randomUUID()
}

/** Milliseconds to the microsecond. */
export const rounded = (milliseconds: number): number => Math.round(milliseconds * 1000) / 1000

/** The `Server-Timing` of a read. */
export const serverTiming = ({ start, parsed = start, queried = parsed }: Marks, end: number): string =>
  `parse;dur=${rounded(parsed - start)}, query;dur=${rounded(queried - parsed)}, total;dur=${rounded(end - start)}`

/** Makes the function that tells of an exchange. */
export const teller = (logger: Logger, record?: Record): Record => {
  const tell = (exchange: Exchange): void => {
    const { id, method, path, status, bytes, duration } = exchange
    logger.info({ id, method, path, status, bytes, duration }, 'request')
    record?.(exchange)
  }
  return batchPerTick((exchanges) => exchanges.forEach(tell))
}
