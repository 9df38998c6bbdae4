/** Fills a table with rows, in the database that DATABASE_URL names: `npm run seed -- --rows 1000000 --resource employees`. */
import { loadRegistry } from '../engine/descriptor/load.js'
import { nearest } from '../engine/descriptor/nearest.js'
import type { RowValues } from '../engine/descriptor/registry.js'
import { readSettings } from '../engine/settings.js'
import { openStorage } from '../engine/storage/open.js'
import { folders } from '../product.js'
import { CommandError, integer, runCommand, text, UsageError } from '../support/options.js'
import { progressBar } from '../support/progress.js'
import { bulkRow, withSampleRows } from '../support/samples.js'

const batch = 5_000

const command = {
  name: 'npm run seed',
  about: 'Adds rows to a table of the database that DATABASE_URL names: variations of its demo rows.',
  options: {
    rows: integer('how many rows to add', 1_000_000, { max: 1_000_000_000 }),
    resource: text('the resource to add them to, by its path', 'PATH', 'employees'),
  },
  example: 'DATABASE_URL=sqlite:data/large.sqlite npm run seed -- --rows 100000 --resource jobs',
}

await runCommand(command, async ({ rows: wanted, resource: path }) => {
  const settings = readSettings(process.env)
  const registry = withSampleRows(await loadRegistry(folders))
  const resource = registry.find((one) => one.path === path)
  if (!resource) {
    const paths = registry.map((one) => one.path)
    const near = nearest(path, paths)
    const advice = near ? `Did you mean ${near}?` : `There are ${paths.join(', ')}.`
    throw new UsageError(`--resource is "${path}", which is not a resource. ${advice}`)
  }
  if (settings.DATABASE_URL === 'sqlite::memory:') {
    throw new CommandError('DATABASE_URL is sqlite::memory:, which would be gone at the end; name a file.')
  }
  const storage = await openStorage(registry, settings.DATABASE_URL, {
    demo: true,
    cacheBytes: 0,
    readTimeoutMs: settings.READ_TIMEOUT_MS,
    pool: { size: 1, waitMs: settings.POOL_WAIT_MS, idleMs: settings.POOL_IDLE_MS, statementMs: 600_000 },
    progress: () => {},
    warn: console.warn,
  })
  const report = progressBar(resource.table, wanted, 'rows')
  report(0)
  for (let done = 0; done < wanted; done += batch) {
    const count = Math.min(batch, wanted - done)
    const rowAt = (_: unknown, n: number): RowValues => bulkRow(resource, resource.demo.length + done + n)
    await storage.load(resource, Array.from({ length: count }, rowAt)).catch((error: Error) => {
      throw new CommandError(`The database refused the rows: ${error.message}`)
    })
    report(done + count)
  }
  await storage.close()
})
