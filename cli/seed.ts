/** Fills a resource's table: `npm run seed -- --rows 1000000 [--resource employees]`, into the database of DATABASE_URL. */
import { parseArgs } from 'node:util'
import { loadRegistry } from '../engine/descriptor/load.js'
import { didYouMean } from '../engine/descriptor/nearest.js'
import type { RowValues } from '../engine/descriptor/registry.js'
import { readSettings } from '../engine/settings.js'
import { openStorage } from '../engine/storage/open.js'
import { folders } from '../product.js'
import { progressBar } from '../support/progress.js'
import { manyRow, withRows } from '../support/samples.js'

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '1000000' }, resource: { type: 'string', default: 'employees' } },
})
const wanted = Number(values.rows)
const registry = withRows(await loadRegistry(folders))
const paths = registry.map(({ path }) => path)
const resource = registry.find(({ path }) => path === values.resource)
if (!resource || !Number.isSafeInteger(wanted) || wanted < 1) {
  const problem = resource
    ? `--rows is "${values.rows}", but it takes a number of rows`
    : `"${values.resource}" is no resource`
  console.error(`${problem}${resource ? '' : didYouMean(values.resource, paths)}`)
  process.exit(1)
}

const settings = readSettings(process.env)
const storage = await openStorage(registry, settings.DATABASE_URL, {
  demo: true,
  readyBytes: 0,
  pool: { size: 1, waitMs: settings.POOL_WAIT_MS, idleMs: settings.POOL_IDLE_MS, statementMs: 600_000 },
  progress: () => {},
  warn: console.warn,
})
const batch = 5_000
const bar = progressBar(resource.table, wanted, 'rows')
for (let done = 0; done < wanted; done += batch) {
  const count = Math.min(batch, wanted - done)
  const rows: RowValues[] = Array.from({ length: count }, (_, n) => manyRow(resource, resource.demo.length + done + n))
  await storage.load(resource, rows)
  bar(done + count)
}
await storage.close()
