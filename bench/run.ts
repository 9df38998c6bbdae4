/**
 * The benchmarks: `npm run bench [-- --rows 1000000 --rounds 5 --seconds 4]`. Installs the peers in their own folder, makes the
 * data, measures in alternating rounds, and writes `docs/benchmarks.md` and `docs/benchmarks.svg`.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from './client.js'
import { measureCreates } from './creates.js'
import { growth } from './growth.js'
import { loadGenerator } from './load.js'
import { dataFolder, root } from './paths.js'
import { type Entrant, ours, peers, peersFolder, type Server } from './processes.js'
import { chart, markdown } from './report.js'
import { kinds, measure } from './throughput.js'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
  },
})
const [rows, rounds, seconds] = [Number(values.rows), Number(values.rounds), Number(values.seconds)]
const say = (line: string) => console.error(line)
const ports = { ours: 4100, peers: 4110, small: 4120, large: 4121, creates: 4122 }
const token = 'the-token-of-the-benchmarks'

const installPeers = (): void => {
  if (existsSync(join(peersFolder, 'node_modules'))) return
  say('Installing the peers …')
  try {
    execFileSync('npm', ['ci', '--silent'], { cwd: peersFolder, stdio: ['ignore', 'ignore', 'inherit'] })
  } catch {
    say('The peers could not be installed; the table will say so.')
  }
}

/** A database with so many employees besides the demo data, made once and kept. */
const database = (name: string, more: number): string => {
  const path = join(dataFolder, `${name}.sqlite`)
  if (existsSync(path)) return path
  const env = { ...process.env, DATABASE_URL: `sqlite:${path}.new` }
  const seed = join(root, 'dist', 'bench', 'seed.js')
  execFileSync(process.execPath, [seed, '--rows', String(more)], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  execFileSync('mv', [`${path}.new`, path])
  return path
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

installPeers()
const { name: generator, generate } = loadGenerator()
const readings = database('reads', 30_000)
const us = await ours(readings, ports.ours).start()

const client = new Client(us.address)
const bodies = { page: join(dataFolder, 'page.json'), row: join(dataFolder, 'row.json') }
writeFileSync(bodies.page, (await client.call({ path: us.page(0) })).body)
writeFileSync(bodies.row, (await client.call({ path: us.row })).body)

const { servers, missing } = await startAll(peers(readings, bodies, ports.peers))
const measured = await measure([us, ...servers], generate, { rounds, seconds }, say)
for (const server of servers) await server.stop()

const tag = (await fetch(`${us.address}${us.page(0)}`, { headers: { 'accept-encoding': 'identity' } })).headers.get(
  'etag',
)
const unchangedRate = await generate({
  url: `${us.address}${us.page(0)}`,
  headers: { 'If-None-Match': tag ?? '' },
  seconds,
})
await us.stop()
const rateOf = (kind: string | undefined) =>
  measured.find((one) => one.kind === kind && one.server === us.name)?.rate ?? 0
const unchanged = { rate: unchangedRate, full: rateOf(kinds[0]?.name), fresh: rateOf(kinds[1]?.name) }

say('Creates …')
const scratch = join(dataFolder, 'creates.sqlite')
for (const suffix of ['', '-wal', '-shm']) rmSync(`${scratch}${suffix}`, { force: true })
const creating = await ours(scratch, ports.creates, { API_TOKEN: token }).start()
const creates = await measureCreates(creating, token)
await creating.stop()

say(`Growth to ${rows.toLocaleString('en')} rows …`)
const large = database(`employees-${rows}`, rows)
const grown = await growth(ours(database('demo', 1), ports.small), ours(large, ports.large), rows)

const findings = { generator, measured, missing, unchanged, creates, growth: { rows, ...grown } }
const report = markdown(findings)
writeFileSync(
  join(root, 'docs', 'benchmarks.md'),
  report.replace('# Benchmarks\n', '# Benchmarks\n\n![Requests a second](benchmarks.svg)\n'),
)
writeFileSync(join(root, 'docs', 'benchmarks.svg'), chart(findings))
console.log(report)
