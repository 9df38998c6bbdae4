/** Waits at start for a server that does not accept connections yet, ends them during the start, or stops answering. */
import { setTimeout } from 'node:timers/promises'
import { Client, DatabaseError } from 'pg'
import { publicDatabaseUrl } from '../../process/databaseUrl.js'
import type { StorageOptions } from '../options.js'
import { messageOf } from './errors.js'
import { reachServer, type Server } from './server.js'

/** The first pause between attempts, in milliseconds; each is twice as long as the previous one, up to the longest. */
const [firstPause, maxPause] = [100, 2_000]

/** A server may take this long to answer, in milliseconds, even if the start is to wait for less. */
const minWaitMs = 2_000

/** How long the server may be silent during a start that does not wait, in milliseconds. */
const silenceMs = 30_000

/** How often the wait is reported, in milliseconds. */
const reportMs = 10_000

/** Errors of a host that is down or starting, or whose name cannot be resolved yet. */
const absent =
  /^(?:ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT)$/

/** Whether a later attempt may succeed. A wrong password or an unknown database is a configuration error. */
const mayPass = (error: Error & { code?: string }): boolean => {
  const { code = '', message } = error
  // The server is starting or stopping, has ended the session, or has too many clients.
  if (error instanceof DatabaseError) return /^(?:57P0[1-35]|53300)$/.test(code)
  return absent.test(code) || /^(?:timeout expired|Query read timeout|Connection terminated)/.test(message)
}

/** Whether the server answers; an error of the server is an answer. */
const answers = async (server: Server, waitMs: number): Promise<boolean> => {
  const client = new Client({ ...server.config({}), connectionTimeoutMillis: waitMs })
  client.on('error', () => {})
  try {
    await client.connect()
    client.end().catch(() => {})
    return true
  } catch (error) {
    return error instanceof DatabaseError
  }
}

/**
 * Runs work that may take long, such as building an index; rejects once the server has not answered for `waitMs`, because a statement
 * on a network that loses every packet never ends.
 */
const whileAnswering = async <T>(server: Server, waitMs: number, work: Promise<T>): Promise<T> => {
  const ended = new AbortController()
  const watch = async (): Promise<never> => {
    for (let answered = performance.now(); ; ) {
      await setTimeout(waitMs / 4, undefined, { signal: ended.signal })
      const asked = performance.now()
      if (await answers(server, waitMs / 4)) answered = asked
      else if (performance.now() - answered > (waitMs * 3) / 4) {
        throw new Error(`the server has stopped answering during the start; waited ${waitMs} ms (DATABASE_WAIT_MS)`)
      }
    }
  }
  return Promise.race([work, watch()]).finally(() => ended.abort())
}

/**
 * Connects and sets up; repeats both while the server does not accept connections, or ends them. Rejects with the reason if that has
 * not succeeded within `startWaitMs`.
 */
export const retryUntilReachable = async <T>(
  url: string,
  options: StorageOptions,
  work: (server: Server) => Promise<T>,
): Promise<T> => {
  const { startWaitMs = 0, warn } = options
  const until = performance.now() + startWaitMs
  let reportAt = 0
  for (let pause = firstPause; ; pause = Math.min(2 * pause, maxPause)) {
    try {
      const left = Math.max(minWaitMs, until - performance.now())
      const waitMs = startWaitMs === 0 ? options.pool.waitMs : Math.min(left, options.pool.waitMs)
      const server = await reachServer(url, { ...options, pool: { ...options.pool, waitMs } })
      return await whileAnswering(server, Math.max(minWaitMs, startWaitMs || silenceMs), work(server))
    } catch (error) {
      const left = until - performance.now()
      if (!mayPass(error as Error) || left <= 0) throw error
      if (performance.now() >= reportAt) {
        const seconds = Math.ceil(left / 1000)
        const reason = messageOf(error as Error)
        warn(`Waiting up to ${seconds} s (DATABASE_WAIT_MS) for the database ${publicDatabaseUrl(url)}: ${reason}`)
        reportAt = performance.now() + reportMs
      }
      await setTimeout(Math.min(pause, left))
    }
  }
}
