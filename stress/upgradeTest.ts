/** Migrations of a large table on PostgreSQL, each while clients create rows in it. */
import { Client } from 'pg'
import type { Resource } from '../engine/descriptor/registry.js'
import { progressBar } from '../engine/process/progress.js'
import { migrateStorage, openStorage } from '../engine/storage/open.js'
import { bulkRows } from '../support/bulkRows.js'
import { startPostgres } from '../support/postgresServer.js'
import { storageOptions } from '../support/storageOptions.js'
import { registry } from './service.js'

const clients = 4
const batchSize = 5_000

/** What each migration has to do again, by what is damaged before it. */
const damages: Readonly<Record<string, (table: string) => string>> = {
  'pg_trgm is added': () => 'drop extension pg_trgm cascade',
  'the searched text is computed': (table) => `alter table ${table} drop column registry_searched cascade`,
  'the triggers are created and the rows counted': (table) => `alter table ${table} disable trigger user`,
}

export interface Upgrade {
  readonly name: string
  readonly seconds: number
  readonly creates: number
  readonly slowestMs: number
}

const connected = async (url: string): Promise<Client> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  return client
}

/** Creates copies of the first row until it is stopped; returns how many, and the longest time in milliseconds. */
const createUntil = async (url: string, { table, fields }: Resource, isDone: () => boolean) => {
  const client = await connected(url)
  const columns = fields.filter(({ name }) => name !== 'id').map(({ name }) => `"${name}"`)
  let [creates, slowestMs] = [0, 0]
  for (; !isDone(); creates++) {
    const start = performance.now()
    await client.query(`insert into "${table}" (${columns}) select ${columns} from "${table}" order by id limit 1`)
    slowestMs = Math.max(slowestMs, Math.round(performance.now() - start))
  }
  await client.end()
  return { creates, slowestMs }
}

const fill = async (url: string, resource: Resource, rows: number): Promise<void> => {
  const storage = await openStorage(registry, url, storageOptions)
  const report = progressBar(resource.table, rows, 'rows')
  const bulkRow = bulkRows(resource)
  for (let done = 0; done < rows; done += batchSize) {
    report(done)
    const count = Math.min(batchSize, rows - done)
    await storage.fill([{ resource, rows: Array.from({ length: count }, (_, n) => bulkRow(done + n)) }])
  }
  report(rows)
  await storage.close()
}

/** Runs every migration on a table with this many rows. */
export const upgradeTest = async (rows: number, onUpgrade: (upgrade: Upgrade) => void): Promise<void> => {
  const resource = registry.find(({ create, fields }) => create && !fields.some(({ unique }) => unique)) as Resource
  const { url, stop } = await startPostgres()
  await fill(url, resource, rows)
  const other = await connected(url)
  for (const [name, damage] of Object.entries(damages)) {
    await other.query(damage(`"${resource.table}"`))
    let isDone = false
    const creating = Array.from({ length: clients }, () => createUntil(url, resource, () => isDone))
    const start = performance.now()
    const migrated = await migrateStorage(registry, url, { ...storageOptions, warn: console.warn, waitMs: 5_000 })
    const seconds = Math.round((performance.now() - start) / 1000)
    isDone = true
    const results = await Promise.all(creating)
    if (migrated.steps.length === 0 || migrated.miscounted.length > 0)
      throw new Error(`${name}: the migration is incomplete`)
    const creates = results.reduce((sum, result) => sum + result.creates, 0)
    onUpgrade({ name, seconds, creates, slowestMs: Math.max(...results.map((result) => result.slowestMs)) })
  }
  await other.end()
  await stop()
}
