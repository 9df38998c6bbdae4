/** Measures reads of all servers in alternating rounds, so that noise affects all of them alike. */
import { progressBar } from '../engine/process/progress.js'
import { median } from '../support/statistics.js'
import { generateLoad, type Load } from './load.js'
import type { RunningServer } from './processes.js'

export interface Kind {
  readonly name: string
  readonly load: (server: RunningServer) => Omit<Load, 'seconds'>
}

/** More distinct pages than any response cache stores. */
const distinctPages = 20_000

export const kinds: readonly Kind[] = [
  { name: 'repeated page', load: ({ address, page }) => ({ url: `${address}${page(0)}` }) },
  {
    name: 'distinct pages',
    load: ({ address, page }) => ({ url: address, paths: Array.from({ length: distinctPages }, (_, n) => page(n)) }),
  },
  { name: 'one row', load: ({ address, row }) => ({ url: `${address}${row}` }) },
]

export interface Measured {
  readonly kind: string
  readonly server: string
  /** Requests per second, the median of the rounds. */
  readonly rate: number
}

export const measure = async (
  servers: readonly RunningServer[],
  { rounds, seconds }: { rounds: number; seconds: number },
  log: (line: string) => void,
): Promise<Measured[]> => {
  const report = progressBar('reads', kinds.length * rounds * servers.length, 'measurements')
  let done = 0
  report(done)
  const measured: Measured[] = []
  for (const { name: kind, load } of kinds) {
    const rates = new Map<RunningServer, number[]>(servers.map((server) => [server, []]))
    for (const server of servers) await generateLoad({ ...load(server), seconds: 1 })
    for (let round = 1; round <= rounds; round++) {
      for (const server of servers) {
        const rate = await generateLoad({ ...load(server), seconds })
        rates.get(server)?.push(rate)
        log(`${kind}, round ${round} of ${rounds}: ${server.name} ${Math.round(rate).toLocaleString('en')} requests/s`)
        report(++done)
      }
    }
    for (const [server, all] of rates) measured.push({ kind, server: server.name, rate: median(all) })
  }
  return measured
}
