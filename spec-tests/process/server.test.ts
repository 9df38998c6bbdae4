/** The process: its start, its error messages, its workers and its stop. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { publicDatabaseUrl } from '../../engine/process/databaseUrl.js'
import { freshUrl, sharedDatabase } from '../support/database.js'
import { launch, startAndFail, startProcess } from '../support/process.js'
import { authorized, token } from '../support/service.js'
import { unfinishedRequest } from '../support/unfinishedRequest.js'
import { until } from '../support/until.js'

const totalOf = async (address: string, resource: string) =>
  ((await (await fetch(`${address}/api/v1/${resource}?limit=1`)).json()) as { meta: { total: number } }).meta.total

const sent = { method: 'POST', headers: { ...authorized, connection: 'close' }, body: '{"leave_type":"x"}' }
const create = (address: string) => fetch(`${address}/api/v1/leave`, sent)

const test = suite('the process')

test('the first start creates the database with demo data; a second start keeps the rows and loads no demo data', async () => {
  const database = await sharedDatabase()
  const DATABASE_URL = database.url
  const first = await startProcess({ DATABASE_URL, API_TOKEN: token })
  const [opened, ready, ...more] = first.messages()
  const named = publicDatabaseUrl(DATABASE_URL)
  assert.is(opened, `Created ${database.reportedAs} ${named}, with the demo data.`)
  assert.match(ready ?? '', /^Ready at \S+\/api · docs at \S+\/api\/docs · explorer at \S+ · writes enabled$/)
  assert.equal(more, [])
  // Every line is JSON, and none contains the password.
  assert.is(first.output().trimEnd().split('\n').length, 2)
  if (DATABASE_URL.startsWith('sqlite:')) assert.match(first.output(), /"driver":"better-sqlite3 \d+\.\d+\.\d+"/)
  assert.not.match(first.output(), /of-the-tests/)
  const before = await totalOf(first.address, 'leave')
  assert.is((await create(first.address)).status, 201)
  assert.is(await first.end('SIGTERM'), 0)

  const second = await startProcess({ DATABASE_URL })
  assert.is(second.messages()[0], `Opened the database ${named}.`)
  assert.match(second.output(), /writes disabled/)
  assert.is(await totalOf(second.address, 'leave'), before + 1)
  assert.is(await second.end('SIGINT'), 0)
})

test('demo data in a database that exists is reported as loaded into empty tables', async () => {
  const DATABASE_URL = (await sharedDatabase()).url
  assert.is(await (await startProcess({ DATABASE_URL, DEMO_DATA: 'false' })).end('SIGTERM'), 0)
  const filled = await startProcess({ DATABASE_URL })
  const named = publicDatabaseUrl(DATABASE_URL)
  assert.is(filled.messages()[0], `Opened the database ${named} and loaded the demo data into its empty tables.`)
  assert.is(await filled.end('SIGTERM'), 0)
})

for (const [environment, message] of [
  [{ PORT: 'x', LOG_LEVEL: 'loud' }, /^PORT is "x", but .*\nLOG_LEVEL is "loud", but .*\n$/],
  [{ DATABASE_URL: 'sqlite::memory:', HOST: '192.0.2.1' }, /^HOST is not an address of this machine.*\n$/],
] as const) {
  test(`${JSON.stringify(environment)}: the start fails with one line per error`, async () => {
    const { code, output } = await startAndFail(environment)
    assert.is(code, 1)
    assert.match(output, message)
  })
}

test('workers share the port and are drained; DEMO_DATA=false leaves a new database empty', async () => {
  const environment = { DEMO_DATA: 'false', WORKERS: '2', LOG_LEVEL: 'info', API_TOKEN: token }
  const running = await startProcess({ DATABASE_URL: await freshUrl(), ...environment })
  assert.match(running.messages()[0] ?? '', /, without demo data\.$/)
  assert.is(await totalOf(running.address, 'leave'), 0)
  const responses = await Promise.all(Array.from({ length: 40 }, () => create(running.address)))
  assert.ok(responses.every(({ status }) => status === 201))
  for (let n = 0; n < 10; n++) assert.is(await totalOf(running.address, 'leave'), 40)
  assert.is(await running.end('SIGTERM'), 0)
})

test('a port in use stops the start with a message', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const port = String((other.address() as AddressInfo).port)
  for (const name of ['PORT', 'METRICS_PORT']) {
    const output = `Port ${port} is in use; set ${name} to another port, or to 0 for any free port.\n`
    assert.equal(await startAndFail({ DATABASE_URL: 'sqlite::memory:', [name]: port }), { code: 1, output })
  }
  other.close()
})

/** Starts a service, sends it a signal so many milliseconds after it has printed a text, and resolves with what it did then. */
const stopDuringStart = async (
  environment: Record<string, string>,
  text: string,
  signal: NodeJS.Signals,
  waitMs = 0,
) => {
  const { child, ended, output } = launch(environment)
  await until(async () => output().includes(text))
  await sleep(waitMs)
  child.kill(signal)
  return { code: await ended, output: output() }
}

for (const WORKERS of ['1', '2'])
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    test(`${signal} ends a start that waits for its database, with WORKERS=${WORKERS}`, async () => {
      const environment = { DATABASE_URL: 'postgres://x@127.0.0.1:1/x', DATABASE_WAIT_MS: '600000', WORKERS }
      const { code, output } = await stopDuringStart(environment, 'Waiting up to', signal)
      assert.is(code, 0, output)
      assert.match(output, /"Stopped during the start\."\}\n$/)
    })

for (const waitMs of [0, 300, 900])
  test(`SIGTERM ends a start whose workers do not listen yet, after ${waitMs} ms`, async () => {
    const environment = { DATABASE_URL: await freshUrl(), WORKERS: '2' }
    const { code, output } = await stopDuringStart(environment, '"created":true', 'SIGTERM', waitMs)
    assert.is(code, 0, output)
    assert.match(output, /"Stopped[^"]*\."\}\n$/)
  })

test('an unfinished request does not prevent one or several processes from stopping', async () => {
  const check = async (WORKERS: string): Promise<void> => {
    const environment = { API_TOKEN: token, DRAIN_TIMEOUT_MS: '500', WORKERS }
    const running = await startProcess({ DATABASE_URL: await freshUrl(), ...environment })
    const { close } = await unfinishedRequest(running.address, token, '{"leave_type":"x"}')
    assert.is.not(await running.end('SIGTERM'), 0)
    assert.match(running.output(), /within 500 ms \(DRAIN_TIMEOUT_MS\)/)
    close()
  }
  await Promise.all(['1', '2'].map(check))
})

test.run()
