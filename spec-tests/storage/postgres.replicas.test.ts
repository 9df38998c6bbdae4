/** Replicas of PostgreSQL: they serve reads that are never older than the primary, and may lag, hang, restart or be gone. */
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { runOn } from '../support/database.js'
import { startOffice } from '../support/service.js'
import { startStandby } from '../support/standby.js'

const { primary, standby, start, process: first } = await startStandby()
const pool = { size: 4, waitMs: 1_000, idleMs: 1_000, statementMs: 5_000 }
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
  for (const path of [
    `leave?limit=${++limit}`,
    `leave?sort=-id&limit=${limit}`,
    `leave?q=an&limit=${limit}`,
    'leave/2',
  ])
    assert.is((await service.get(`/v1/${path}`)).status, 200)
  const download = await service.send('/api/v1/leave', { headers: { accept: 'text/csv' } })
  assert.is(download.status, 200)
}

const caughtUp = async (): Promise<void> => {
  const position = async (url: string, name: string) => (await runOn(url, `select ${name}() as at`))[0]?.['at']
  const wanted = await position(primary, 'pg_current_wal_lsn')
  while ((await runOn(standby, `select pg_last_wal_replay_lsn() >= '${wanted}' as is`))[0]?.['is'] !== true)
    await setTimeout(20)
}

const untilServing = async (): Promise<void> => {
  while ((await readsOf('replica 1', () => service.get(`/v1/leave?limit=1&offset=${++limit}`))) === 0)
    await setTimeout(50)
}

const test = suite('replicas of PostgreSQL')

test('reads are answered by the replica that can be reached', async () => {
  await caughtUp()
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
    const { body: page } = await service.get(`/v1/leave?sort=-id&limit=${n}`)
    assert.is(page.data[0].id, body.id)
    await setTimeout(10)
  }
  const { text } = await service.send('/api/v1/leave?sort=-id', { headers: { accept: 'application/x-ndjson' } })
  assert.is(JSON.parse(text.split('\n')[0] as string).id, body.id)
  // A table that has not changed is still read there.
  assert.ok((await readsOf('replica 1', () => service.get('/v1/employees?limit=3'))) > 0)
  await runOn(standby, 'select pg_wal_replay_resume()')
  await untilServing()
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
