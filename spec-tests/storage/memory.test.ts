/** Memory is bounded: however many different lists are read, and however many clients hardly read their downloads. */
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
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
import { startProcess } from '../support/process.js'
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
  const [first, count, times] = server ? [300, 400, 2] : [2_000, 2_500, 1]
  let at = 0
  const read = async (count: number) => {
    for (const list of lists.slice(at, at + count)) for (let n = 0; n < times; n++) await table.list(list)
    at += count
  }
  await read(first)
  // What adds up grows every time; a heap or a page cache does not.
  const growths: number[] = []
  for (let round = 0; round < 3; round++) {
    const before = await usedMemory()
    await read(count)
    growths.push(Math.round((await usedMemory()) - before))
  }
  assert.ok(Math.min(...growths) < 10, `it grew by ${growths.join(', ')} MB`)
})

test('600 clients that hardly read a download of 60,000 rows stay within 350 MB', async () => {
  const running = await startProcess({ DATABASE_URL: database.url })
  await database.run(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 60000)
    insert into employees (code, first_name, last_name, email, branch, status, date_of_joining, base_salary, employment_type, alumni)
    select 'LOT-' || n, 'First', 'Last', 'someone' || n || '@example.com', 'Ulm', 'Active', '2020-01-01', n, 'Full-time', 0 from numbers`)
  const { port } = new URL(running.address)
  let received = 0
  const sockets = Array.from({ length: 600 }, () => {
    const socket = connect(Number(port), '127.0.0.1').setTimeout(0).pause()
    socket.on('data', (part) => {
      received += part.length
      socket.pause()
    })
    socket.write('GET /api/v1/employees HTTP/1.1\r\nHost: localhost\r\nAccept: text/csv\r\n\r\n')
    return socket
  })
  // Each takes one part at a time; what the service has sent beyond that waits in the kernel.
  while (received < 80_000_000) {
    for (const socket of sockets) socket.resume()
    await delay(200)
  }
  for (const socket of sockets) socket.destroy()
  const status = `/proc/${running.child.pid}/status`
  const [, peak] = existsSync(status) ? (/VmHWM:\s+(\d+) kB/.exec(readFileSync(status, 'utf8')) ?? []) : []
  await running.end('SIGTERM')
  // Only Linux reports the peak memory of another process.
  if (peak !== undefined) assert.ok(Number(peak) < 350 * 1024, `${peak} kB`)
})

test.after(() => storage.close())
test.run()
