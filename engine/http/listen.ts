/** The HTTP server: listens, refuses invalid HTTP, and stops gracefully. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { badRequest, type HttpError, hostUnclear, methodNotAllowed } from '../contract/errors.js'
import { batchPerTick } from '../process/batchPerTick.js'
import type { App } from './app.js'
import { probeClient, trackConnections } from './connections.js'
import { type ParserError, parserError, rejectRequests } from './rejectRequests.js'

type Served = Pick<App, 'handle' | 'logRequest'>

const serverAddress = (server: Server): string => {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** How long a client may read nothing of its response, in milliseconds. A download that waits for it holds about 0.2 MB of memory. */
const sendTimeoutMs = 60_000

/** How long a connection waits for its next request. Load balancers keep theirs for 60 s: one that we close first may have a request on its way. */
const defaultKeepAliveMs = 65_000

interface Limits {
  readonly sendTimeout?: number
  readonly keepAliveMs?: number
  readonly maxIdle?: number
}

/** How long a request may take to arrive, in milliseconds; that of an import is larger than others. */
const [requestTimeoutMs, importTimeoutMs] = [30_000, 300_000]

const isImport = ({ url = '' }: IncomingMessage): boolean => /\/import(?:\?|$)/.test(url)

/** A name, an IPv4 or an IPv6 address, and perhaps a port. A comma would be two hosts that a proxy joined. */
const hostGrammar = /^(?:[\w.~%!$&'()*+;=-]+|\[[\w:.%~-]+\])(?::\d*)?$/

/** Whether a request has exactly one valid Host header: two allow request smuggling. HTTP/1.0 needs none. */
const hasValidHost = ({ headers, rawHeaders, httpVersion }: IncomingMessage): boolean => {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  if (hosts === 0) return httpVersion === '1.0'
  return hosts === 1 && hostGrammar.test(headers.host ?? '')
}

/** Why a request that Node has parsed is refused; undefined if it is not. */
const requestError = (request: IncomingMessage): HttpError | undefined => {
  if (request.httpVersionMajor !== 1) return badRequest(505, 'The service speaks HTTP/1.1 only.')
  if (!hasValidHost(request)) return hostUnclear()
  const coding = request.headers['transfer-encoding']?.toLowerCase()
  if (coding === undefined || coding === 'chunked') return undefined
  // If chunked is not the last coding, the length of the body is unknown.
  const status = /[ \t,]chunked$/.test(coding) ? 501 : 400
  return badRequest(status, 'Transfer-Encoding must be chunked; compress a body with Content-Encoding instead.')
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

const makeServer = ({ handle, logRequest }: Served, isStopping: () => boolean, limitOptions: Limits): Server => {
  const { sendTimeout = sendTimeoutMs, keepAliveMs: keepAliveTimeout = defaultKeepAliveMs, maxIdle } = limitOptions
  const reject = rejectRequests(logRequest)

  const handleInBatches = batchPerTick<ServerResponse>((responses) => {
    for (const response of responses) {
      // The parser has found an error in the body since.
      if (response.writableEnded) continue
      // An idle connection would keep the server open.
      if (isStopping() && connections.of(response.req.socket).waiting.length === 0)
        response.setHeader('Connection', 'close')
      handle(response.req, response)
    }
  })

  const connections = trackConnections(handleInBatches, maxIdle)

  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const connection = connections.of(request.socket)
    if (connection.isRefused) return
    connection.newest = response
    const error = requestError(request)
    if (error) {
      connection.isRefused = true
      reject.toRequest(response, error, error.message)
      return
    }
    if (hasBody(request) && !isImport(request)) limitArrival(request)
    connections.add(response)
  }

  /** As Node does it for the longest request. */
  const limitArrival = (request: IncomingMessage): void => {
    const end = () => {
      const late = Object.assign(new Error('the request has not arrived in time'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      if (!request.complete) onClientError(late, request.socket)
    }
    const timer = setTimeout(end, requestTimeoutMs)
    request.once('close', () => clearTimeout(timer))
  }

  const afterEarlierResponses = (socket: Duplex, send: () => void): void => {
    const response = connections.of(socket).newest
    if (!response || response.writableFinished || response.destroyed) send()
    // Before Node's own listener, which closes the connection of a client that has closed its side.
    else response.prependOnceListener('finish', send)
  }

  const onClientError = (error: ParserError, socket: Duplex): void => {
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
    const connection = connections.of(socket)
    // The response to the last request closes the connection.
    if (error.code === 'HPE_CLOSED_CONNECTION' || connection.isRefused) return
    connection.isRefused = true
    const response = connection.newest
    const reason = error.code ?? error.message
    if (response && !response.req.complete) {
      // One response per request: the client would take a second one for the response to its next request.
      if (response.headersSent) socket.destroy()
      else reject.toRequest(response, parserError(error, true), reason)
      return
    }
    afterEarlierResponses(socket, () => reject.toSocket(socket, parserError(error, false), reason))
  }

  const limits = {
    requestTimeout: importTimeoutMs,
    headersTimeout: 10_000,
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout,
  }
  // We check the Host ourselves: Node's own refusal has no body. A client that has closed its side still gets its response.
  const server = Object.assign(createServer({ ...limits, requireHostHeader: false }, onRequest), {
    httpAllowHalfOpen: true,
    timeout: sendTimeout,
  })
  // The handler sends 100 Continue when it reads the body, after it has checked the token; other expectations are ignored.
  server.on('checkContinue', onRequest)
  server.on('checkExpectation', onRequest)
  server.on('clientError', onClientError)
  server.on('timeout', (socket) => {
    // A connection with nothing to send may be waiting for the service, not for the client.
    if (!connections.of(socket).current || socket.writableLength > 0) socket.destroy()
  })
  server.on('connection', (socket: Socket) => {
    const connection = connections.open(socket)
    socket.once('end', () => {
      if (connection.current) void probeClient(connection.current)
    })
  })
  server.on('connect', (request, socket: Socket) => {
    // A tunnel is not a resource of the service.
    const error = methodNotAllowed('CONNECT', 'GET, HEAD, OPTIONS, POST')
    connections.of(socket).isRefused = true
    // Node has let go of the connection, on which earlier responses may still be sent.
    socket.on('drain', () => connections.of(socket).current?.emit('drain'))
    socket.setTimeout(sendTimeout, () => socket.destroy())
    afterEarlierResponses(socket, () => reject.toSocket(socket, error, error.message, request))
  })
  return server
}

/** Serves an app; rejects where it cannot listen on the address. */
export const listen = async (app: Served, { host, port, ...limits }: { host: string; port: number } & Limits) => {
  let isStopping = false
  const server = makeServer(app, () => isStopping, limits)
  /** Accepts no new connection, lets the requests in progress finish, and closes. */
  const stop = async (): Promise<void> => {
    isStopping = true
    // Closes connections as they fall idle after their last response.
    const closing = setInterval(() => server.closeIdleConnections(), 50)
    server.close()
    await once(server, 'close')
    clearInterval(closing)
  }
  server.listen(port, host)
  await once(server, 'listening')
  return { address: serverAddress(server), stop }
}
