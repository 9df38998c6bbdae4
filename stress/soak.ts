/** `npm run soak`: loads the service for minutes and reports whether memory, open files, the WAL or latency grow. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { filterFields, type Resource } from '../engine/descriptor/registry.js'
import { progressBar } from '../engine/process/progress.js'
import { defineCommand, integer, runCommand } from '../support/options.js'
import { type Random, seededRandom, seedOption } from '../support/random.js'

const command = {
  name: 'soak',
  about:
    'Loads the service with reads and writes for minutes and reports growth of memory, open files, WAL and latency.',
  options: {
    minutes: integer('duration of the load', 10, { max: 10_000 }),
    // Enough rows for some reads to run in worker threads.
    rows: integer('rows in each table, in addition to the demo rows', 21_000, { min: 0, max: 1_000_000 }),
    seed: seedOption(),
  },
  example: '--minutes 2',
}

const clients = 8
const sampleIntervalMs = 10_000

/** What is sampled, and the largest growth that is allowed: a factor and, for small values, an amount. */
const limits = {
  'RSS in MB': { factor: 1.15, amount: 10 },
  'open files': { factor: 1, amount: 8 },
  'WAL in MB': { factor: 1.5, amount: 4 },
  'p99 in ms': { factor: 2, amount: 5 },
}
type Sample = Record<keyof typeof limits, number>

const someQuery = (random: Random, resource: Resource): string => {
  const row = random.pick(resource.demo)
  const [filter] = filterFields(resource)
  const text = Object.values(row).find((value) => typeof value === 'string') ?? ''
  return random.pick([
    `?limit=${1 + random.below(50)}&offset=${random.below(500)}`,
    `/${row['id']}`,
    `?q=${encodeURIComponent(String(text).slice(0, 1 + random.below(12)))}&limit=10`,
    filter ? `?limit=10&${filter.name}=${encodeURIComponent(String(row[filter.name] ?? 1))}` : '',
  ])
}

await runCommand(
  defineCommand(command, async ({ minutes, rows, seed }) => {
    const { temporaryFolder } = await import('../support/cleanup.js')
    const { startProcess } = await import('../support/process.js')
    const { RawConnection } = await import('../support/rawHttp.js')
    const { median, p99 } = await import('../support/statistics.js')
    const { serviceEnvironment, fillDatabase, rowPath, read, registry, project } = await import('./service.js')
    const { Ledger } = await import('./ledger.js')
    const { send } = await import('./writeClients.js')
    console.log(`Seed ${seed}; --seed ${seed} repeats the requests.`)
    const report = progressBar('soak', minutes * 60, 'seconds')
    const path = join(temporaryFolder('soak').path, 'soak.sqlite')
    const url = `sqlite:${path}`
    await fillDatabase(url, rows)
    const running = await startProcess(serviceEnvironment(url), { project })
    const random = seededRandom(seed)
    const ledger = new Ledger(random, 'soak')
    const errors = new Map<string, number>()
    let durations: number[] = []
    let requests = 0
    let isRunning = true

    const client = async (): Promise<void> => {
      const connection = new RawConnection(running.address)
      while (isRunning && running.child.exitCode === null) {
        const n = ++requests
        const start = performance.now()
        const resource = random.pick(registry)
        const sent =
          n % 12 === 0
            ? send(connection, ledger, ledger.next())
            : read(connection, `${rowPath(resource)}${someQuery(random, resource)}`).then(({ status }) => {
                if (status >= 500) throw new Error(`status ${status}`)
              })
        const message = await sent.then(() => '').catch(String)
        // Nothing is repeated here.
        ledger.sent = []
        if (message) errors.set(message, (errors.get(message) ?? 0) + 1)
        durations.push(performance.now() - start)
      }
      connection.close()
    }

    const loads = Array.from({ length: clients }, client)
    const samples: Sample[] = []
    for (const start = performance.now(); performance.now() - start < minutes * 60_000; ) {
      await setTimeout(sampleIntervalMs)
      const { pid } = running.child
      samples.push({
        'RSS in MB': Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
        'open files': readdirSync(`/proc/${pid}/fd`).length,
        'WAL in MB': (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) / 2 ** 20,
        'p99 in ms': p99(durations),
      })
      durations = []
      report(Math.min(Math.round((performance.now() - start) / 1000), minutes * 60))
    }
    isRunning = false
    await Promise.all(loads)
    if ((await running.end('SIGTERM')) !== 0) errors.set(`not stopped cleanly: ${running.output().slice(-500)}`, 1)
    console.log(`${requests.toLocaleString('en')} requests in ${minutes} minutes`)

    // The medians of the first and the last third, after a warm-up of a tenth.
    const warm = samples.slice(Math.ceil(samples.length / 10))
    const third = Math.max(1, Math.floor(warm.length / 3))
    let hasGrown = false
    for (const [name, { factor, amount }] of Object.entries(limits)) {
      const takeMedian = (part: readonly Sample[]) => median(part.map((sample) => sample[name as keyof Sample]))
      const [first, last] = [takeMedian(warm.slice(0, third)), takeMedian(warm.slice(-third))]
      const limit = first * factor + amount
      hasGrown ||= last > limit
      const range = `${first.toFixed(1)} in the first third, ${last.toFixed(1)} in the last (limit ${limit.toFixed(1)})`
      console.log(`${name}: ${range}: ${last > limit ? 'GROWS' : 'flat'}`)
    }
    for (const [message, count] of errors) console.error(`${count} times: ${message}`)
    process.exit(hasGrown || errors.size > 0 ? 1 : 0)
  }),
)
