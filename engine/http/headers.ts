/** The headers that are the same on every answer: security, by helmet, and the openness of CORS. */
import type { Context } from 'koa'
import helmet from 'koa-helmet'

/** What a page may read of an answer: reads are public and no browser sends the write token by itself, so any page may call. */
const exposed = 'ETag, Location, Retry-After, WWW-Authenticate'

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

/** Makes the function that sets them, when the answer is known and before it is sent. */
export const commonHeaders = async (): Promise<(ctx: Context) => void> => {
  const security = [...(await askHelmet())]
  return ({ req, res, status, state }) => {
    res.setHeader('Access-Control-Allow-Origin', '*')
    if (req.headers.origin !== undefined) res.setHeader('Access-Control-Expose-Headers', exposed)
    // An answer that says nothing has changed goes with the headers of the one that is kept.
    if (status === 304) return
    res.setHeader('Content-Security-Policy', state['policy'] ?? dataPolicy)
    for (const [name, value] of security) res.setHeader(name, value)
  }
}
