/** Moves every row to another database: `npm run copy -- --from sqlite:PATH --to postgres://USER@HOST/NAME`. */
import { createHash } from 'node:crypto'
import { parseArgs } from 'node:util'
import { loadRegistry } from '../engine/descriptor/load.js'
import type { Resource } from '../engine/descriptor/registry.js'
import { readSettings } from '../engine/settings.js'
import { openStorage } from '../engine/storage/open.js'
import type { Batch, Storage } from '../engine/storage/storage.js'
import { folders } from '../product.js'
import { progressBar } from '../support/progress.js'

const batch = 5_000

const { values } = parseArgs({ options: { from: { type: 'string' }, to: { type: 'string' } } })

const fail = (problem: string): never => {
  console.error(problem)
  process.exit(1)
}

const registry = await loadRegistry(folders)

const open = (option: 'from' | 'to'): Promise<Storage> => {
  const url = values[option] ?? fail(`--${option} names a database, such as sqlite:data/workforce.sqlite`)
  const settings = readSettings({ ...process.env, DATABASE_URL: url })
  return openStorage(registry, settings.DATABASE_URL, {
    demo: false,
    readyBytes: 0,
    // All rows go over in one transaction, which waits for the other database to read them.
    pool: { size: 2, waitMs: settings.POOL_WAIT_MS, idleMs: settings.POOL_IDLE_MS, statementMs: 3_600_000 },
    progress: () => {},
    warn: console.warn,
  })
}

/** The rows of one resource, a batch at a time. */
const batchesOf = async function* (storage: Storage, resource: Resource): AsyncGenerator<Batch> {
  let after = Number.MIN_SAFE_INTEGER
  for (;;) {
    const rows = await storage.rows(resource, after, batch)
    if (rows.length === 0) return
    yield { resource, rows }
    after = Number(rows.at(-1)?.['id'])
  }
}

const allOf = async function* (storage: Storage, total: number): AsyncGenerator<Batch> {
  const bar = progressBar('copy', total, 'rows')
  let done = 0
  for (const resource of registry) {
    for await (const some of batchesOf(storage, resource)) {
      yield some
      done += some.rows.length
      bar(done)
    }
  }
}

/** How many rows a resource has, and the hash of every value in them. */
const digestOf = async (storage: Storage, resource: Resource): Promise<string> => {
  const hash = createHash('sha256')
  let count = 0
  for await (const { rows } of batchesOf(storage, resource)) {
    for (const row of rows) hash.update(`${JSON.stringify(resource.fields.map(({ name }) => row[name] ?? null))}\n`)
    count += rows.length
  }
  return `${count} rows ${hash.digest('hex').slice(0, 16)}`
}

const totalOf = async (storage: Storage): Promise<number> =>
  [...(await storage.counts()).values()].reduce((sum, rows) => sum + rows, 0)

const copy = async (): Promise<void> => {
  const [from, to] = [await open('from'), await open('to')]
  if ((await totalOf(to)) > 0) fail('--to has rows already, and none of them is overwritten; name an empty database.')
  await to.fill(allOf(from, await totalOf(from)))
  for (const resource of registry) {
    const [sent, stored] = [await digestOf(from, resource), await digestOf(to, resource)]
    if (sent !== stored) fail(`${resource.path}: ${sent} were read, but ${stored} are there; do not use the copy.`)
    console.log(`${resource.path}: ${stored}, the same in both`)
  }
  await Promise.all([from.close(), to.close()])
}

await copy().catch((error: Error) => fail(error.message))
