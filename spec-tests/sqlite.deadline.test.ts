/** The time limit of reads on SQLite. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../support/cleanup.js'
import { startService } from './support/service.js'

const folder = temporaryFolder('deadline').path
const test = suite('time limit of reads')

test('a read past its time limit gets 503, and other reads continue', async () => {
  const { get } = await startService({ url: `sqlite:${join(folder, 'deadline.sqlite')}`, readTimeoutMs: 1 })
  const other = new Database(join(folder, 'deadline.sqlite'))
  other.exec(`with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < 60000)
    insert into departments (name) select 'Dépôt ' || n from numbers`)
  other.close()
  const slow = await Promise.all(Array.from({ length: 10 }, (_, n) => get(`/v1/departments?q=s${n}`)))
  for (const { status, headers, body } of slow) {
    assert.is(status, 503)
    assert.is(body.error.code, 'unavailable')
    assert.ok(headers['retry-after'])
  }
  assert.is((await get('/v1/departments?limit=1&offset=50000')).status, 200)
  assert.is((await get('/v1/departments/1')).status, 200)
  assert.is((await get('/v1/health')).status, 200)
})

test.run()
