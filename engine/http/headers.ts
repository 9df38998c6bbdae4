/** The headers that are the same on every answer: security, by helmet, and the openness of CORS. */
import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import helmet from 'koa-helmet'
import type { Answer } from './answer.js'

/** What a page may read of an answer: reads are public and no browser sends the write token by itself, so any page may call. */
const exposed = 'ETag, Idempotency-Replayed, Location, Retry-After, Server-Timing, WWW-Authenticate, X-Request-Id'

/** Answers are data: they load nothing and are shown in no frame, but may be read by other origins. */
const dataPolicy = "default-src 'none'; frame-ancestors 'none'"

const protect = helmet({
  // Set below: the docs page has another.
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

const policyHeader = 'Content-Security-Policy'

/** Makes the function that lists the headers of an answer: its own and those of all. */
export const headerLists = async (): Promise<(request: IncomingMessage, answer: Answer) => string[]> => {
  const open = ['Access-Control-Allow-Origin', '*']
  const secure = [...open, ...[...(await askHelmet())].flat()]
  const whole = [...secure, policyHeader, dataPolicy]
  return (request, { status, headers }) => {
    // An answer that says nothing has changed goes with the headers of the one that is kept.
    const common = status === 304 ? open : headers.includes(policyHeader) ? secure : whole
    const list = [...common, ...headers]
    if (request.headers.origin !== undefined) list.push('Access-Control-Expose-Headers', exposed)
    return list
  }
}
