/** A TCP proxy between the service and its database that can fail. */
import { connect, createServer, type Socket } from 'node:net'

export const flakyNetwork = async (address: string) => {
  const target = new URL(address)
  const sockets = new Set<Socket>()
  let state: 'up' | 'cut' | 'hung' = 'up'
  const server = createServer((client) => {
    if (state === 'cut') return void client.destroy()
    const upstream = connect(Number(target.port || 5432), target.hostname)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => void (state === 'up' && to.write(chunk)))
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  const url = new URL(address)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as { port: number }).port)
  return {
    /** The database URL through the proxy. */
    url: url.href,
    /** Closes all connections and rejects new ones, like a stopped server. */
    cut() {
      state = 'cut'
      for (const socket of sockets) socket.destroy()
    },
    /** Accepts connections, but drops all data, like a network that loses every packet. */
    hang() {
      state = 'hung'
    },
    /** Forwards everything again. */
    restore() {
      // Dropped data is never delivered, so existing connections are useless.
      if (state === 'hung') for (const socket of sockets) socket.destroy()
      state = 'up'
    },
  }
}
