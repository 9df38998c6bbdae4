/** How requests share the connections to PostgreSQL: locked tables, clients that leave, and connections that break. */
import { request } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { endSessions, runOn, sharedDatabase, whileLockedIn } from '../support/database.js'
import { startOffice } from '../support/office.js'
import { until } from '../support/until.js'

const database = await sharedDatabase()
const minute = 60_000
const never = { size: 6, waitMs: minute, idleMs: minute, statementMs: minute }

/** Holds a lock that stops every read of a table while the work runs. */
const whileLocked = (table: string, work: () => Promise<void>) =>
  whileLockedIn(database.url, `${table} in access exclusive mode`, work)

/** How many statements of the service run or wait. */
const activeStatements = async (): Promise<number> => {
  const [row] = await runOn(
    database.url,
    `select count(*) as count from pg_stat_activity
      where datname = current_database() and state = 'active' and application_name = 'resource-registry-engine'`,
  )
  return Number(row?.['count'])
}

const test = suite('the connections to PostgreSQL')

test('while a table is locked and many clients ask for it, reads of other tables succeed', async () => {
  // Nothing ends a statement that waits for the lock.
  const service = await startOffice({ url: database.url, pool: { ...never, waitMs: minute } })
  const paths = ['/v1/employees/1', '/v1/employees?offset=1', '/v1/employees?q=an', '/v1/employees?status=Active']
  let locked: Promise<{ status: number }[]> | undefined
  await whileLocked('employees', async () => {
    locked = Promise.all(Array.from({ length: 40 }, (_, n) => service.get(paths[n % paths.length] as string)))
    await until(async () => (await activeStatements()) >= 3)
    for (let n = 0; n < 10; n++) {
      const others = ['jobs/1', `jobs?offset=${n}`, `jobs?q=e&offset=${n}`, 'health', 'employees?q=%00']
      const responses = await Promise.all(others.map((path) => service.get(`/v1/${path}`)))
      for (const [index, { status }] of responses.entries()) assert.is(status, 200, others[index])
    }
  })
  for (const { status } of (await locked) ?? []) assert.is(status, 200)
})

test('a request for a locked table gets 503 after POOL_WAIT_MS', async () => {
  const lines: string[] = []
  const logger = pino({}, { write: (line: string) => lines.push(line) })
  const pool = { ...never, waitMs: 1_000, statementMs: 5_000 }
  const service = await startOffice({ url: database.url, logger, pool })
  await whileLocked('leave_requests', async () => {
    const requests = [
      service.get('/v1/leave/1'),
      service.get('/v1/leave'),
      service.get('/v1/leave?q=annual'),
      service.create('leave', { leave_type: 'x' }),
    ]
    for (const { status, headers, body } of await Promise.all(requests)) {
      assert.is(status, 503)
      assert.is(headers['retry-after'], '1')
      assert.is(body.error.code, 'unavailable')
      // The statement has not reached its own time limit.
      assert.match(body.error.message, /^The database is not available/)
    }
  })
  assert.is((await service.create('leave', { leave_type: 'x' })).status, 201)
  // It is no outage of the database.
  const logged = lines.map((line) => JSON.parse(line))
  const failures = logged.filter(({ level }) => level > 30)
  assert.equal(
    failures.map(({ level, msg }) => [level, msg]),
    Array.from({ length: 4 }, () => [40, 'another program holds a lock']),
  )
  for (const { reason } of failures) assert.match(reason, /\bleave_requests\b/)
  const reasons = logged.filter(({ status }) => status === 503).map(({ reason }) => reason)
  assert.equal(
    reasons,
    Array.from({ length: 4 }, () => 'locked'),
  )
})

test('slow searches that would wait for too long are refused, and do not delay others', async () => {
  const { url } = await sharedDatabase()
  const lines: string[] = []
  const logger = pino({}, { write: (line: string) => lines.push(line) })
  const service = await startOffice({ url, logger, pool: { ...never, statementMs: 10_000 } })
  await runOn(
    url,
    `alter table employees rename to staff; create view employees as select staff.* from (select pg_sleep(0.02)) as slept, staff`,
  )
  const slow = Promise.all(Array.from({ length: 30 }, (_, n) => service.get(`/v1/employees?q=e&offset=${n}`)))
  for (const path of ['/v1/jobs?q=engineer', '/v1/jobs/1', '/v1/leave?limit=3'])
    assert.is((await service.get(path)).status, 200)
  const found = new Set((await slow).map(({ status, body }) => body.error?.code ?? status))
  assert.equal([...found].sort(), [200, 'busy'])
  assert.not.match(lines.join(''), /The database is not available/)
})

test('the value counts of an explorer page are cancelled when their time is up', async () => {
  const service = await startOffice({ url: database.url, pool: never, explorer: true })
  // The rows of the page are cached, so that only its counts need the table.
  for (let n = 0; n < 2; n++) await service.get('/v1/leave')
  await whileLocked('leave_requests', async () => {
    assert.is((await service.send('/explore/leave')).status, 200)
    await until(async () => (await activeStatements()) === 0)
  })
})

test('a client that leaves cancels its statement, and no other one', async () => {
  const service = await startOffice({ url: database.url, pool: never })
  const { hostname, port } = new URL(service.address)
  const leaver = (path: string) => {
    const sent = request({ hostname, port, path, headers: { connection: 'close' } })
    sent.on('error', () => {})
    sent.end()
    return sent
  }
  // Different ones, because clients that repeat a list share one statement.
  const paths = [(n: number) => `?q=ann&offset=${n}`, () => '/1', (n: number) => `?offset=${n + 2}`]
  for (const path of paths) {
    await whileLocked('employees', async () => {
      const clients = Array.from({ length: 30 }, (_, n) => leaver(`/api/v1/employees${path(n)}`))
      await until(async () => (await activeStatements()) >= 2)
      for (const client of clients) client.destroy()
      await until(async () => (await activeStatements()) === 0)
    })
  }
  // Statements that end while they are cancelled.
  for (let n = 0; n < 40; n++) {
    const client = leaver(`/api/v1/employees?q=a&offset=${n}`)
    await setTimeout(n % 8)
    client.destroy()
    for (const { status } of await Promise.all([service.get(`/v1/jobs?offset=${n}`), service.get('/v1/jobs/1')])) {
      assert.is(status, 200)
    }
  }
})

test('while the server ends every session, creates with a key succeed, each once', async () => {
  const service = await startOffice({ url: database.url, pool: { ...never, waitMs: 10_000, statementMs: 10_000 } })
  const create = (key: string) =>
    service.create('leave', { leave_type: 'Ended', reason: key }, { 'idempotency-key': key })
  let isDone = false
  const endAll = async () => {
    while (!isDone) {
      await endSessions(database.url)
      await setTimeout(100)
    }
  }
  const ending = endAll()
  const client = async (n: number) => {
    for (let k = 0; k < 10; k++) assert.is((await create(`ended-${n}-${k}`)).status, 201)
  }
  try {
    await Promise.all([0, 1, 2, 3].map(client))
  } finally {
    isDone = true
    await ending
  }
  const rows = await runOn(
    database.url,
    `select reason, count(*) as count from leave_requests where leave_type = 'Ended' group by 1`,
  )
  assert.is(rows.length, 40)
  for (const { reason, count } of rows) assert.is(count, 1, String(reason))
})

test('creates go on after another program has inserted ids beyond 2^53', async () => {
  const service = await startOffice({ url: database.url })
  const { id: before } = (await service.create('leave', { leave_type: 'x' })).body
  for (const id of ['9007199254740993', '9007199254740991', '9223372036854775807']) {
    await runOn(database.url, `insert into leave_requests (id, leave_type, status) values (${id}, 'Far', 'Pending')`)
  }
  const { status, headers, body } = await service.create('leave', { leave_type: 'x' })
  assert.is(status, 201)
  assert.is(body.id, before + 1)
  assert.is((await service.send(String(headers.location))).status, 200)
})

test.run()
