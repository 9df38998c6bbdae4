/** The headers that are the same on every answer: security, by helmet, and the openness of CORS. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Context } from 'koa'
import helmet from 'koa-helmet'

/** Reads are public and writes need a header that no browser sends by itself, so any page may call. */
const cors = { 'Access-Control-Allow-Origin': '*' }
const exposed = 'ETag, Location, Retry-After, WWW-Authenticate'

/** Answers are data: they load nothing, and may be read by other origins. */
const protect = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
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

/** Makes the function that sets them. */
export const commonHeaders = async (): Promise<(request: IncomingMessage, response: ServerResponse) => void> => {
  const headers = [...Object.entries(cors), ...(await askHelmet())]
  return (request, response) => {
    for (const [name, value] of headers) response.setHeader(name, value)
    if (request.headers.origin !== undefined) response.setHeader('Access-Control-Expose-Headers', exposed)
  }
}
