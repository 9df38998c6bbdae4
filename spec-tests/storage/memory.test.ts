/** However many different lists are read, a process and the sessions of its database keep a bounded number of statements. */
import { existsSync, readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { number } from '../../engine/descriptor/index.js'
import { type Condition, defaultListQuery, type ListQuery } from '../../engine/descriptor/listQuery.js'
import type { Resource } from '../../engine/descriptor/registry.js'
import { openStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { runOn, server, sharedDatabase } from '../support/database.js'
import { resourceIn } from '../support/registryFrom.js'

const fields = ['a', 'b', 'c', 'd', 'e', 'f']
const gauges: Resource = resourceIn(
  'gauges',
  Object.fromEntries(fields.map((name) => [name, number({ sort: true, range: true })])),
)
const database = await sharedDatabase()
const pool = { ...storageOptions.pool, size: 1, idleMs: 600_000 }
const storage = await openStorage([gauges], database.url, { ...storageOptions, pool })
const rows = Array.from({ length: 20 }, (_, n) => ({ id: n + 1, a: n, b: n, c: n, d: n, e: n, f: n }))
await storage.fill([{ resource: gauges, rows }])

/** Lists, no two of which have the same SQL: a comparison of each field, or none. */
const distinctLists = (): ListQuery[] => {
  let wheres: Condition[][] = [[]]
  for (const field of fields) {
    const conditions = (['gte', 'gt', 'lte', 'lt'] as const).map((operator) => ({ field, operator, value: 1 }))
    wheres = wheres.flatMap((where) => [where, ...conditions.map((condition) => [...where, condition])])
  }
  return wheres.map((where) => ({ ...defaultListQuery, where, order: { field: 'a', descending: false } }))
}

/** The processes whose memory may grow: this one, and those of the server that serve it. */
const processes = async (): Promise<unknown[]> => {
  if (!server) return [process.pid]
  const ofService = `application_name = 'resource-registry-engine' and datname = current_database()`
  const sessions = await runOn(database.url, `select pid from pg_stat_activity where ${ofService}`)
  return [process.pid, ...sessions.map(({ pid }) => pid)]
}
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Their own memory in megabytes, without garbage; only Linux tells. */
const usedMemory = async (): Promise<number> => {
  collectGarbage()
  const files = (await processes()).map((pid) => `/proc/${pid}/status`).filter(existsSync)
  const kilobytes = files.map((file) => Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync(file, 'utf8'))?.[1] ?? 0))
  return kilobytes.reduce((sum, size) => sum + size, 0) / 1024
}

const test = suite('memory')

test('different lists do not add up', async () => {
  const table = storage.table(gauges)
  const lists = distinctLists()
  // A session of PostgreSQL prepares a statement when it returns.
  const [first, last, times] = server ? [300, 1_500, 2] : [2_000, 8_000, 1]
  const read = async (from: number, to: number) => {
    for (const list of lists.slice(from, to)) for (let n = 0; n < times; n++) await table.list(list)
  }
  await read(0, first)
  const before = await usedMemory()
  await read(first, last)
  const grown = (await usedMemory()) - before
  assert.ok(grown < 50, `it grew by ${Math.round(grown)} MB`)
})

test.after(() => storage.close())
test.run()
