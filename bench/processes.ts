/** The measured servers, each in its own process: starting, waiting for the port, stopping. */
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnChild } from '../support/cleanup.js'
import { startFlags, untilResponding } from '../support/process.js'
import { main, root } from '../support/root.js'

export interface RunningServer {
  readonly name: string
  readonly address: string
  /** The path of the page at an offset. */
  readonly page: (offset: number) => string
  readonly row: string
  /** The CPU time of all its threads so far, in microseconds, with that of the kernel for it. */
  cpuTime(): number
  stop(): Promise<void>
}

export interface BenchServer {
  readonly name: string
  /** Rejects if the server cannot run on this machine. */
  start(): Promise<RunningServer>
}

export const peersFolder = join(root, 'bench', 'peers')

/** npm writes this file last, so an interrupted installation does not count. */
export const arePeersInstalled = (): boolean => existsSync(join(peersFolder, 'node_modules', '.package-lock.json'))

/** The paths of this service and of the hand-written peers. */
const restPaths = {
  page: (offset: number) => `/api/v1/employees?limit=50&offset=${offset}`,
  row: '/api/v1/employees/7',
}

/** Linux counts the CPU time of a process in hundredths of a second: fields 14 and 15, of which the second may contain spaces. */
const cpuTime = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

/** Starts a server and waits until it listens. Its output is discarded: reading it would slow down the measurement. */
const start = async (
  name: string,
  args: readonly string[],
  port: number,
  settings: Readonly<Record<string, string>>,
  paths = restPaths,
): Promise<RunningServer> => {
  const env = { ...process.env, PORT: String(port), ...settings }
  const child = spawnChild(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const address = `http://127.0.0.1:${port}`
  const stop = async () => {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
  await untilResponding(address, child)
  return { name, address, ...paths, cpuTime: () => cpuTime(child.pid as number), stop }
}

/** This service with its default settings. */
export const thisService = (url: string, port: number, env: Record<string, string> = {}): BenchServer => {
  const name = 'this service'
  const args = [...startFlags, main, 'start']
  return { name, start: () => start(name, args, port, { DATABASE_URL: url, HOST: '127.0.0.1', ...env }) }
}

/** A peer in a file of `bench/peers/`. */
export const nodePeer = (
  name: string,
  file: string,
  port: number,
  env: Record<string, string>,
  paths = restPaths,
): BenchServer => ({
  name,
  async start() {
    if (!arePeersInstalled()) throw new Error('its packages could not be installed')
    return start(name, [join(peersFolder, file)], port, env, paths)
  },
})
