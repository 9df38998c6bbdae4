/** What the benchmarks stand on: a kind of database, how its databases are made, and which peers there are for it. */
import { once } from 'node:events'
import { join } from 'node:path'
import { publicDatabaseUrl } from '../engine/settings.js'
import { spawnChild } from '../support/cleanup.js'
import { build } from './paths.js'
import type { Entrant } from './processes.js'

export interface Ground {
  /** The name of the report's files, its title, and how it is asked for. */
  readonly report: string
  readonly title: string
  readonly command: string
  /** What all servers share, as the report says it. */
  readonly shared: string
  /** What has to be said besides the figures. */
  readonly notes: readonly string[]
  /** Whether the server that is asked for a create is the process that syncs. */
  readonly syncsItself: boolean
  /** The ports from which on the servers listen: both grounds may be measured at once. */
  readonly port: number
  /** The address of a database with so many employees besides the demo data, made once and kept. */
  database(name: string, more: number): Promise<string>
  /** The address of a database that nobody has used. */
  scratch(): Promise<string>
  peers(address: string, bodies: { page: string; row: string }, port: number): Entrant[]
  close(): Promise<void>
}

/** Fills the employees of a database. */
export const seed = async (address: string, more: number): Promise<void> => {
  const env = { ...process.env, DATABASE_URL: address }
  const args = [join(build, 'cli', 'seed.js'), '--rows', String(more)]
  const child = spawnChild(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`seeding ${publicDatabaseUrl(address)} failed`)
}
