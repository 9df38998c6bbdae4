/** The HTTP server itself: listening, answering what its parser rejects, and stopping without cutting anyone off. */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { batchPerTick } from '../batchPerTick.js'
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

/** The newest response of each connection, finished or not. */
const responses = new WeakMap<Duplex, ServerResponse>()

/** What the parser rejects never reaches the app, but is owed the same envelope, after the answers that come before it. */
const answerParserError = (error: Error & { code?: string }, socket: Duplex): void => {
  const before = responses.get(socket)
  // Of a request that has not arrived whole the fault is its own, and waiting for its answer would be for good.
  if (before?.req.complete && !before.writableFinished && !before.destroyed) {
    // Ahead of Node, which closes the connection where the client has said that no more will come.
    before.prependOnceListener('finish', () => answerParserError(error, socket))
    return
  }
  // Answered before it had arrived whole, as a refused create is: a second answer would pass for that of the next request.
  const isAnswered = before && !before.req.complete && before.headersSent
  if (isAnswered || !socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
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
  const answer = (response: ServerResponse): void => {
    // An idle connection would keep the server open for as long as its client likes.
    if (stopping) response.setHeader('Connection', 'close')
    handle(response.req, response)
  }
  const answerInTurn = batchPerTick<ServerResponse>((waiting) => waiting.forEach(answer))
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    responses.set(request.socket, response)
    answerInTurn(response)
  }
  const limits = { requestTimeout: 30_000, headersTimeout: 10_000, connectionsCheckingInterval: 1_000 }
  // The host is looked at by the app: Node's own refusal has no body. A client that has said all it wants to say is still owed
  // its answer, which may be a round trip to the database away.
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
          // Connections that fall idle after their last answer are closed as they do, not after the time idle ones are kept.
          const closing = setInterval(() => server.closeIdleConnections(), 50)
          server.close(() => {
            clearInterval(closing)
            stopped()
          })
        })
      resolve({ address: addressOf(server), stop })
    })
  })
}
