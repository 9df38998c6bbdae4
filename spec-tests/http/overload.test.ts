/** Many slow searches at the same time: some are served, and the others are refused at once. */
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { storageOptions } from '../../support/storageOptions.js'
import { server, sharedDatabase } from '../support/database.js'
import { startOffice } from '../support/office.js'

const database = await sharedDatabase()
const lines: string[] = []
const limitMs = 20_000
const service = await startOffice({
  url: database.url,
  readTimeoutMs: limitMs,
  pool: { ...storageOptions.pool, statementMs: limitMs },
  logger: pino({}, { write: (line: string) => lines.push(line) }),
})
// Long enough that a few searches take longer than a read may wait.
const text = server ? `repeat('é ', 300)` : `replace(hex(zeroblob(300)), '00', 'é ')`
await database.run(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 30000)
  insert into departments (name) select ${text} || n from numbers`)

/** A search for two letters, which no index finds. */
const slow = (n: number) => `/v1/departments?limit=1&q=${encodeURIComponent('é')}${n % 10}&offset=${n}`

const test = suite('overload')

test('slow searches of many clients are served or refused as busy, and quick reads are served', async () => {
  const quickReads = ['/v1/departments/1', '/v1/leave?limit=1', '/v1/employees?q=ann', '/v1/jobs?status=Open']
  // How long they take is known once they have run.
  for (const path of [...quickReads, slow(0), slow(1)]) assert.is((await service.get(path)).status, 200)
  let isDone = false
  const quick = (async () => {
    while (!isDone) {
      for (const path of quickReads) assert.is((await service.get(path)).status, 200, path)
    }
  })()
  const responses = await Promise.all(Array.from({ length: 400 }, (_, n) => service.get(slow(n))))
  isDone = true
  await quick
  const served = responses.filter(({ status }) => status === 200)
  const refused = responses.filter(({ status }) => status === 503)
  assert.is(served.length + refused.length, responses.length)
  assert.ok(served.length > 0)
  assert.ok(refused.length > 0)
  for (const { headers, body } of refused) {
    assert.is(body.error.code, 'busy')
    assert.match(String(headers['retry-after']), /^[1-9]\d?$/)
    assert.not.match(body.error.message, /stored/)
  }
  assert.not.match(lines.join(''), /did not respond|exceeded its time limit|not available/)
  const seconds = Math.max(...refused.map(({ headers }) => Number(headers['retry-after'])))
  await sleep(seconds * 1_000)
  assert.is((await service.get(slow(1_000))).status, 200)
})

test('clients that repeat a slow search share one run of it', async () => {
  const responses = await Promise.all(Array.from({ length: 400 }, () => service.get(slow(2_000))))
  for (const { status } of responses) assert.is(status, 200)
  assert.is(new Set(responses.map(({ headers }) => headers.etag)).size, 1)
})

test.run()
