/** The process and a PostgreSQL server that fails: how it waits at start, and what it logs and measures. */
import { setTimeout } from 'node:timers/promises'
import { Client } from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freshUrl, runOn } from '../support/database.js'
import { flakyNetwork } from '../support/flakyNetwork.js'
import { launch, startAndFail, startProcess } from '../support/process.js'

const url = await freshUrl()
const network = await flakyNetwork(url)

const until = async (isMet: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isMet())) await setTimeout(50)
}

const messagesOf = (output: string): { level: number; msg: string }[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))

const test = suite('the process and a PostgreSQL server that fails')

test('a start waits for the server, reports it, creates the tables, and then serves with all its workers', async () => {
  network.cut()
  const { child, ended, output } = launch({ DATABASE_URL: network.url, WORKERS: '2' })
  await until(() => output().includes('Waiting'))
  const [{ msg = '' } = {}] = messagesOf(output())
  assert.match(
    msg,
    /^Waiting up to \d+ s \(DATABASE_WAIT_MS\) for the database postgres:\/\/127\.0\.0\.1:\d+\/\w+: .+$/,
  )
  network.restore()
  await until(() => output().includes('Ready at'))
  assert.match(output(), /Created the tables in postgres:\/\/127\.0\.0\.1:\d+\/\w+, with the demo data\./)
  assert.not.match(output(), /of-the-tests/)
  const [, address] = /Ready at (http:\S+)\/api /.exec(output()) ?? []
  for (let n = 0; n < 10; n++) assert.is((await fetch(`${address}/api/v1/leave?offset=${n}`)).status, 200)
  child.kill('SIGTERM')
  assert.is(await ended, 0)
})

test('SIGTERM ends the wait', async () => {
  network.cut()
  const { child, ended, output } = launch({ DATABASE_URL: network.url })
  await until(() => output().includes('Waiting'))
  child.kill('SIGTERM')
  await ended
  assert.not.match(output(), /Ready/)
  network.restore()
})

test('a start fails if the server is still down after DATABASE_WAIT_MS', async () => {
  network.cut()
  const { code, output } = await startAndFail({ DATABASE_URL: network.url, DATABASE_WAIT_MS: '300' })
  assert.is(code, 1)
  assert.match(output, /^The database postgres:\/\/\S+ cannot be used: .+\n$/)
  network.restore()
})

test('a start ends with a sentence if the server accepts connections and never answers', async () => {
  network.hang()
  const { code, output } = await startAndFail({ DATABASE_URL: network.url, DATABASE_WAIT_MS: '2000' })
  assert.is(code, 1)
  assert.match(output, /The database postgres:\/\/\S+ cannot be used: the server does not answer\n$/)
  network.restore()
})

test('a start ends with a sentence if the server stops answering in the middle', async () => {
  const holder = new Client({ connectionString: url })
  await holder.connect()
  await holder.query('begin; lock table employees in access exclusive mode')
  const { ended, output } = launch({ DATABASE_URL: network.url, DATABASE_WAIT_MS: '3000' })
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await until(async () => (await runOn(url, waiting)).length > 0)
  network.hang()
  assert.is(await ended, 1)
  assert.match(output(), /cannot be used: the server has stopped answering during the start; waited 3000 ms/)
  network.restore()
  await holder.end()
})

test('a start whose session the server ends begins again', async () => {
  const holder = new Client({ connectionString: url })
  await holder.connect()
  await holder.query('begin; lock table employees in access exclusive mode')
  const { child, ended, output } = launch({ DATABASE_URL: url })
  const ofTheStart = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await until(async () => (await runOn(url, `select 1 ${ofTheStart}`)).length > 0)
  await runOn(url, `select pg_terminate_backend(pid) ${ofTheStart}`)
  await until(() => /Waiting up to .*: terminating connection/.test(output()))
  await holder.end()
  await until(() => output().includes('Ready at'))
  child.kill('SIGTERM')
  assert.is(await ended, 0)
})

test('an outage is logged when it begins and when it ends, with the number of failed requests and without stacks', async () => {
  const running = await startProcess({ DATABASE_URL: network.url, POOL_WAIT_MS: '300' })
  const get = async (path: string) => (await fetch(`${running.address}/api/v1/${path}`)).status
  network.cut()
  for (let n = 0; n < 5; n++) {
    const statuses = await Promise.all(['leave', 'leave/1', 'jobs?q=e', 'health'].map(get))
    assert.equal(statuses, [503, 503, 503, 503])
  }
  network.restore()
  await until(async () => (await get('leave')) === 200)
  await until(async () => (await get('health')) === 200 && running.output().includes('available again'))
  assert.is(await running.end('SIGTERM'), 0)
  const logged = messagesOf(running.output()).filter(({ level }) => level > 30)
  assert.is(logged.length, 2, JSON.stringify(logged))
  assert.match(
    logged[0]?.msg ?? '',
    /^The database is not available: .+\. Failed requests are counted until it recovers\.$/,
  )
  const [, failed] =
    /^The database is available again: (\d+) requests failed within [\d.]+ s\.$/.exec(logged[1]?.msg ?? '') ?? []
  assert.ok(Number(failed) >= 20, logged[1]?.msg)
  assert.not.match(running.output(), /"stack"/)
})

test('the metrics do not wait for a database that hangs', async () => {
  const minute = '60000'
  const limits = { POOL_WAIT_MS: minute, READ_TIMEOUT_MS: minute }
  const running = await startProcess({ DATABASE_URL: network.url, METRICS_PORT: '0', ...limits })
  const [, address = ''] = /Metrics at (http:\S+?)["\s]/.exec(running.output()) ?? []
  const metrics = async () => {
    const response = await fetch(address, { signal: AbortSignal.timeout(30_000) })
    assert.is(response.status, 200)
    return response.text()
  }
  await until(async () => /^registry_rows\{resource="leave"\} \d+$/m.test(await metrics()))
  network.hang()
  for (let n = 0; n < 3; n++) assert.not.match(await metrics(), /^registry_rows\{/m)
  network.restore()
  running.child.kill('SIGKILL')
})

test('the metrics show the database, connections in use and statements that wait for one', async () => {
  const database = await freshUrl()
  const limits = { POOL_SIZE: '2', POOL_WAIT_MS: '20000' }
  const running = await startProcess({ DATABASE_URL: database, METRICS_PORT: '0', ...limits })
  const [, address = ''] = /Metrics at (http:\S+?)["\s]/.exec(running.output()) ?? []
  const read = async (name: string, part = 'requests') => {
    const metrics = await (await fetch(address)).text()
    assert.match(metrics, /^registry_build_info\{.*database="postgres".*\} 1$/m)
    return Number(new RegExp(`^registry_pool_${name}\\{part="${part}"\\} (\\S+)$`, 'm').exec(metrics)?.[1])
  }
  for (const name of ['in_use', 'waiting']) assert.equal([await read(name), await read(name, 'checks')], [0, 0])
  const other = new Client({ connectionString: database })
  await other.connect()
  await other.query('begin; lock table leave_requests')
  const reads = Array.from(
    { length: 4 },
    async (_, n) => (await fetch(`${running.address}/api/v1/leave/${n + 1}`)).status,
  )
  await until(async () => (await read('in_use')) >= 1 && (await read('waiting')) >= 2)
  assert.equal([await read('size'), await read('size', 'checks')], [2, 1])
  await other.query('rollback')
  await other.end()
  assert.equal(await Promise.all(reads), [200, 200, 200, 200])
  await until(async () => (await read('in_use')) === 0 && (await read('waiting')) === 0)
  assert.is(await running.end('SIGTERM'), 0)
})

test('an unexpected error names the table in the log', async () => {
  const database = await freshUrl()
  const running = await startProcess({ DATABASE_URL: database, DEMO_DATA: 'false' })
  await runOn(database, 'alter table leave_requests drop column registry_searched cascade')
  assert.is((await fetch(`${running.address}/api/v1/leave?q=annual`)).status, 500)
  assert.is(await running.end('SIGTERM'), 0)
  assert.match(running.output(), 'leave_requests: column \\"registry_searched\\" does not exist')
})

test.run()
