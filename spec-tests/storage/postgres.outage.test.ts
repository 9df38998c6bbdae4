/** Outages of PostgreSQL: requests get 503, no row is lost, the service recovers, and the log has a line for the begin and the end. */
import { setTimeout } from 'node:timers/promises'
import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { runOn, sharedDatabase, whileLockedIn } from '../support/database.js'
import { flakyNetwork } from '../support/flakyNetwork.js'
import { startOffice, type TestResponse } from '../support/service.js'
import { until } from '../support/until.js'

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
    for (const response of await Promise.all(writes())) expectUnavailable(response)
    assert.is((await service.get('/v1/leave')).status, 200)
    assert.is((await service.get('/v1/jobs')).status, 200)
  })
  assert.is((await service.create('leave', leave)).status, 201)
})

test('a success is stored and 503 is not, unless the message says that the outcome is unknown', async () => {
  const idsNow = async () =>
    new Set((await database.run('select id from leave_requests')).map(({ id }) => id as number))
  const before = await idsNow()
  /** For each row the days that it may have; undefined if it may be deleted. */
  const rows = new Map<number, (number | undefined)[]>()
  let unknownCreates = 0
  let isDone = false
  /** Creates a row, updates it some times, and deletes it unless the outcome of a write is unknown. */
  const writer = async () => {
    for (let n = 0, id: number | undefined; !isDone; n++) {
      const isDelete = id !== undefined && n % 4 === 3
      const sent =
        id === undefined ? service.create('leave', { ...leave, days: n }) : isDelete ? remove(id) : update(id, n)
      const { status, body } = await sent
      const days = isDelete ? undefined : n
      if (status < 300) {
        id ??= body.id as number
        rows.set(id, [days])
        if (isDelete) id = undefined
        continue
      }
      assert.is(status, 503)
      if (body.error.code === 'unavailable') {
        assert.match(body.error.message, /Nothing was stored/)
        continue
      }
      if (id === undefined) unknownCreates++
      else rows.get(id)?.push(days)
      id = undefined
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
  assert.ok(rows.size > 0)
  const stored = await idsNow()
  const daysOf = new Map((await database.run('select id, days from leave_requests')).map(({ id, days }) => [id, days]))
  for (const [id, possible] of rows)
    assert.ok(possible.includes(daysOf.get(id) as number), `row ${id} has ${daysOf.get(id)} instead of ${possible}`)
  const surprising = [...stored].filter((id) => !before.has(id) && !rows.has(id))
  assert.ok(surprising.length <= unknownCreates, 'a row is stored although its create got 503')
  const total = (await service.get('/v1/leave?limit=1')).body.meta.total
  assert.is(total, stored.size)
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
