/** The servers that are measured: each a process of its own, started, waited for and ended. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { spawnChild } from '../support/cleanup.js'
import { startFlags } from '../support/process.js'
import { build, root } from './paths.js'

export interface Server {
  readonly name: string
  readonly address: string
  /** The path of a page at an offset, and of one row. */
  readonly page: (offset: number) => string
  readonly row: string
  readonly pid: number
  stop(): Promise<void>
}

/** How a server is started, or why it cannot take part here. */
export interface Entrant {
  readonly name: string
  readonly missing?: string
  start(): Promise<Server>
}

export const peersFolder = join(root, 'bench', 'peers')

/** Starts one and waits until it listens. What it says goes nowhere: reading it here would take time from the measurement. */
export const launch = async (
  name: string,
  command: string,
  args: string[],
  env: Record<string, string>,
): Promise<ChildProcess> => {
  const child = spawnChild(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] })
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null) throw new Error(`it ended with code ${child.exitCode} before it listened`)
    if (await fetch(`http://127.0.0.1:${env['PORT']}/`).catch(() => undefined)) return child
    await setTimeout(100)
  }
  child.kill('SIGKILL')
  throw new Error(`${name} did not listen within a minute`)
}

/** A server that listens. */
export const serverOf = (
  name: string,
  port: number,
  child: ChildProcess,
  paths: Pick<Server, 'page' | 'row'>,
): Server => ({
  name,
  address: `http://127.0.0.1:${port}`,
  pid: child.pid ?? 0,
  ...paths,
  async stop() {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  },
})

/** The paths of the service, and of the peers that are written by hand. */
export const restPaths = {
  page: (offset: number) => `/api/v1/employees?limit=50&offset=${offset}`,
  row: '/api/v1/employees/7',
}

/** This service, at its default settings, on the database at an address. */
export const ours = (address: string, port: number, env: Record<string, string> = {}): Entrant => ({
  name: 'this service',
  async start() {
    const settings = { PORT: String(port), DATABASE_URL: address, HOST: '127.0.0.1', ...env }
    const args = [...startFlags, join(build, 'server.js')]
    const child = await launch('this service', process.execPath, args, settings)
    return serverOf('this service', port, child, restPaths)
  },
})

/** A peer that is a file of the peers' folder. */
export const nodePeer = (
  name: string,
  file: string,
  port: number,
  env: Record<string, string>,
  paths = restPaths,
): Entrant => ({
  name,
  ...(existsSync(join(peersFolder, 'node_modules')) ? {} : { missing: 'its packages could not be installed' }),
  async start() {
    const child = await launch(name, process.execPath, [join(peersFolder, file)], { PORT: String(port), ...env })
    return serverOf(name, port, child, paths)
  },
})
