/** The headers that are the same on every answer: security, by helmet, and the openness of CORS. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Context } from 'koa'
import helmet from 'koa-helmet'
import { setHeaders } from './send.js'

/** What a page may read of an answer: reads are public and no browser sends the write token by itself, so any page may call. */
const exposed = 'ETag, Idempotency-Replayed, Location, Retry-After, Server-Timing, WWW-Authenticate, X-Request-Id'

const anyone = { 'Access-Control-Allow-Origin': '*' }

/** Answers are data: they load nothing and are shown in no frame, but may be read by other origins. */
const dataPolicy = "default-src 'none'; frame-ancestors 'none'"

const protect = helmet({
  // Set below, for the docs have one of their own.
  contentSecurityPolicy: false,
  crossOriginResourcePolicy: { policy: 'cross-origin' },
  // These tell a browser how to show a page, and data is none; each header costs every request its time.
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
})

/** What helmet sets is the same each time, so it is asked once, and not by every request. */
const askHelmet = async (): Promise<Map<string, string>> => {
  const headers = new Map<string, string>()
  const response = { setHeader: (name: string, value: string) => headers.set(name, value), removeHeader: () => {} }
  await protect(
    { req: { headers: {} }, res: response, request: {}, response: {} } as unknown as Context,
    async () => {},
  )
  return headers
}

/** The headers by which any page may read an answer. */
export const openness = ({ headers }: IncomingMessage): Record<string, string> =>
  headers.origin === undefined ? anyone : { ...anyone, 'Access-Control-Expose-Headers': exposed }

/** Makes the function that sets them, when the answer is known and before it is sent. */
export const commonHeaders = async (): Promise<
  (req: IncomingMessage, res: ServerResponse, policy?: string) => void
> => {
  const security = Object.fromEntries(await askHelmet())
  return (req, res, policy = dataPolicy) => {
    setHeaders(res, openness(req))
    // An answer that says nothing has changed goes with the headers of the one that is kept.
    if (res.statusCode === 304) return
    res.setHeader('Content-Security-Policy', policy)
    setHeaders(res, security)
  }
}
