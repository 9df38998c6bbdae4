/** A network that fails when told to: stands between the service and its database. */
import { connect, createServer, type Socket } from 'node:net'

export interface FlakyNetwork {
  /** The given address, by way of this network. */
  readonly url: string
  /** Breaks every connection and takes no new one, as a server does that stops. */
  cut(): void
  /** Takes connections and lets nothing through, as a network does that loses every packet. */
  hang(): void
  /** Lets everything through again. */
  mend(): void
}

/** Leads to the server of an address. */
export const flakyNetwork = async (address: string): Promise<FlakyNetwork> => {
  const target = new URL(address)
  const sockets = new Set<Socket>()
  let state: 'whole' | 'cut' | 'hung' = 'whole'
  const server = createServer((near) => {
    if (state === 'cut') return void near.destroy()
    const far = connect(Number(target.port || 5432), target.hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => void (state === 'whole' && to.write(chunk)))
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
    url: url.href,
    cut() {
      state = 'cut'
      for (const socket of sockets) socket.destroy()
    },
    hang() {
      state = 'hung'
    },
    mend() {
      // What was lost on the way does not arrive later: connections from before are of no use.
      if (state === 'hung') for (const socket of sockets) socket.destroy()
      state = 'whole'
    },
  }
}
