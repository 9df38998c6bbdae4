/** Handles the requests of each connection one after another, so that a client that pipelines delays only itself. */
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

export interface Connection {
  /** The newest response, finished or not. */
  newest?: ServerResponse
  /** The response in progress. */
  current?: ServerResponse | undefined
  /** The responses of requests that wait for the current one. */
  readonly waiting: ServerResponse[]
  /** Whether a request was refused: what follows on the connection is not handled. */
  isRefused: boolean
}

/** While this many requests of a connection wait, no more is read from it. */
const mostWaiting = 100

/** Keeps the state of each connection; `handle` is called with one response of a connection at a time. */
export const connectionsOf = (handle: (response: ServerResponse) => void) => {
  const connections = new WeakMap<Duplex, Connection>()

  const begin = (socket: Duplex, connection: Connection, response: ServerResponse): void => {
    connection.current = response
    response.once('close', () => next(socket, connection))
    handle(response)
  }
  const next = (socket: Duplex, connection: Connection): void => {
    const { waiting } = connection
    connection.current = undefined
    const wasPaused = waiting.length >= mostWaiting
    const response = socket.writable ? waiting.shift() : undefined
    if (response) begin(socket, connection, response)
    if (wasPaused && waiting.length < mostWaiting) socket.resume()
  }

  return {
    open(socket: Duplex): Connection {
      const connection: Connection = { waiting: [], isRefused: false }
      connections.set(socket, connection)
      // Node resumes the connection after every response.
      socket.on('resume', () => {
        if (connection.waiting.length >= mostWaiting) socket.pause()
      })
      return connection
    },
    of: (socket: Duplex): Connection => connections.get(socket) as Connection,
    /** Handles a request when its turn comes. */
    add(response: ServerResponse): void {
      const { socket } = response.req
      const connection = connections.get(socket) as Connection
      if (!connection.current) begin(socket, connection, response)
      else if (connection.waiting.push(response) === mostWaiting) socket.pause()
    },
  }
}
