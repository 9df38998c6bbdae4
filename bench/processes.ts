/** The measured servers, each in its own process: starting, waiting for the port, stopping. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { folders } from '../product.js'
import { spawnChild } from '../support/cleanup.js'
import { startFlags } from '../support/process.js'

export const root = dirname(folders.seeds)

/** The build that this process runs. */
export const build = dirname(import.meta.dirname)

export interface RunningServer {
  readonly name: string
  readonly address: string
  /** The path of the page at an offset. */
  readonly page: (offset: number) => string
  readonly row: string
  stop(): Promise<void>
}

export interface BenchServer {
  readonly name: string
  /** Why the server cannot run on this machine. */
  readonly unavailable?: string
  start(): Promise<RunningServer>
}

export const peersFolder = join(root, 'bench', 'peers')

/** npm writes this file last, so an interrupted installation does not count. */
export const arePeersInstalled = (): boolean => existsSync(join(peersFolder, 'node_modules', '.package-lock.json'))

/** Starts a server and waits until it listens. Its output is discarded: reading it would slow down the measurement. */
const launch = async (
  name: string,
  command: string,
  args: string[],
  env: Record<string, string>,
): Promise<ChildProcess> => {
  const child = spawnChild(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] })
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null) throw new Error(`it exited with code ${child.exitCode} before it listened`)
    if (await fetch(`http://127.0.0.1:${env['PORT']}/`).catch(() => undefined)) return child
    await setTimeout(100)
  }
  child.kill('SIGKILL')
  throw new Error(`${name} did not listen within a minute`)
}

const runningServer = (
  name: string,
  port: number,
  child: ChildProcess,
  paths: Pick<RunningServer, 'page' | 'row'>,
): RunningServer => ({
  name,
  address: `http://127.0.0.1:${port}`,
  ...paths,
  async stop() {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  },
})

/** The paths of this service and of the hand-written peers. */
const restPaths = {
  page: (offset: number) => `/api/v1/employees?limit=50&offset=${offset}`,
  row: '/api/v1/employees/7',
}

/** This service with its default settings. */
export const thisService = (url: string, port: number, env: Record<string, string> = {}): BenchServer => ({
  name: 'this service',
  async start() {
    const settings = { PORT: String(port), DATABASE_URL: url, HOST: '127.0.0.1', ...env }
    const args = [...startFlags, join(build, 'server.js')]
    const child = await launch('this service', process.execPath, args, settings)
    return runningServer('this service', port, child, restPaths)
  },
})

/** A peer in a file of `bench/peers/`. */
export const nodePeer = (
  name: string,
  file: string,
  port: number,
  env: Record<string, string>,
  paths = restPaths,
): BenchServer => ({
  name,
  ...(arePeersInstalled() ? {} : { unavailable: 'its packages could not be installed' }),
  async start() {
    const child = await launch(name, process.execPath, [join(peersFolder, file)], { PORT: String(port), ...env })
    return runningServer(name, port, child, paths)
  },
})
