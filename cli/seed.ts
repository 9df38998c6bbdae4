/** Adds rows to a table of the database in DATABASE_URL: `npm run seed -- --rows 1000000 --resource employees`. */
import { loadRegistry } from '../engine/descriptor/load.js'
import { nearest } from '../engine/descriptor/nearest.js'
import { readSettings } from '../engine/settings.js'
import { openStorage } from '../engine/storage/open.js'
import { folders } from '../product.js'
import { addBulkRows } from '../support/bulkRows.js'
import { CommandError, integer, runCommand, text, UsageError } from '../support/options.js'
import { progressBar } from '../support/progress.js'
import { withSampleRows } from '../support/samples.js'

const command = {
  name: 'npm run seed',
  about: 'Adds variations of the demo rows to a table of the database in DATABASE_URL.',
  options: {
    rows: integer('how many rows to add', 1_000_000, { max: 1_000_000_000 }),
    resource: text('path of the resource to add them to', 'PATH', 'employees'),
  },
  example: 'DATABASE_URL=sqlite:data/large.sqlite npm run seed -- --rows 100000 --resource jobs',
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
  const report = progressBar(resource.table, total, 'rows')
  await addBulkRows(storage, registry, resource, total, report)
  await storage.close()
})
