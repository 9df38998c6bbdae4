/** Outages of PostgreSQL: requests get 503, no row is lost, the service recovers, and the log has a line for the begin and the end. */
import { setTimeout } from 'node:timers/promises'
import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { endSessions, sharedDatabase, whileLockedIn } from '../support/database.js'
import { flakyNetwork } from '../support/flakyNetwork.js'
import { startOffice } from '../support/office.js'
import type { TestResponse } from '../support/service.js'
import { until } from '../support/until.js'
import { writesDuring } from '../support/writesDuring.js'

const database = await sharedDatabase()
const network = await flakyNetwork(database.url)
const pool = { size: 4, waitMs: 2_000, idleMs: 5_000, statementMs: 2_000 }
let lines: string[] = []
const logger = pino({}, { write: (line: string) => lines.push(line) })
const service = await startOffice({ url: network.url, pool, logger })

const leave = { leave_type: 'Outage' }
const update = (id: number, days: number) => service.change(`leave/${id}`, { days })
const remove = (id: number) => service.remove(`leave/${id}`)
const writes = () => [service.create('leave', leave), update(1, 7), remove(2)]
const reads = () => ['/v1/leave', '/v1/leave/1', '/v1/leave?q=annual', '/v1/health'].map((path) => service.get(path))

const expectUnavailable = ({ status, body, headers }: TestResponse): void => {
  assert.is(status, 503)
  assert.is(body.error.code, 'unavailable')
  assert.is(headers['retry-after'], '1')
  assert.not.match(JSON.stringify(body), /postgres|127\.0\.0\.1|select/)
}

const waitForRecovery = async (): Promise<void> => {
  const isRecovered = async () =>
    (await Promise.all([...reads(), service.create('leave', leave)])).every((one) => one.status < 300)
  while (!(await isRecovered())) await setTimeout(50)
}

const test = suite('outages of PostgreSQL')

test('without a connection every request gets 503; then the service recovers, and logs how many failed', async () => {
  lines = []
  network.cut()
  const responses = await Promise.all([...reads(), ...writes()])
  network.restore()
  for (const response of responses) expectUnavailable(response)
  for (const { body } of responses.slice(-3)) assert.match(body.error.message, /Nothing was stored/)
  await waitForRecovery()
  await until(async () => (await service.get('/v1/health')).status === 200 && /available again/.test(lines.join()))
  const logged = lines.map((line) => JSON.parse(line)).filter(({ level }) => level > 30)
  assert.is(logged.length, 2, JSON.stringify(logged))
  const began = /^The database is not available: .+\. Failed requests are counted until it recovers\.$/
  assert.match(logged[0].msg, began)
  const ended = /^The database is available again: (\d+) requests failed within [\d.]+ s\.$/
  assert.ok(Number(ended.exec(logged[1].msg)?.[1]) >= responses.length, logged[1].msg)
  assert.not.match(lines.join(''), /"stack"/)
})

test('on a network that loses every packet every request gets 503; then the service recovers', async () => {
  network.hang()
  const [written, others] = await Promise.all([Promise.all(writes()), Promise.all(reads())])
  network.restore()
  for (const response of others) expectUnavailable(response)
  for (const response of written) {
    // Whether it had been sent by then is not known.
    if (response.body.error.code === 'outcome_unknown') assert.is(response.status, 503)
    else expectUnavailable(response)
  }
  await waitForRecovery()
})

test('clients do not notice that the server ends idle connections', async () => {
  for (let n = 0; n < 5; n++) {
    await Promise.all(reads())
    await endSessions(database.url)
    for (const { status } of await Promise.all(reads())) assert.is(status, 200)
  }
})

test('a statement that takes too long is cancelled, and others continue', async () => {
  await waitForRecovery()
  await whileLockedIn(database.url, 'leave_requests in exclusive mode', async () => {
    for (const response of await Promise.all(writes())) expectUnavailable(response)
    assert.is((await service.get('/v1/leave')).status, 200)
    assert.is((await service.get('/v1/jobs')).status, 200)
  })
  assert.is((await service.create('leave', leave)).status, 201)
})

test('a success is stored and 503 is not, unless it says that the outcome is unknown', async () => {
  const flaky = await flakyNetwork((await sharedDatabase()).url)
  await writesDuring({ url: flaky.url, pool }, async (nextResponses) => {
    for (let n = 0; n < 8; n++) {
      await nextResponses()
      flaky.cut()
      await setTimeout(30)
      flaky.restore()
    }
  })
})

test('an unexpected error names the table in the log', async () => {
  await database.run('alter table leave_requests drop column registry_searched cascade')
  lines = []
  // A plain request: the document does not list 500 by itself.
  assert.is((await fetch(`${service.address}/api/v1/leave?q=annual`)).status, 500)
  await until(() => lines.length > 0)
  assert.match(lines.join(''), 'leave_requests: column \\"registry_searched\\" does not exist')
})

test.run()
