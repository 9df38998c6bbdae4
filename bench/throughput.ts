/** Reads against peers: each kind of read in alternating rounds, so that a noisy moment falls on all alike. */
import { median } from '../support/statistics.js'
import type { Generator, Load } from './load.js'
import type { Server } from './processes.js'

export interface Kind {
  readonly name: string
  /** What is asked of a server, or nothing where it has no such thing. */
  readonly load: (server: Server) => Omit<Load, 'seconds'> | undefined
}

/** How many pages are asked for before one is asked for again: more than any store of ready answers keeps. */
const freshPages = 20_000

export const kinds: readonly Kind[] = [
  { name: 'a page asked for before', load: ({ address, page }) => ({ url: `${address}${page(0)}` }) },
  {
    name: 'pages nobody asked for before',
    load: ({ address, page }) => ({ url: address, paths: Array.from({ length: freshPages }, (_, n) => page(n)) }),
  },
  { name: 'one row', load: ({ address, row }) => ({ url: `${address}${row}` }) },
]

export interface Measured {
  readonly kind: string
  readonly server: string
  /** Requests a second, the median of the rounds. */
  readonly rate: number
}

/** Measures every kind on every server. */
export const measure = async (
  servers: readonly Server[],
  generate: Generator,
  { rounds, seconds }: { rounds: number; seconds: number },
  say: (line: string) => void,
): Promise<Measured[]> => {
  const measured: Measured[] = []
  for (const { name: kind, load } of kinds) {
    const rates = new Map<Server, number[]>(servers.map((server) => [server, []]))
    for (const server of servers) await generate({ ...(load(server) as Load), seconds: 1 })
    for (let round = 1; round <= rounds; round++) {
      for (const server of servers) {
        const rate = await generate({ ...(load(server) as Load), seconds })
        rates.get(server)?.push(rate)
        say(`${kind}, round ${round} of ${rounds}: ${server.name} ${Math.round(rate).toLocaleString('en')} a second`)
      }
    }
    for (const [server, all] of rates) measured.push({ kind, server: server.name, rate: median(all) })
  }
  return measured
}
