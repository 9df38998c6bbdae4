/** Standbys of PostgreSQL, which serve and confirm; as replicas, they serve reads that are never older than the primary, and may lag, hang, restart or be gone. */
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { text } from '../../engine/descriptor/index.js'
import { runOn } from '../support/database.js'
import { existingTables, readOnly } from '../support/foreignTables.js'
import { startOffice } from '../support/office.js'
import { startService } from '../support/service.js'
import { standbyPool as pool, startPrimary } from '../support/standby.js'

const { primary, addStandby, caughtUp } = await startPrimary()
const { standby, start, process: first } = await addStandby()
const gone = standby.replace(/:\d+\//, ':1/')
const service = await startOffice({ url: primary, readUrls: [standby, gone], pool })

/** How many reads a server has answered during some work. */
const readsOf = async (server: string, work: () => Promise<unknown>): Promise<number> => {
  const count = () => service.stats().reads?.get(server) ?? 0
  const before = count()
  await work()
  return count() - before
}

let limit = 1
/** Reads, most of which no cache answers: a page, an order, a search, a row and a download. */
const reads = async () => {
  limit++
  for (const path of [`?limit=${limit}`, `?sort=-id&limit=${limit}`, `?q=an&limit=${limit}`, '/2'])
    assert.is((await service.get(`/v1/leave${path}`)).status, 200)
  const download = await service.send('/api/v1/leave', { headers: { accept: 'text/csv' } })
  assert.is(download.status, 200)
}

const untilServing = async (): Promise<void> => {
  while ((await readsOf('replica 1', () => service.get(`/v1/leave?limit=1&offset=${++limit}`))) === 0)
    await setTimeout(50)
}

const test = suite('standbys and replicas of PostgreSQL')

test('a standby serves reads, refuses creates and follows its primary', async () => {
  assert.equal(await runOn(standby, 'select pg_is_in_recovery() as is'), [{ is: true }])
  const follower = await startOffice({ url: standby })
  const { body: before } = await follower.get('/v1/leave')
  assert.ok(before.meta.total > 0)
  const created = await follower.create('leave', { leave_type: 'Annual' })
  assert.equal([created.status, created.body.error.code], [503, 'unavailable'])
  const health = await follower.get('/v1/health')
  assert.equal([health.status, health.body.status], [200, 'read-only'])
  await runOn(primary, `insert into leave_requests (leave_type, status) values ('Streamed', 'Pending')`)
  while ((await follower.get('/v1/leave?q=streamed')).body.meta.total === 0) await setTimeout(20)
  assert.is((await follower.get('/v1/leave')).body.meta.total, before.meta.total + 1)
})

test('no create is acknowledged that no standby confirms; reads go on, and nothing of it is cancelled', async () => {
  const limits = { size: 6, waitMs: 2_000, idleMs: 60_000, statementMs: 1_000 }
  const { create, get } = await startOffice({ url: primary, pool: limits })
  const patient = await startOffice({ url: primary, pool: { ...limits, waitMs: 60_000, statementMs: 60_000 } })
  const { total: before } = (await get('/v1/leave')).body.meta
  const confirmBy = async (names: string) => {
    await runOn(primary, `alter system set synchronous_standby_names = '${names}'`)
    await runOn(primary, 'select pg_reload_conf()')
    while ((await runOn(primary, 'show synchronous_standby_names'))[0]?.['synchronous_standby_names'] !== names);
  }
  const waiting = `from pg_stat_activity where wait_event = 'SyncRep'`
  await confirmBy('nobody')
  try {
    const codes = new Set<string>()
    const creator = async (n: number) => {
      for (let k = 0; k < 2; k++) {
        const { status, body, headers } = await create('leave', { leave_type: 'Unconfirmed', reason: `${n} ${k}` })
        assert.is(status, 503)
        codes.add(body.error.code)
        assert.is(headers['retry-after'], body.error.code === 'outcome_unknown' ? undefined : '1')
      }
    }
    const reader = async (n: number) => {
      for (let k = 0; k < 20; k++) {
        for (const path of [`leave?offset=${n}&limit=${k + 1}`, 'leave/1', `leave?q=an&limit=${k + 1}`, 'health'])
          assert.is((await get(`/v1/${path}`)).status, 200)
      }
    }
    await Promise.all(Array.from({ length: 8 }, (_, n) => Promise.all([creator(n), reader(n)])))
    assert.ok(codes.has('outcome_unknown'))
    // The sessions that wait keep their connections, so that there are never more of them.
    const [{ count } = {}] = await runOn(primary, `select count(*) ${waiting}`)
    assert.ok(Number(count) > 0 && Number(count) <= 4, `${count} sessions wait`)

    // A wait that someone cancels ends with a success of the server, and a warning.
    const cancelled = patient.create('leave', { leave_type: 'Cancelled' })
    while ((await runOn(primary, `select 1 ${waiting}`)).length <= Number(count));
    await runOn(primary, `select pg_cancel_backend(pid) ${waiting}`)
    const { status, body } = await cancelled
    assert.equal([status, body.error.code], [503, 'outcome_unknown'])
  } finally {
    await confirmBy('')
  }
  while ((await create('leave', { leave_type: 'Confirmed' })).status !== 201);
  assert.ok((await get('/v1/leave')).body.meta.total > before)
})

test('reads are answered by the replica that can be reached', async () => {
  await caughtUp(standby)
  assert.is(await readsOf('primary', reads), 0)
  assert.ok((await readsOf('replica 1', reads)) >= 5)
  assert.is(service.stats().reads?.get('replica 2'), 0)
})

test('every read has the rows that were stored before it', async () => {
  for (let n = 0; n < 100; n++) {
    const { body } = await service.create('leave', { leave_type: `Fresh ${n}` })
    const { body: page } = await service.get(`/v1/leave?sort=-id&limit=1&q=fresh%20${n}`)
    assert.equal([page.data[0].id, page.meta.total], [body.id, 1 + (n < 10 ? Math.floor(n / 100) : 0)])
    assert.is((await service.get(`/v1/leave/${body.id}`)).status, 200)
  }
})

test('while a replica lags, the primary answers; afterwards it serves again', async () => {
  await runOn(standby, 'select pg_wal_replay_pause()')
  const { body } = await service.create('leave', { leave_type: 'Late' })
  for (let n = 1; n <= 20; n++) {
    assert.is((await service.get(`/v1/leave?sort=-id&limit=${n}`)).body.data[0].id, body.id)
    await setTimeout(10)
  }
  const { text } = await service.send('/api/v1/leave?sort=-id', { headers: { accept: 'application/x-ndjson' } })
  assert.is(JSON.parse(text.split('\n')[0] as string).id, body.id)
  await runOn(standby, 'select pg_wal_replay_resume()')
  await untilServing()
})

test('existing tables are never stale either, and one that a replica cannot read is no reason to leave it alone', async () => {
  await runOn(
    primary,
    `create table notes (id integer generated by default as identity primary key, body text);
    create unlogged table drafts (id integer primary key, body text);
    insert into drafts values (1, 'Draft')`,
  )
  const fields = { body: text() }
  const registry = existingTables({ notes: { fields }, drafts: { ...readOnly, fields } })
  const existing = await startService({ registry, url: primary, readUrls: [standby], pool })
  const total = async (path: string) => (await existing.get(path)).body.meta.total
  const replicaReads = () => existing.stats().reads?.get('replica 1') ?? 0
  for (let n = 1; n <= 50; n++) {
    const { body } = await existing.create('notes', { body: `Note ${n}` })
    assert.is((await existing.get(`/v1/notes/${body.id}`)).status, 200)
    assert.is(await total(`/v1/notes?limit=1&offset=${n}`), n)
  }
  assert.is(await total('/v1/drafts'), 1)
  const before = replicaReads()
  while (replicaReads() === before) {
    assert.is(await total('/v1/notes'), 50)
    await setTimeout(20)
  }
  await runOn(standby, 'select pg_wal_replay_pause()')
  await existing.create('notes', { body: 'Late' })
  const paused = replicaReads()
  for (let n = 0; n < 20; n++) {
    assert.is(await total('/v1/notes'), 51)
    await setTimeout(10)
  }
  assert.is(replicaReads(), paused)
  await runOn(standby, 'select pg_wal_replay_resume()')
})

test('a replica that hangs is asked once, and serves again when it answers', async () => {
  // All processes of the server: it does not answer, but its connections stay open.
  const sessions = (await runOn(standby, 'select pid from pg_stat_activity')).map(({ pid }) => Number(pid))
  const signal = (name: NodeJS.Signals) => {
    for (const pid of [first.pid as number, ...sessions]) {
      try {
        process.kill(pid, name)
      } catch {
        // The session has ended.
      }
    }
  }
  signal('SIGSTOP')
  try {
    await reads()
    // It is left alone now: further reads do not wait for it.
    assert.ok((await readsOf('primary', reads)) >= 5)
  } finally {
    signal('SIGCONT')
  }
  await untilServing()
})

test('a replica that is gone costs no read, and serves again after a restart', async () => {
  const ended = new Promise((resolve) => first.once('exit', resolve))
  first.kill('SIGINT')
  await ended
  await reads()
  await start()
  await untilServing()
})

test.run()
