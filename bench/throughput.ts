/** Measures reads of all servers in alternating rounds, so that noise affects all of them alike. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { progressBar } from '../engine/process/progress.js'
import { type TemporaryFolder, temporaryFolder } from '../support/cleanup.js'
import { CommandError } from '../support/options.js'
import type { RunningServer } from './processes.js'

let scripts: TemporaryFolder | undefined

interface Load {
  /** Requests per second. */
  readonly rate: number
  /** Microseconds of CPU time per request. */
  readonly cpu: number
}

/** Requests paths in turn with wrk and sixteen connections. */
const generateLoad = async (
  { address, cpuTime }: RunningServer,
  paths: readonly string[],
  seconds: number,
): Promise<Load> => {
  const args = ['-t1', '-c16', `-d${seconds}`, `${address}${paths[0]}`]
  if (paths.length > 1) {
    scripts ??= temporaryFolder('bench')
    const script = join(scripts.path, 'paths.lua')
    const list = paths.map((path) => JSON.stringify(path)).join(',')
    writeFileSync(script, `local p={${list}} local n=0 request=function() n=n%#p+1 return wrk.format("GET",p[n]) end`)
    args.unshift('-s', script)
  }
  const before = cpuTime()
  const { stdout } = await promisify(execFile)('wrk', args).catch((error: Error & { code?: unknown }) => {
    throw error.code === 'ENOENT' ? new CommandError('wrk is not installed; install it, and try again.') : error
  })
  if (/Non-2xx/.test(stdout)) throw new Error(`${address} responded with errors`)
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1])
  return { rate: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]), cpu: (cpuTime() - before) / requests }
}

/** More distinct pages than any response cache stores. */
const distinctPages = 20_000

/** What is measured, and the paths of each. */
export const kinds: Readonly<Record<string, (server: RunningServer) => readonly string[]>> = {
  'repeated page': ({ page }) => [page(0)],
  'distinct pages': ({ page }) => Array.from({ length: distinctPages }, (_, n) => page(n)),
  'one row': ({ row }) => [row],
}

/** The best of the rounds: other work of the machine only slows a server down. */
export interface Measured extends Load {
  readonly kind: string
  readonly server: string
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
    const loads = new Map<RunningServer, Load[]>(servers.map((server) => [server, []]))
    for (const server of servers) await generateLoad(server, pathsOf(server), 1)
    for (let round = 1; round <= rounds; round++) {
      for (const server of servers) {
        const load = await generateLoad(server, pathsOf(server), seconds)
        loads.get(server)?.push(load)
        const rate = Math.round(load.rate).toLocaleString('en')
        log(`${kind}, round ${round} of ${rounds}: ${server.name} ${rate} requests/s, ${Math.round(load.cpu)} µs each`)
        report(++done)
      }
    }
    for (const [{ name }, all] of loads) {
      const [rate, cpu] = [Math.max(...all.map((load) => load.rate)), Math.min(...all.map((load) => load.cpu))]
      measured.push({ kind, server: name, rate, cpu })
    }
  }
  return measured
}
