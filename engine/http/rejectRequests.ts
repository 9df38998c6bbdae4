/** Responds to requests that are not valid HTTP, which do not reach the app. */
import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { badRequest, type HttpError, payloadTooLarge } from '../contract/errors.js'
import { bodyLimit } from '../contract/rowBody.js'
import { jsonType } from './conditional.js'
import { commonHeaders } from './envelope.js'
import { type OnRequest, parseTrace, readRequestId } from './requestLog.js'

export interface ParserError extends Error {
  readonly code?: string
  /** llhttp's message, which quotes nothing of the request. */
  readonly reason?: string
  readonly bytesParsed?: number
  readonly rawPacket?: Buffer
}

/** Whether the parser stopped within the first line of a request. Only the last packet is known. */
const isInRequestLine = ({ rawPacket, bytesParsed = 0 }: ParserError): boolean => {
  const parsed = rawPacket?.toString('latin1', 0, bytesParsed) ?? ''
  return /(?:^|\r\n)[A-Z]+ \/\S*$/.test(parsed)
}

/** The cause of a parser error, in words; `isInBody` says whether the headers had arrived. */
export const parserError = (error: ParserError, isInBody: boolean): HttpError => {
  const { code = '', reason = 'malformed request' } = error
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return payloadTooLarge(bodyLimit)
  const causes: Readonly<Record<string, Parameters<typeof badRequest>>> = {
    ERR_HTTP_REQUEST_TIMEOUT: [408, `The ${isInBody ? 'body' : 'headers'} did not arrive in time.`],
    HPE_HEADER_OVERFLOW: isInRequestLine(error)
      ? [414, 'The URL is too long; URL and headers may have 16 KiB together.']
      : [431, 'The headers are too large; URL and headers may have 16 KiB together.'],
    HPE_INVALID_METHOD: [400, 'The request does not begin with a valid HTTP method, such as GET or POST.'],
    HPE_INVALID_URL: [400, 'The URL contains a character that must be percent-encoded.'],
    HPE_INVALID_EOF_STATE: isInBody
      ? [400, 'The body is shorter than Content-Length or Transfer-Encoding declares.']
      : [400, 'The request ended before its headers did.'],
    HPE_PAUSED_H2_UPGRADE: [505, 'The service speaks HTTP/1.1 only.'],
  }
  const other = `The ${isInBody ? 'body' : 'request'} is not valid HTTP: ${reason}.`
  return badRequest(...(causes[code] ?? [400, other]))
}

/** How long a client may take to read the response and close its side. */
const lingerMs = 2_000

/** Reads on for a while: a connection closed with unread data is reset, and the client may lose the response. */
const closeSoon = (socket: Duplex): void => {
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.on('error', () => socket.destroy())
  socket.on('close', () => clearTimeout(timer))
  socket.resume()
}

export const rejectRequests = (logRequest: OnRequest) => {
  const errorHeaders = ({ headers }: HttpError, id: string, body: string): Record<string, string> => ({
    ...commonHeaders,
    ...headers,
    'Cache-Control': 'no-store',
    'X-Request-Id': id,
    'Content-Type': jsonType,
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  })
  const log = (id: string, status: number, body: string, reason: string, request?: IncomingMessage): void => {
    const { method = '-', url = '-' } = request ?? {}
    const [path = '-'] = url.split('?')
    const bytes = method === 'HEAD' ? 0 : Buffer.byteLength(body)
    const trace = request && parseTrace(request)
    logRequest({ id, method, path, operation: 'none', status, bytes, replayed: false, duration: 0, reason, trace })
  }
  return {
    /** Responds to a request that has arrived at least with its headers. */
    toRequest(response: ServerResponse, error: HttpError, reason: string): void {
      // A request that the app has begun to handle has its id already, and the app logs it.
      const begun = response.getHeader('X-Request-Id')
      const id = begun === undefined ? readRequestId(response.req) : String(begun)
      const body = JSON.stringify(error.body)
      response.writeHead(error.status, errorHeaders(error, id, body)).end(body)
      if (begun === undefined) log(id, error.status, body, reason, response.req)
    },
    /** Responds on a connection that has no request to respond to. */
    toSocket(socket: Duplex, error: HttpError, reason: string, request?: IncomingMessage): void {
      const id = request ? readRequestId(request) : randomUUID()
      const body = JSON.stringify(error.body)
      const head = [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`, `Date: ${new Date().toUTCString()}`]
      for (const [name, value] of Object.entries(errorHeaders(error, id, body))) head.push(`${name}: ${value}`)
      socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
      closeSoon(socket)
      log(id, error.status, body, reason, request)
    },
  }
}
