/** The progress bar: its rate, the remaining time and the last line, and the commands that show one. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { progressBar, stepProgress } from '../../engine/process/progress.js'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { freshUrl, runOn, server } from '../support/database.js'
import { officeFile } from '../support/office.js'
import { startProcess } from '../support/process.js'

/** A progress bar with a manual clock, and its lines without the bar. */
const recorded = (total: number, unit: string, isTerminal = false, columns = 100) => {
  let now = 1_000_000
  const lines: string[] = []
  const report = progressBar('x', total, unit, {
    now: () => now,
    isTerminal,
    columns,
    write: (text) =>
      lines.push(
        text
          .replaceAll(/[█░\r\n]/g, '')
          .replace('\u001b[K', '')
          .replace(/ {2,}/, ' '),
      ),
  })
  return {
    lines,
    at(seconds: number, done: number) {
      now = 1_000_000 + seconds * 1000
      report(done)
    },
  }
}

const test = suite('progress')

test('the rate is measured over the last ten seconds', () => {
  const { at, lines } = recorded(1_000, 'rows')
  at(0, 0)
  at(5, 500)
  at(10, 510)
  at(20, 530)
  assert.equal(lines, [
    'x: 500 of 1,000 rows · 100 rows/s · 5 s left',
    'x: 510 of 1,000 rows · 51 rows/s · 10 s left',
    'x: 530 of 1,000 rows · 2 rows/s · 3 min 55 s left',
  ])
})

test('work done before the first report does not count', () => {
  const { at, lines } = recorded(1_000_000, 'rows')
  at(0, 900_000)
  at(5, 900_050)
  assert.equal(lines, ['x: 900,050 of 1,000,000 rows · 10 rows/s · 2 h 46 min left'])
})

test('no rate is shown for less than half a second', () => {
  const { at, lines } = recorded(100, 'rows', true)
  at(0, 0)
  at(0.1, 60)
  at(0.2, 100)
  assert.equal(lines, ['x 60 of 100 rows', 'x 100 of 100 rows'])
})

test('nothing follows the last line', () => {
  const { at, lines } = recorded(100, 'rows')
  at(0, 0)
  at(4, 100)
  at(20, 120)
  assert.equal(lines, ['x: 100 of 100 rows · 25 rows/s'])
})

test('seconds have no rate', () => {
  const { at, lines } = recorded(600, 'seconds')
  at(0, 0)
  at(60, 60)
  at(600, 600)
  assert.equal(lines, ['x: 60 of 600 seconds · 9 min 0 s left', 'x: 600 of 600 seconds'])
})

test('a total of zero is complete at once', () => {
  const { at, lines } = recorded(0, 'rows')
  at(0, 0)
  assert.equal(lines, ['x: 0 of 0 rows'])
})

test('a slow rate is not rounded to zero', () => {
  const { at, lines } = recorded(20, 'measurements')
  at(0, 0)
  at(8, 2)
  assert.equal(lines, ['x: 2 of 20 measurements · 0.25 measurements/s · 1 min 12 s left'])
})

test('a terminal redraws one line, which is never wider than it, and ends it when all is done', () => {
  for (const columns of [20, 40, 60, 80, 200]) {
    const written: string[] = []
    let now = 0
    const report = progressBar('backup', 1_000_000, 'pages', {
      now: () => now,
      isTerminal: true,
      columns,
      write: (text) => written.push(text),
    })
    for (const done of [0, 250_000, 500_000, 1_000_000]) {
      report(done)
      now += 1_000
    }
    assert.is(written.length, 3)
    for (const text of written) {
      assert.ok(text.startsWith('\r'))
      const line = text.slice(1).replace('\u001b[K', '').trimEnd()
      assert.ok(line.length < columns, `${columns}: ${line}`)
    }
    assert.equal(
      written.map((text) => text.endsWith('\n')),
      [false, false, true],
    )
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

const { path: folder } = temporaryFolder('progress')
const isScriptInstalled = spawnSync('script', ['--version']).status === 0

/** Runs a command of cli/ in a pseudo terminal, and returns what the terminal shows. */
const inTerminal = (url: string, command: string): string => {
  const [name = '', ...args] = command.split(' ')
  const line = [process.execPath, officeFile(join('cli', `${name}.js`)), ...args].map((part) => `'${part}'`).join(' ')
  const env = { ...process.env, DATABASE_URL: url, TERM: 'xterm', COLUMNS: '100' }
  const { status, stdout } = spawnSync('script', ['-qec', line, '/dev/null'], { env, encoding: 'utf8' })
  assert.is(status, 0, stdout)
  return stdout
}

/** Adds rows to a table whose triggers are missing, as a restore of the rows alone leaves it. */
const withoutTriggers = (path: string, rows: number): void => {
  const database = new Database(path)
  const triggers = database.prepare(
    `select name from sqlite_schema where type = 'trigger' and tbl_name = 'leave_requests'`,
  )
  for (const name of triggers.pluck().all()) database.exec(`drop trigger ${name}`)
  database.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})
    insert into leave_requests (leave_type, status) select 'Annual', 'Pending' from n`)
  database.close()
}

if (!server) {
  const [url, copy] = [`sqlite:${join(folder, 'a.sqlite')}`, join(folder, 'b.sqlite')]

  if (isScriptInstalled) {
    test('seed, copy and backup redraw a line in a terminal', () => {
      const seeded = inTerminal(url, 'seed --rows 15000 --resource leave')
      assert.match(seeded, /\rleave_requests (?:[█░]+ )?15,000 of 15,000 rows/)
      assert.match(seeded, /\r.*[\d,]+ of 15,000 rows · [\d,]+ rows\/s · \d+ s left/)
      const copied = inTerminal(url, `copy --from ${url} --to sqlite:${copy}`)
      assert.match(copied, /\rcopy (?:[█░]+ )?([\d,]+) of \1 rows/)
      assert.match(copied, /\rcompare (?:[█░]+ )?([\d,]+) of \1 rows/)
      assert.match(inTerminal(url, `backup ${join(folder, 'c.sqlite')}`), /\rbackup (?:[█░]+ )?([\d,]+) of \1 pages/)
    })
  }

  test('indexing at a start is reported in the log, with done and total', async () => {
    const path = join(folder, 'indexed.sqlite')
    await (await startProcess({ DATABASE_URL: `sqlite:${path}`, DEMO_DATA: 'false' })).end('SIGTERM')
    withoutTriggers(path, 100_000)
    const running = await startProcess({ DATABASE_URL: `sqlite:${path}` })
    await running.end('SIGTERM')
    const [line] = running
      .output()
      .split('\n')
      .filter((one) => one.includes('Indexing'))
      .slice(-1)
    const { msg, table, done, total } = JSON.parse(line ?? '{}')
    assert.match(msg, /^Indexing leave_requests: 100,000 of 100,000 rows/)
    assert.equal({ table, done, total }, { table: 'leave_requests', done: 100_000, total: 100_000 })
  })

  if (isScriptInstalled) {
    test('indexing by npm run migrate redraws a line in a terminal', () => {
      const path = join(folder, 'indexed.sqlite')
      withoutTriggers(path, 20_000)
      assert.match(
        inTerminal(`sqlite:${path}`, 'migrate'),
        /\rIndexing leave_requests (?:[█░]+ )?120,000 of 120,000 rows.*\nDone: /s,
      )
    })
  }
}

if (server) {
  test('building an index at a start is reported in the log', async () => {
    const url = await freshUrl()
    await (await startProcess({ DATABASE_URL: url, DEMO_DATA: 'false' })).end('SIGTERM')
    await runOn(
      url,
      `insert into leave_requests (leave_type, status) select 'Annual', 'Pending' from generate_series(1, 110000)`,
    )
    await runOn(url, 'drop index registry_leave_requests_filter_status')
    const running = await startProcess({ DATABASE_URL: url })
    await running.end('SIGTERM')
    assert.match(running.output(), /"msg":"Indexing leave_requests: 110,000 of 110,000 rows/)
  })
}

test.run()
