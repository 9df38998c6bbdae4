/** Standbys of PostgreSQL: a streaming one serves reads; a create that no synchronous one confirms has an unknown outcome. */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../../support/cleanup.js'
import { startPersistentPostgres } from '../../support/postgresServer.js'
import { runOn } from '../support/database.js'
import { startOffice } from '../support/service.js'
import { startStandby } from '../support/standby.js'

const { path: alone } = temporaryFolder('alone')
// The server runs as another user.
chmodSync(alone, 0o755)

const test = suite('a standby of PostgreSQL')

test('a standby serves reads, refuses creates and follows its primary', async () => {
  const { primary, standby } = await startStandby()
  assert.equal(await runOn(standby, 'select pg_is_in_recovery() as is'), [{ is: true }])
  const service = await startOffice({ url: standby })
  const { body: before } = await service.get('/v1/leave')
  assert.ok(before.meta.total > 0)
  const created = await service.create('leave', { leave_type: 'Annual' })
  assert.is(created.status, 503)
  assert.is(created.body.error.code, 'unavailable')
  const health = await service.get('/v1/health')
  assert.equal([health.status, health.body.status], [200, 'read-only'])
  await runOn(primary, `insert into leave_requests (leave_type, status) values ('Streamed', 'Pending')`)
  while ((await service.get('/v1/leave?q=streamed')).body.meta.total === 0) await setTimeout(20)
  assert.is((await service.get('/v1/leave')).body.meta.total, before.meta.total + 1)
})

test('no create is acknowledged that no standby confirms; reads go on, and nothing of it is cancelled', async () => {
  const { url, stop } = await startPersistentPostgres(join(alone, 'data'))
  const pool = { size: 6, waitMs: 1_000, idleMs: 60_000, statementMs: 1_000 }
  const service = await startOffice({ url, pool })
  const patient = await startOffice({ url, pool: { ...pool, waitMs: 60_000, statementMs: 60_000 } })
  const { total: before } = (await service.get('/v1/leave')).body.meta
  const confirmBy = async (names: string) => {
    await runOn(url, `alter system set synchronous_standby_names = '${names}'`)
    await runOn(url, 'select pg_reload_conf()')
    while ((await runOn(url, 'show synchronous_standby_names'))[0]?.['synchronous_standby_names'] !== names);
  }
  const waiting = `from pg_stat_activity where wait_event = 'SyncRep'`
  await confirmBy('nobody')

  const codes = new Set<string>()
  const creator = async (n: number) => {
    for (let k = 0; k < 2; k++) {
      const { status, body, headers } = await service.create('leave', {
        leave_type: 'Unconfirmed',
        reason: `${n} ${k}`,
      })
      assert.is(status, 503)
      codes.add(body.error.code)
      assert.is(headers['retry-after'], body.error.code === 'outcome_unknown' ? undefined : '1')
    }
  }
  const reader = async (n: number) => {
    for (let k = 0; k < 20; k++) {
      const paths = [
        `/v1/leave?offset=${n}&limit=${k + 1}`,
        '/v1/leave/1',
        `/v1/leave?q=an&limit=${k + 1}`,
        '/v1/health',
      ]
      for (const path of paths) assert.is((await service.get(path)).status, 200)
    }
  }
  await Promise.all(Array.from({ length: 16 }, (_, n) => Promise.all([creator(n), reader(n)])))
  assert.ok(codes.has('outcome_unknown'))
  // The sessions that wait keep their connections, so that there are never more of them.
  const [{ count } = {}] = await runOn(url, `select count(*) ${waiting}`)
  assert.ok(Number(count) > 0 && Number(count) <= 4, `${count} sessions wait`)

  // A wait that someone cancels ends with a success of the server, and a warning.
  const cancelled = patient.create('leave', { leave_type: 'Cancelled' })
  while ((await runOn(url, `select 1 ${waiting}`)).length <= Number(count));
  await runOn(url, `select pg_cancel_backend(pid) ${waiting}`)
  const { status, body } = await cancelled
  assert.equal([status, body.error.code], [503, 'outcome_unknown'])

  await confirmBy('')
  while ((await service.create('leave', { leave_type: 'Confirmed' })).status !== 201);
  assert.ok((await service.get('/v1/leave')).body.meta.total > before)
  await stop()
})

test.run()
