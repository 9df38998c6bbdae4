/** Handles the requests of each connection one after another, so that a client that pipelines delays only itself. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { spreadOverTicks } from '../process/batchPerTick.js'

/** How long the response may take, in milliseconds, before the client is probed. */
const probeAfterMs = 250

/** How long the client's host may take to report that nobody reads, in milliseconds. */
const replyMs = 100

/**
 * Probes the client with an interim response, which every client of HTTP/1.1 has to expect. A host whose client has gone replies with
 * a reset; the second write then fails and closes the response.
 */
export const probeClient = async (response: ServerResponse): Promise<void> => {
  await setTimeout(probeAfterMs)
  for (let n = 0; n < 2; n++) {
    const isPending = !response.headersSent && !response.closed && response.req.httpVersionMinor > 0
    if (!isPending) return
    response.writeProcessing(() => {})
    await setTimeout(replyMs)
  }
}

export interface Connection {
  /** The newest response, finished or not. */
  newest?: ServerResponse
  /** The response in progress. */
  current?: ServerResponse | undefined
  readonly waiting: ServerResponse[]
  /** Whether a request was refused: what follows on the connection is not handled. */
  isRefused: boolean
}

/** While this many requests of a connection wait, no more is read from it. */
export const maxWaiting = 32

/**
 * How many bytes the parser gets at once, and the rest of their last line. The 64 KiB that Node reads may have 2,500 requests, and each
 * that was parsed takes time even if its client has left.
 */
const sliceBytes = 1_500

/** The same of a body: one of line feeds would otherwise arrive in very many pieces. */
const bodySliceBytes = 8 * 1024

/** Of all pipelined requests one is handled per tick, because Node accepts one connection per tick: others would wait for hundreds. */
const turn = spreadOverTicks({ ticks: 0, ms: 0 })

/** How many connections may wait for their next request; the one that has waited longest is closed for one more. */
const defaultMaxIdle = 1_000

/** Keeps the state of each connection; `handle` is called with one response of a connection at a time. */
export const trackConnections = (handle: (response: ServerResponse) => void, maxIdle = defaultMaxIdle) => {
  const connections = new WeakMap<Duplex, Connection>()
  /** Those that have had a response and have no request, in the order in which they became idle. */
  const idle = new Set<Socket>()
  const addIdle = (socket: Socket): void => {
    if (socket.destroyed) return
    idle.add(socket)
    if (idle.size <= maxIdle) return
    const [longest] = idle
    idle.delete(longest as Socket)
    longest?.destroy()
  }
  const isFull = ({ waiting }: Connection): boolean => waiting.length >= maxWaiting

  const begin = (socket: Socket, connection: Connection, response: ServerResponse): void => {
    connection.current = response
    idle.delete(socket)
    response.once('close', () => next(socket, connection))
  }
  const next = (socket: Socket, connection: Connection): void => {
    const { waiting } = connection
    connection.current = undefined
    const wasFull = isFull(connection)
    const response = socket.writable ? waiting.shift() : undefined
    if (response) {
      begin(socket, connection, response)
      void turn().then(() => response.closed || handle(response))
    } else addIdle(socket)
    if (wasFull && !isFull(connection)) socket.resume()
  }

  /** Passes what was read to Node's own listener in slices, and what has to wait back to the socket. */
  const parseInSlices = (socket: Socket, connection: Connection): void => {
    const [parse] = socket.listeners('data') as [(bytes: Buffer) => void]
    socket.off('data', parse)
    socket.on('data', (bytes: Buffer) => {
      for (let at = 0; at < bytes.length && !connection.isRefused; ) {
        if (isFull(connection)) {
          socket.pause()
          socket.unshift(bytes.subarray(at))
          return
        }
        const isBody = connection.newest?.req.complete === false
        const end = bytes.indexOf('\n', at + (isBody ? bodySliceBytes : sliceBytes)) + 1 || bytes.length
        parse(bytes.subarray(at, end))
        at = end
      }
    })
  }

  return {
    open(socket: Socket): Connection {
      const connection: Connection = { waiting: [], isRefused: false }
      connections.set(socket, connection)
      parseInSlices(socket, connection)
      socket.once('close', () => idle.delete(socket))
      // Node resumes the connection after every response.
      socket.on('resume', () => {
        if (isFull(connection)) socket.pause()
      })
      return connection
    },
    of: (socket: Duplex): Connection => connections.get(socket) as Connection,
    add(response: ServerResponse): void {
      const { socket } = response.req
      const connection = connections.get(socket) as Connection
      if (!connection.current) {
        begin(socket, connection, response)
        handle(response)
      } else connection.waiting.push(response)
    },
  }
}
