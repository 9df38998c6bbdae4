/** Reads are bounded in time and memory, whatever is stored and whatever is requested. */
import { existsSync, readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sharedDatabase } from '../support/database.js'
import { startProcess } from '../support/process.js'

const database = await sharedDatabase()
const running = await startProcess({
  DATABASE_URL: database.url,
  // The reads of this suite queue on one worker; on a busy machine they take longer than the default.
  READ_TIMEOUT_MS: '120000',
})

/** Repetitive texts, for which a naive search takes time proportional to text length times pattern length. */
const insert = (reason: string) =>
  database.run("insert into leave_requests (leave_type, status, reason) values ('Long', 'x', ?)", reason)
const million = 1_000_000
for (let n = 0; n < 20; n++) await insert(`${'a'.repeat(million - 10_000)}D${'a'.repeat(9_999)}`)
await insert(`${'a'.repeat(500_000)}B${'a'.repeat(500_000)}`)
await insert('Ā'.repeat(300_000))
await insert('a'.repeat(100_000))

/** The longest query string that fits into the request head. */
const maxLength = 15_000
const half = 'a'.repeat(maxLength / 2)

/** Each request has its own connection: while large pages are parsed, the server may close an idle one. */
const get = (query: string, headers = {}) =>
  fetch(`${running.address}/api/v1/leave?${query}`, { headers: { ...headers, connection: 'close' } })
// biome-ignore lint/suspicious/noExplicitAny: the body of a list
const list = async (query: string): Promise<any> => {
  const response = await get(query)
  assert.is(response.status, 200)
  return response.json()
}
const totalOf = async (q: string): Promise<number> => (await list(`limit=1&q=${encodeURIComponent(q)}`)).meta.total

const test = suite('bounds of reads')

for (const [name, q, total] of [
  ['one letter repeated', 'a'.repeat(2_000), 22],
  ['one letter repeated up to the maximum length', 'A'.repeat(maxLength), 22],
  ['a text with a letter in the middle that only one row has', `${half}b${half}`, 1],
  ['a text with a letter in the middle that no row has', `${half}c${half}`, 0],
  ['a text with a letter near the start that rows have, but not so many after it', `ad${'a'.repeat(maxLength - 2)}`, 0],
  ['a short text with a letter at the end that no row has', `${'a'.repeat(60)}c`, 0],
  ['a non-ASCII letter repeated', 'ā'.repeat(2_000), 1],
  ['digits that no row has', '0'.repeat(maxLength), 0],
] as const) {
  test(`a search for ${name} is exact`, async () => {
    assert.is(await totalOf(q), total)
  })
}

test('pages of long rows are complete, with and without a search or filter', async () => {
  const stored = await database.run('select id, leave_type from leave_requests order by id')
  const expected = stored.map((row) => row['id'])
  const ids = async (query: string) => (await list(query)).data.map(({ id }: { id: number }) => id)
  assert.equal(await ids('limit=200&offset=200'), expected.slice(200, 400))
  assert.equal(await ids('limit=7&offset=235'), expected.slice(235, 242))
  const long = stored.filter((row) => row['leave_type'] === 'Long').map((row) => row['id'])
  assert.equal(
    await ids(`limit=200&q=${'a'.repeat(100)}`),
    long.filter((_, n) => n !== 21),
  )
  assert.equal(await ids('limit=200&status=x'), long)
})

test('concurrent reads of long rows stay within 400 MB', async () => {
  const queries = Array.from({ length: 8 }, (_, n) => list(`limit=200&q=aaaa&offset=${n}`))
  for (const [n, { data }] of (await Promise.all(queries)).entries()) assert.is(data.length, 22 - n)
  const status = `/proc/${running.child.pid}/status`
  // Only Linux reports the peak memory of another process.
  if (!existsSync(status)) return
  const [, peak] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(status, 'utf8')) ?? []
  assert.ok(Number(peak) < 400 * 1024, `${peak} kB`)
})

test('SIGTERM stops the process during long reads', async () => {
  const reads = Array.from({ length: 5 }, (_, n) => list(`q=${'k'.repeat(n + 1)}é`).catch(() => {}))
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.is(await running.end('SIGTERM'), 0)
  await Promise.all(reads)
})

test.run()
