/** The HTTP server itself: listening, answering what its parser rejects, and stopping without cutting anyone off. */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { envelope } from '../contract/errors.js'

const parserAnswers: Record<string, { status: string; message: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    message: 'The headers are larger than the server takes.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', message: 'The request did not arrive in time.' },
}
const malformed = {
  status: '400 Bad Request',
  message: 'The request is not valid HTTP; characters beyond ASCII are percent-encoded in a path or a query.',
}
const hostMissing = 'The request takes exactly one Host header.'

/** The newest response of each connection, finished or not. */
const responses = new WeakMap<Duplex, ServerResponse>()

/** What the parser rejects never reaches the app, but is owed the same envelope, after the answers that come before it. */
const answerParserError = (error: Error & { code?: string }, socket: Duplex): void => {
  const before = responses.get(socket)
  if (before && !before.writableFinished && !before.destroyed) {
    // Ahead of Node, which closes the connection where the client has said that no more will come.
    before.prependOnceListener('finish', () => answerParserError(error, socket))
    return
  }
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const { status, message } = parserAnswers[error.code ?? ''] ?? malformed
  const body = JSON.stringify(envelope('bad_request', message))
  const head = [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Whether a request names its host once: more or less than that is how requests are smuggled. */
const hasOneHost = ({ rawHeaders, httpVersion }: IncomingMessage): boolean => {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0')
}

export interface Listening {
  /** Where it can be reached, without a path. */
  readonly address: string
  /** Takes no new connection, lets the requests under way finish, and closes. */
  stop(): Promise<void>
}

const addressOf = (server: Server): string => {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** Serves requests; rejects where the address cannot be listened on. */
export const listen = (handle: RequestListener, { host, port }: { host: string; port: number }): Promise<Listening> => {
  let stopping = false
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    // An idle connection would keep the server open for as long as its client likes.
    if (stopping) response.setHeader('Connection', 'close')
    responses.set(request.socket, response)
    if (hasOneHost(request)) return void handle(request, response)
    response.writeHead(400, { 'Content-Type': 'application/json; charset=utf-8', Connection: 'close' })
    response.end(JSON.stringify(envelope('bad_request', hostMissing)))
  }
  const limits = { requestTimeout: 30_000, headersTimeout: 10_000, connectionsCheckingInterval: 1_000 }
  // The host is looked at above: Node's own refusal has no body.
  // A client that has said all it wants to say is still owed its answer, which may be a round trip to the database away.
  const server = Object.assign(createServer({ ...limits, requireHostHeader: false }, serve), {
    httpAllowHalfOpen: true,
  })
  // The body is asked for when it is read, after the token was looked at; any other expectation is ignored.
  server.on('checkContinue', serve)
  server.on('checkExpectation', serve)
  server.on('clientError', answerParserError)
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      const stop = () =>
        new Promise<void>((stopped) => {
          stopping = true
          server.close(() => stopped())
          server.closeIdleConnections()
        })
      resolve({ address: addressOf(server), stop })
    })
  })
}
