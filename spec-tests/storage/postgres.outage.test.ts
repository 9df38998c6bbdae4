/** Outages of PostgreSQL: requests get 503, no row is lost, and the service recovers. */
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { runOn, sharedDatabase, whileLockedIn } from '../support/database.js'
import { flakyNetwork } from '../support/flakyNetwork.js'
import { startOffice, type TestResponse } from '../support/service.js'

const database = await sharedDatabase()
const network = await flakyNetwork(database.url)
const pool = { size: 4, waitMs: 2_000, idleMs: 5_000, statementMs: 2_000 }
const service = await startOffice({ url: network.url, pool })

const leave = { leave_type: 'Outage' }
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

test('without a connection every request gets 503; then the service recovers', async () => {
  network.cut()
  const responses = await Promise.all([...reads(), service.create('leave', leave)])
  network.restore()
  for (const response of responses) expectUnavailable(response)
  await waitForRecovery()
})

test('on a network that loses every packet every request gets 503; then the service recovers', async () => {
  network.hang()
  const [created, ...others] = await Promise.all([service.create('leave', leave), ...reads()])
  network.restore()
  for (const response of others) expectUnavailable(response)
  // Whether it had been sent by then is not known.
  if (created.body.error.code === 'outcome_unknown') assert.is(created.status, 503)
  else expectUnavailable(created)
  await waitForRecovery()
})

test('clients do not notice that the server ends idle connections', async () => {
  for (let n = 0; n < 5; n++) {
    await Promise.all(reads())
    await runOn(
      database.url,
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
    )
    for (const { status } of await Promise.all(reads())) assert.is(status, 200)
  }
})

test('a statement that takes too long is cancelled, and others continue', async () => {
  await waitForRecovery()
  await whileLockedIn(database.url, 'leave_requests in exclusive mode', async () => {
    expectUnavailable(await service.create('leave', leave))
    assert.is((await service.get('/v1/leave')).status, 200)
    assert.is((await service.get('/v1/jobs')).status, 200)
  })
  assert.is((await service.create('leave', leave)).status, 201)
})

test('201 means stored and 503 not stored, unless the message says that the outcome is unknown', async () => {
  const before = (await database.run('select id from leave_requests')).length
  const acknowledged: number[] = []
  let unknown = 0
  let isDone = false
  const writer = async () => {
    while (!isDone) {
      const { status, body } = await service.create('leave', leave)
      if (status === 201) acknowledged.push(body.id)
      else {
        assert.is(status, 503)
        if (/may or may not have been stored/.test(body.error.message)) unknown++
        else assert.match(body.error.message, /Nothing was stored/)
      }
    }
  }
  const writers = [writer(), writer(), writer(), writer()]
  for (let n = 0; n < 8; n++) {
    await setTimeout(120)
    network.cut()
    await setTimeout(30)
    network.restore()
  }
  isDone = true
  await Promise.all(writers)
  assert.ok(acknowledged.length > 0)
  const stored = new Set((await database.run('select id from leave_requests')).map(({ id }) => id))
  for (const id of acknowledged) assert.ok(stored.has(id), `row ${id} was acknowledged, but is not stored`)
  assert.ok(stored.size - before - acknowledged.length <= unknown, 'a row is stored although its create got 503')
  const total = (await service.get('/v1/leave?limit=1')).body.meta.total
  assert.is(total, stored.size)
})

test.run()
