/** `npm run bench`: installs the peers, creates the databases, measures, and writes its section of docs/benchmarks.md. */
import type { SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endProgressLine } from '../engine/process/progress.js'
import { spawnChild } from '../support/cleanup.js'
import { defineCommand, flag, integer, runCommand } from '../support/options.js'
import { root } from '../support/root.js'
import { measureChanges } from './changes.js'
import { measureGrowth, readBody } from './growth.js'
import { measureImports } from './imports.js'
import { measureOperations } from './operations.js'
import { arePeersInstalled, type BenchServer, peersFolder, type RunningServer, thisService } from './processes.js'
import { changesPart, markdown, operationsPart, rightsPart, withSection } from './report.js'
import { measureRights } from './rights.js'
import { dataFolder, postgresTarget, sqliteTarget } from './targets.js'
import { measure } from './throughput.js'

const command = {
  name: 'bench',
  about: 'Compares the service with its peers, and writes its section of docs/benchmarks.md.',
  options: {
    postgres: flag('measure on PostgreSQL instead of SQLite'),
    rows: integer('rows of the large table', 1_000_000, { min: 1_000, max: 100_000_000 }),
    rounds: integer('rounds of each measurement; the report has the best', 5, { max: 1_000 }),
    operations: flag('measure custom operations only, and print the result'),
    rights: flag('measure rules that follow references only, and print the result'),
    changes: flag('measure the log of changes only, and print the result'),
    seconds: integer('seconds per measurement', 4, { max: 3_600 }),
  },
  example: '--rows 100000 --rounds 3 --seconds 2',
}

const log = (line: string) => {
  endProgressLine()
  console.error(line)
}

const installPeers = async (): Promise<void> => {
  if (arePeersInstalled()) return
  log('Installing the peers …')
  const options: SpawnOptions = { cwd: peersFolder, stdio: ['ignore', 'ignore', 'inherit'] }
  const [code] = await once(spawnChild('npm', ['ci', '--silent'], options, 'SIGTERM'), 'exit')
  if (code !== 0) log('The peers could not be installed; the report will say so.')
}

const startAll = async (benchServers: readonly BenchServer[]) => {
  const servers: RunningServer[] = []
  const unavailable: { name: string; reason: string }[] = []
  for (const server of benchServers) {
    try {
      servers.push(await server.start())
    } catch (error) {
      unavailable.push({ name: server.name, reason: (error as Error).message })
    }
  }
  return { servers, unavailable }
}

await runCommand(
  defineCommand(command, async ({ postgres, rows, rounds, seconds, ...only }) => {
    mkdirSync(dataFolder, { recursive: true })
    if (!only.operations && !only.rights && !only.changes) await installPeers()
    const target = postgres ? await postgresTarget() : sqliteTarget
    const parts = {
      operations: async () => measureOperations(await target.emptyDatabase('operations')),
      rights: async () => measureRights(await target.emptyDatabase('rights'), target.analyze),
      changes: async () => measureChanges(await target.emptyDatabase('changes'), target.analyze),
    }
    if (only.operations || only.rights || only.changes) {
      if (only.operations) console.log(operationsPart(await parts.operations()))
      if (only.rights) console.log(rightsPart(await parts.rights()))
      if (only.changes) console.log(changesPart(await parts.changes()))
      await target.close()
      return
    }
    const ports = { service: 0, peers: 10, small: 20, large: 21 }
    const portOf = (server: keyof typeof ports): number => target.port + ports[server]
    const database = await target.database('reads', 30_000)
    const service = await thisService(database, portOf('service')).start()

    const bodies = { page: join(dataFolder, 'page.json'), row: join(dataFolder, 'row.json') }
    writeFileSync(bodies.page, await readBody(service.address + service.page(0)))
    writeFileSync(bodies.row, await readBody(service.address + service.row))

    const { servers: peers, unavailable } = await startAll(target.peers(database, bodies, portOf('peers')))
    const servers = [service, ...peers]
    const measured = await measure(servers, { rounds, seconds }, log)
    for (const server of servers) await server.stop()

    log('Imports …')
    const imports = await measureImports(await target.database('imports', 1))
    log('Custom operations …')
    const operations = await parts.operations()
    log('Rules that follow references …')
    const rights = await parts.rights()
    log('The log of changes …')
    const changes = await parts.changes()
    log(`Growth to ${rows.toLocaleString('en')} rows …`)
    const uncached = { CACHE_MB: '0' }
    const demo = thisService(await target.database('demo', 1), portOf('small'), uncached)
    const large = thisService(await target.database(`employees-${rows}`, rows), portOf('large'), uncached)
    const growths = await measureGrowth(demo, large, rows)
    await target.close()

    const report = markdown({
      target,
      measured,
      unavailable,
      imports,
      operations,
      rights,
      changes,
      growth: { rows, growths },
    })
    const page = join(root, 'docs', 'benchmarks.md')
    writeFileSync(page, withSection(readFileSync(page, 'utf8'), report))
    console.log(report)
  }),
)
