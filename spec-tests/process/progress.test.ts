import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { progressBar, stepProgress } from '../../engine/process/progress.js'
import { server, sharedDatabase } from '../support/database.js'
import { open } from '../support/members.js'
import { office } from '../support/office.js'
import { startProcess } from '../support/process.js'

const test = suite('progress')

/** Reports as `seconds:done`, and the lines that they print. */
const bars: [about: string, total: number, unit: string, reports: string, ...lines: string[]][] = [
  [
    'the rate is measured over the last ten seconds',
    ...([1_000, 'rows', '0:0 5:500 10:510 20:530'] as const),
    'x: 500 of 1,000 rows · 100 rows/s · 5 s left',
    'x: 510 of 1,000 rows · 51 rows/s · 10 s left',
    'x: 530 of 1,000 rows · 2 rows/s · 3 min 55 s left',
  ],
  [
    'work done before the first report does not count',
    ...([1_000_000, 'rows', '0:900000 5:900050'] as const),
    'x: 900,050 of 1,000,000 rows · 10 rows/s · 2 h 46 min left',
  ],
  ['nothing follows the last line', 100, 'rows', '0:0 4:100 20:120', 'x: 100 of 100 rows · 25 rows/s'],
  [
    'seconds have no rate',
    ...([600, 'seconds', '0:0 60:60 600:600'] as const),
    'x: 60 of 600 seconds · 9 min 0 s left',
    'x: 600 of 600 seconds',
  ],
  ['a total of zero is complete at once', 0, 'rows', '0:0', 'x: 0 of 0 rows'],
  [
    'a slow rate is not rounded to zero',
    ...([20, 'measurements', '0:0 8:2'] as const),
    'x: 2 of 20 measurements · 0.25 measurements/s · 1 min 12 s left',
  ],
]
for (const [about, total, unit, reports, ...expected] of bars) {
  test(about, () => {
    let now = 0
    const lines: string[] = []
    const write = (text: string) => void lines.push(text.trimEnd())
    const report = progressBar('x', total, unit, { now: () => now, isTerminal: false, columns: 100, write })
    for (const [seconds = 0, done = 0] of reports.split(' ').map((one) => one.split(':').map(Number))) {
      now = seconds * 1000
      report(done)
    }
    assert.equal(lines, expected)
  })
}

test('a terminal redraws one line, which is never wider than it, and ends it when all is done', () => {
  for (const columns of [20, 40, 80, 200]) {
    const written: string[] = []
    let now = 0
    const write = (text: string) => written.push(text)
    const report = progressBar('backup', 1_000_000, 'pages', { now: () => now, isTerminal: true, columns, write })
    for (const done of [0, 250_000, 500_000, 1_000_000]) {
      report(done)
      now += 1_000
    }
    assert.is(written.length, 3)
    for (const [n, text] of written.entries()) {
      const line = text.slice(1).replace('\u001b[K', '').trimEnd()
      assert.ok(text.startsWith('\r') && line.length < columns, `${columns}: ${line}`)
      assert.is(text.endsWith('\n'), n === 2)
    }
    assert.is(written[0]?.includes('█'), columns >= 80, `${columns}: ${written[0]}`)
  }
})

test('steps over large tables have a line each, and small ones none', () => {
  const reported: string[] = []
  const report = stepProgress((table, total) => {
    reported.push(`${table} ${total}`)
    return (done) => reported.push(`${table} ${done}`)
  })
  report('small', 0, 99_999)
  report('a', 0, 200_000)
  report('a', 200_000, 200_000)
  report('a', 0, 200_000)
  report('b', 0, 100_000)
  assert.equal(reported, ['a 200000', 'a 0', 'a 200000', 'a 200000', 'a 0', 'b 100000', 'b 0'])
})

test('indexing at a start is reported in the log, with done and total', async () => {
  const { url, run } = await sharedDatabase()
  await (await open(office, url)).close()
  // A table without its triggers, as a restore of the rows alone leaves it, or without an index.
  const triggers = `select 'trigger ' || name as object from sqlite_schema where type = 'trigger' and tbl_name = 'leave_requests'`
  const dropped = server ? [{ object: 'index registry_leave_requests_filter_status' }] : await run(triggers)
  for (const { object } of dropped) await run(`drop ${object}`)
  await run(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 110000)
    insert into leave_requests (leave_type, status) select 'Annual', 'Pending' from n`)
  const running = await startProcess({ DATABASE_URL: url })
  await running.end('SIGTERM')
  const reported =
    /"table":"leave_requests","done":110000,"total":110000,"msg":"Indexing leave_requests: 110,000 of 110,000 /
  assert.match(running.output(), reported)
})

test.run()
