/** Adds rows to a table of the database in DATABASE_URL: `npm run seed -- --rows 1000000 --resource employees`. */
import { loadRegistry } from '../engine/descriptor/load.js'
import { nearest } from '../engine/descriptor/nearest.js'
import type { Field, Registry, Resource, RowValues } from '../engine/descriptor/registry.js'
import { readSettings } from '../engine/settings.js'
import { openStorage } from '../engine/storage/open.js'
import type { Storage } from '../engine/storage/storage.js'
import { folders } from '../product.js'
import { CommandError, integer, runCommand, text, UsageError } from '../support/options.js'
import { progressBar } from '../support/progress.js'
import { bulkRows, withSampleRows } from '../support/samples.js'

const batchSize = 5_000

const command = {
  name: 'npm run seed',
  about: 'Adds variations of the demo rows to a table of the database in DATABASE_URL.',
  options: {
    rows: integer('how many rows to add', 1_000_000, { max: 1_000_000_000 }),
    resource: text('path of the resource to add them to', 'PATH', 'employees'),
  },
  example: 'DATABASE_URL=sqlite:data/large.sqlite npm run seed -- --rows 100000 --resource jobs',
}

/** The largest id, so that a second run continues with other values; found by bisection. */
const lastId = async (storage: Storage, resource: Resource): Promise<number> => {
  let [low, high] = [0, Number.MAX_SAFE_INTEGER]
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2)
    if ((await storage.rows(resource, middle, 1)).length > 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Every row of a resource, in batches. */
async function* rowsOf(storage: Storage, resource: Resource): AsyncGenerator<RowValues> {
  for (let after = 0; ; ) {
    const rows = await storage.rows(resource, after, batchSize)
    if (rows.length === 0) return
    yield* rows
    after = Number(rows.at(-1)?.['id'])
  }
}

/** The ids of rows that no row references in this field, as many as are needed. */
const unreferenced = async (
  storage: Storage,
  registry: Registry,
  resource: Resource,
  { name, references }: Field,
  needed: number,
): Promise<RowValues[string][]> => {
  const taken = new Set<unknown>()
  for await (const row of rowsOf(storage, resource)) taken.add(row[name])
  const free: RowValues[string][] = []
  for await (const { id = null } of rowsOf(storage, registry.find(({ path }) => path === references) as Resource)) {
    if (free.length === needed) break
    if (!taken.has(id)) free.push(id)
  }
  if (free.length === needed) return free
  const reason = `each must reference a row of ${references} in ${name} that no other does`
  throw new CommandError(`Only ${free.length} rows can be added: ${reason}. Add rows to ${references} first.`)
}

await runCommand(command, async ({ rows: total, resource: path }) => {
  const settings = readSettings(process.env)
  const registry = withSampleRows(await loadRegistry(folders))
  const resource = registry.find((one) => one.path === path)
  if (!resource) {
    const paths = registry.map((one) => one.path)
    const near = nearest(path, paths)
    const advice = near ? `Did you mean ${near}?` : `The resources are ${paths.join(', ')}.`
    throw new UsageError(`--resource is "${path}", which is not a resource. ${advice}`)
  }
  if (settings.DATABASE_URL === 'sqlite::memory:') {
    throw new CommandError('DATABASE_URL is sqlite::memory:, which is lost when the command ends; use a file.')
  }
  const storage = await openStorage(registry, settings.DATABASE_URL, {
    demo: true,
    cacheBytes: 0,
    readTimeoutMs: settings.READ_TIMEOUT_MS,
    pool: { size: 1, waitMs: settings.POOL_WAIT_MS, idleMs: settings.POOL_IDLE_MS, statementMs: 600_000 },
    progress: () => {},
    warn: console.warn,
  })
  const bulkRow = bulkRows(resource)
  const first = Math.max(resource.demo.length, await lastId(storage, resource))
  const mandatory = resource.fields.filter(({ references, unique, required }) => references && unique && required)
  const references = new Map<string, RowValues[string][]>()
  for (const field of mandatory) {
    references.set(field.name, await unreferenced(storage, registry, resource, field, total))
  }
  const report = progressBar(resource.table, total, 'rows')
  report(0)
  for (let done = 0; done < total; done += batchSize) {
    const count = Math.min(batchSize, total - done)
    const rowAt = (_: unknown, n: number): RowValues => ({
      ...bulkRow(first + done + n),
      ...Object.fromEntries([...references].map(([name, ids]) => [name, ids[done + n] ?? null])),
    })
    await storage.fill([{ resource, rows: Array.from({ length: count }, rowAt) }]).catch((error: Error) => {
      throw new CommandError(`The rows could not be stored: ${error.message}`)
    })
    report(done + count)
  }
  await storage.close()
})
