/** Waits at start for a server that does not accept connections yet, or ends them during the start. */
import { setTimeout } from 'node:timers/promises'
import { DatabaseError } from 'pg'
import { publicDatabaseUrl } from '../../databaseUrl.js'
import type { StorageOptions } from '../options.js'
import { messageOf } from './errors.js'
import { reachServer, type Server } from './server.js'

/** The first pause between attempts, in milliseconds; each is twice as long as the previous one, up to the longest. */
const [firstPause, longestPause] = [100, 2_000]

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
  return absent.test(code) || /^(?:timeout expired|Connection terminated)/.test(message)
}

/**
 * Connects and sets up; repeats both while the server does not accept connections, or ends them. Rejects with the reason if that has
 * not succeeded within `startWaitMs`.
 */
export const whenServed = async <T>(
  url: string,
  options: StorageOptions,
  work: (server: Server) => Promise<T>,
): Promise<T> => {
  const { startWaitMs = 0, warn } = options
  const until = performance.now() + startWaitMs
  let reportAt = 0
  for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
    try {
      return await work(await reachServer(url, options))
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
