/** The time limit of reads on SQLite. */
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Resource } from '../../engine/descriptor/registry.js'
import { compile } from '../../engine/storage/sqlite/compile.js'
import { connect } from '../../engine/storage/sqlite/connection.js'
import { managedSource } from '../../engine/storage/sqlite/dialect.js'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { reader } from '../../engine/storage/sqlite/reader.js'
import { DeadlineExceeded } from '../../engine/storage/sqlite/search.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { office, startOffice } from '../support/office.js'

const folder = temporaryFolder('deadline').path
const test = suite('time limit of reads')

const departments = (rows: number, name: string): string =>
  `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${rows})
    insert into departments (name) select ${name} from numbers`

for (const [name, insert, readTimeoutMs] of [
  ['many rows', departments(60_000, "'Depot ' || n"), 1],
  // SQLite's own functions do not decide about letters beyond ASCII, nor about long texts.
  ['many rows with letters beyond ASCII', departments(60_000, "'Dépôt ' || n"), 1],
  // All in one step, so that only the test of each text can end the search; long enough to reach that test.
  ['a few rows of long texts', departments(60, "printf('%.*c', 1000000, 'x')"), 10],
] as const) {
  test(`a search of ${name} past its time limit gets 503, and other reads continue`, async () => {
    const path = join(folder, `${name.replaceAll(' ', '-')}.sqlite`)
    const { get } = await startOffice({ url: `sqlite:${path}`, readTimeoutMs })
    const other = new Database(path)
    other.exec(insert)
    other.close()
    const slow = await Promise.all(Array.from({ length: 10 }, (_, n) => get(`/v1/departments?q=s${n}`)))
    for (const { status, headers, body } of slow) {
      assert.is(status, 503)
      assert.match(body.error.code, /^(?:unavailable|busy)$/)
      assert.not.match(body.error.message, /stored/)
      assert.ok(headers['retry-after'])
    }
    assert.is((await get('/v1/leave?limit=1&offset=50')).status, 200)
    assert.is((await get('/v1/departments/1')).status, 200)
    assert.is((await get('/v1/health')).status, 200)
  })
}

test('a count of rows in their order looks at the time', async () => {
  const path = join(folder, 'counts.sqlite')
  await startOffice({ url: `sqlite:${path}` })
  const database = connect(path, { timeout: 1_000 })
  database.exec(departments(5_000, "'Depot'"))
  const source = managedSource(office.find(({ path }) => path === 'departments') as Resource)
  const count = compile(source.countInOrder?.("name = 'Depot'") ?? '')
  const read = reader(database)
  const task = { sql: count.sql, values: [], search: '' }
  assert.equal(read(task, 60_000), [[5_000n]])
  assert.throws(
    () => read(task, -1),
    (error: unknown) => error instanceof DeadlineExceeded,
  )
  database.close()
})

test.run()
