/** A database system to benchmark on: how its databases are created, and which peers use it. */
import { once } from 'node:events'
import { join } from 'node:path'
import { publicDatabaseUrl } from '../engine/process/databaseUrl.js'
import { spawnChild } from '../support/cleanup.js'
import { build } from './paths.js'
import type { BenchServer } from './processes.js'

export interface BenchTarget {
  /** The heading of its section in the report. */
  readonly system: string
  /** The command that creates the report. */
  readonly command: string
  /** What all servers have in common, for the report. */
  readonly setup: string
  /** Remarks at the end of the report. */
  readonly notes: readonly string[]
  /** The first port of the servers; targets have different ones, so that they can run at the same time. */
  readonly port: number
  /** The URL of a database with the demo data and this many more employees; created once and reused by later runs. */
  database(name: string, extraRows: number): Promise<string>
  peers(url: string, bodies: { page: string; row: string }, port: number): BenchServer[]
  close(): Promise<void>
}

/** Adds employees to a database. */
export const seed = async (url: string, rows: number): Promise<void> => {
  const env = { ...process.env, DATABASE_URL: url }
  const args = [join(build, 'cli', 'seed.js'), '--rows', String(rows)]
  const child = spawnChild(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`npm run seed failed for ${publicDatabaseUrl(url)}`)
}
