/** The process and a PostgreSQL server that fails: how it waits at start, and what it logs and measures. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { endSessions, freshUrl, runOn, whileLockedIn } from '../support/database.js'
import { flakyNetwork } from '../support/flakyNetwork.js'
import { office } from '../support/office.js'
import { launch, startProcess } from '../support/process.js'
import { until } from '../support/until.js'

const url = await freshUrl()
const network = await flakyNetwork(url)

/** Starts in this process, as a process with DATABASE_WAIT_MS does; returns what it has said, and its end. */
const startWaiting = (address: string, startWaitMs: number) => {
  const said: string[] = []
  const options = { ...storageOptions, startWaitMs, warn: (message: string) => said.push(message) }
  const ended = openStorage(office, address, options).then(
    async (storage) => {
      await storage.close()
      return 'ready'
    },
    (error: Error) => error.message,
  )
  return { said, ended }
}

/** Whether a start waits for a lock. */
const waiting = `wait_event_type = 'Lock'`
const isWaiting = async () =>
  (await runOn(url, `select 1 from pg_stat_activity where datname = current_database() and ${waiting}`)).length > 0

const test = suite('the process and a PostgreSQL server that fails')

test('a start waits for the server, reports it, creates the tables, and then serves with all its workers', async () => {
  network.cut()
  const { child, ended, output } = launch({ DATABASE_URL: network.url, WORKERS: '2' })
  await until(() => output().includes('Waiting'))
  assert.match(
    output(),
    /"msg":"Waiting up to \d+ s \(DATABASE_WAIT_MS\) for the database postgres:\/\/127\.0\.0\.1:\d+\/\w+: .+"/,
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

test('a start fails if the server is still down after DATABASE_WAIT_MS, or accepts connections and never answers', async () => {
  network.cut()
  assert.match(await startWaiting(network.url, 300).ended, /^The database postgres:\/\/\S+ cannot be used: .+$/)
  network.restore()
  network.hang()
  const message = await startWaiting(network.url, 2_000).ended
  assert.match(message, /The database postgres:\/\/\S+ cannot be used: the server does not answer$/)
  network.restore()
})

test('a start ends with a sentence if the server stops answering in the middle', async () => {
  await whileLockedIn(url, 'employees in access exclusive mode', async () => {
    const { ended } = startWaiting(network.url, 3_000)
    await until(isWaiting)
    network.hang()
    const message = /cannot be used: the server has stopped answering during the start; waited 3000 ms/
    assert.match(await ended, message)
    network.restore()
  })
})

test('a start whose session the server ends begins again', async () => {
  const { ended } = await whileLockedIn(url, 'employees in access exclusive mode', async () => {
    const started = startWaiting(url, 60_000)
    await until(isWaiting)
    await endSessions(url, waiting)
    await until(() => /Waiting up to .*: terminating connection/.test(started.said.join()))
    return started
  })
  assert.is(await ended, 'ready')
})

test('the metrics show the database, connections in use and statements that wait, and do not wait for a database that hangs', async () => {
  const limits = { POOL_SIZE: '2', POOL_WAIT_MS: '60000', READ_TIMEOUT_MS: '60000' }
  const running = await startProcess({ DATABASE_URL: network.url, METRICS_PORT: '0', ...limits })
  const [, address = ''] = /Metrics at (http:\S+?)["\s]/.exec(running.output()) ?? []
  const metrics = async () => {
    const response = await fetch(address, { signal: AbortSignal.timeout(30_000) })
    assert.is(response.status, 200)
    return response.text()
  }
  assert.match(await metrics(), /^registry_build_info\{.*database="postgres".*\} 1$/m)
  const read = async (name: string, part = 'requests') =>
    Number(new RegExp(`^registry_pool_${name}\\{part="${part}"\\} (\\S+)$`, 'm').exec(await metrics())?.[1])
  for (const name of ['in_use', 'waiting']) assert.equal([await read(name), await read(name, 'checks')], [0, 0])
  const { reads } = await whileLockedIn(url, 'leave_requests', async () => {
    const statusOf = async (path: string) => (await fetch(`${running.address}/api/v1/${path}`)).status
    const reads = ['leave/1', 'leave/2', 'leave/3', 'leave?status=Approved'].map(statusOf)
    await until(async () => (await read('in_use')) >= 1 && (await read('waiting')) >= 2)
    assert.equal([await read('size'), await read('size', 'checks')], [2, 1])
    return { reads }
  })
  assert.equal(await Promise.all(reads), [200, 200, 200, 200])
  await until(async () => (await read('in_use')) === 0 && (await read('waiting')) === 0)
  await until(async () => /^registry_rows\{resource="leave"\} \d+$/m.test(await metrics()))
  network.hang()
  for (let n = 0; n < 3; n++) assert.not.match(await metrics(), /^registry_rows\{/m)
  network.restore()
  running.child.kill('SIGKILL')
})

test.run()
