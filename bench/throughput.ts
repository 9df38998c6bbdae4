/** Measures reads of all servers in alternating rounds, so that noise affects all of them alike. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { progressBar } from '../engine/process/progress.js'
import { type TemporaryFolder, temporaryFolder } from '../support/cleanup.js'
import { CommandError } from '../support/options.js'
import { median } from '../support/statistics.js'
import type { RunningServer } from './processes.js'

let scripts: TemporaryFolder | undefined

/** Requests paths in turn with wrk and sixteen connections; resolves with requests per second. */
const generateLoad = async (address: string, paths: readonly string[], seconds: number): Promise<number> => {
  const args = ['-t1', '-c16', `-d${seconds}`, `${address}${paths[0]}`]
  if (paths.length > 1) {
    scripts ??= temporaryFolder('bench')
    const script = join(scripts.path, 'paths.lua')
    const list = paths.map((path) => JSON.stringify(path)).join(',')
    writeFileSync(script, `local p={${list}} local n=0 request=function() n=n%#p+1 return wrk.format("GET",p[n]) end`)
    args.unshift('-s', script)
  }
  const { stdout } = await promisify(execFile)('wrk', args).catch((error: Error & { code?: unknown }) => {
    throw error.code === 'ENOENT' ? new CommandError('wrk is not installed; install it, and try again.') : error
  })
  if (/Non-2xx/.test(stdout)) throw new Error(`${address} responded with errors`)
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1])
}

/** More distinct pages than any response cache stores. */
const distinctPages = 20_000

/** What is measured, and the paths of each. */
export const kinds: Readonly<Record<string, (server: RunningServer) => readonly string[]>> = {
  'repeated page': ({ page }) => [page(0)],
  'distinct pages': ({ page }) => Array.from({ length: distinctPages }, (_, n) => page(n)),
  'one row': ({ row }) => [row],
}

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
  const report = progressBar('reads', Object.keys(kinds).length * rounds * servers.length, 'measurements')
  let done = 0
  report(done)
  const measured: Measured[] = []
  for (const [kind, pathsOf] of Object.entries(kinds)) {
    const rates = new Map<RunningServer, number[]>(servers.map((server) => [server, []]))
    for (const server of servers) await generateLoad(server.address, pathsOf(server), 1)
    for (let round = 1; round <= rounds; round++) {
      for (const server of servers) {
        const rate = await generateLoad(server.address, pathsOf(server), seconds)
        rates.get(server)?.push(rate)
        log(`${kind}, round ${round} of ${rounds}: ${server.name} ${Math.round(rate).toLocaleString('en')} requests/s`)
        report(++done)
      }
    }
    for (const [server, all] of rates) measured.push({ kind, server: server.name, rate: median(all) })
  }
  return measured
}
