/** The benchmarks: installs the peers, makes the data, measures in alternating rounds, and writes the report and its chart. */
import type { SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnChild } from '../support/cleanup.js'
import { Client } from './client.js'
import { measureCreates } from './creates.js'
import { growth } from './growth.js'
import { loadGenerator } from './load.js'
import { dataFolder, root } from './paths.js'
import { onPostgres } from './postgres.js'
import { type Entrant, ours, peersFolder, type Server } from './processes.js'
import { chart, markdown } from './report.js'
import { onSqlite } from './sqlite.js'
import { measure } from './throughput.js'
import { measureUnchanged } from './unchanged.js'

export interface Benchmarks {
  readonly postgres: boolean
  readonly rows: number
  readonly rounds: number
  readonly seconds: number
}

const say = (line: string) => console.error(line)
const token = 'the-token-of-the-benchmarks'

const installPeers = async (): Promise<void> => {
  if (existsSync(join(peersFolder, 'node_modules'))) return
  say('Installing the peers …')
  const options: SpawnOptions = { cwd: peersFolder, stdio: ['ignore', 'ignore', 'inherit'] }
  const [code] = await once(spawnChild('npm', ['ci', '--silent'], options, 'SIGTERM'), 'exit')
  if (code !== 0) say('The peers could not be installed; the table will say so.')
}

const startAll = async (entrants: readonly Entrant[]) => {
  const servers: Server[] = []
  const missing: { name: string; why: string }[] = []
  for (const entrant of entrants) {
    try {
      if (entrant.missing) missing.push({ name: entrant.name, why: entrant.missing })
      else servers.push(await entrant.start())
    } catch (error) {
      missing.push({ name: entrant.name, why: (error as Error).message })
    }
  }
  return { servers, missing }
}

/** Runs them all and prints the report. */
export const runBenchmarks = async ({ postgres, rows, rounds, seconds }: Benchmarks): Promise<void> => {
  await installPeers()
  const { name: generator, generate } = loadGenerator()
  const ground = postgres ? await onPostgres() : onSqlite
  const ports = { ours: 0, peers: 10, small: 20, large: 21, creates: 22 }
  const portOf = (server: keyof typeof ports): number => ground.port + ports[server]
  const readings = await ground.database('reads', 30_000)
  const us = await ours(readings, portOf('ours')).start()

  const client = new Client(us.address)
  const bodies = { page: join(dataFolder, 'page.json'), row: join(dataFolder, 'row.json') }
  writeFileSync(bodies.page, (await client.call({ path: us.page(0) })).body)
  writeFileSync(bodies.row, (await client.call({ path: us.row })).body)

  const { servers, missing } = await startAll(ground.peers(readings, bodies, portOf('peers')))
  const measured = await measure([us, ...servers], generate, { rounds, seconds }, say)
  say('Reads that have not changed …')
  const unchanged = await measureUnchanged([us, ...servers], generate, { rounds, seconds })
  for (const server of [us, ...servers]) await server.stop()

  say('Creates …')
  const creating = await ours(await ground.scratch(), portOf('creates'), { API_TOKEN: token }).start()
  const creates = await measureCreates(creating, token, ground.syncsItself)
  await creating.stop()

  say(`Growth to ${rows.toLocaleString('en')} rows …`)
  const uncached = { CACHE_MB: '0' }
  const demo = ours(await ground.database('demo', 1), portOf('small'), uncached)
  const large = ours(await ground.database(`employees-${rows}`, rows), portOf('large'), uncached)
  const grown = await growth(demo, large, rows)
  await ground.close()

  const findings = { ground, generator, measured, missing, unchanged, creates, growth: { rows, ...grown } }
  const report = markdown(findings)
  writeFileSync(join(root, 'docs', `${ground.report}.md`), report)
  writeFileSync(join(root, 'docs', `${ground.report}.svg`), chart(findings))
  console.log(report)
}
