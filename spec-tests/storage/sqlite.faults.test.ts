/** Faults of the file: locked, full disk, missing, replaced, read-only, damaged, foreign, and failing system calls. */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StorageError } from '../../engine/storage/failures.js'
import { openStorage } from '../../engine/storage/open.js'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { storageOptions } from '../../support/storageOptions.js'
import { office, startOffice } from '../support/office.js'
import { type RunningService, startProcess } from '../support/process.js'
import { type TestClient, type TestResponse, token } from '../support/service.js'
import { writesDuring } from '../support/writesDuring.js'

const { path: folder } = temporaryFolder('faults')
let files = 0
/** A copy of a database with the demo data. */
const newPath = (): string => {
  const path = join(folder, `${++files}.sqlite`)
  copyFileSync(join(folder, 'demo.sqlite'), path)
  return path
}
/** Starts a process, which faults from outside can reach. */
const startOn = (path: string, more: Parameters<typeof startProcess>[1] = {}): Promise<RunningService> =>
  startProcess({ DATABASE_URL: `sqlite:${path}`, API_TOKEN: token }, more)

const create = ({ create: send }: TestClient, reason = 'a fault') => send('leave', { leave_type: 'Annual', reason })
/** Sends one write of each kind at once: a create, and an update and a delete of two demo rows. */
const writeAll = (service: TestClient, reason = 'a fault'): Promise<TestResponse[]> =>
  Promise.all([create(service, reason), service.change('leave/1', { reason }), service.remove('leave/2')])

/** The demo rows that the writes concern, as a client reads them. */
const readTargets = async ({ get }: TestClient): Promise<string[]> =>
  Promise.all([1, 2].map(async (id) => (await get(`/v1/leave/${id}`)).text))
const totalOf = async ({ get }: TestClient): Promise<number> => (await get('/v1/leave?limit=1')).body.meta.total

/** Checks for a 503 that asks the client to retry. */
const expectUnavailable = ({ status, headers, body }: TestResponse): void => {
  assert.equal([status, body.error.code], [503, 'unavailable'])
  assert.ok(Number(headers['retry-after']) > 0)
}
/** Checks for a 503 that must not be retried blindly: everything was written, and only the sync has failed. */
const expectUnknown = ({ status, headers, body }: TestResponse): void =>
  assert.equal([status, body.error.code, headers['retry-after']], [503, 'outcome_unknown', undefined])

/** Resolves when a create succeeds; then an update and a delete must too, so that the total is the same again. */
const waitForRecovery = async (service: TestClient): Promise<void> => {
  while ((await create(service)).status !== 201) await setTimeout(100)
  assert.is((await service.change('leave/1', { reason: 'recovered' })).status, 200)
  assert.is((await service.remove('leave/2')).status, 204)
  assert.match((await readTargets(service)).join(), /"reason":"recovered".*not_found/)
}

const test = suite('faults')

test.before(async () => {
  await (await openStorage(office, `sqlite:${join(folder, 'demo.sqlite')}`, storageOptions)).close()
})

test('locked by another program: reads continue, writes wait and get 503, then work again', async () => {
  const path = newPath()
  const lines: string[] = []
  const logger = pino({}, { write: (line: string) => lines.push(line) })
  const service = await startOffice({ url: `sqlite:${path}`, readTimeoutMs: 500, logger })
  const before = [await totalOf(service), ...(await readTargets(service))]
  const otherProgram = new Database(path)
  otherProgram.exec('begin immediate')
  const waiting = writeAll(service)
  for (let n = 0; n < 20; n++) assert.is((await service.get(`/v1/leave?limit=1&offset=${n}`)).status, 200)
  for (const response of await waiting) expectUnavailable(response)
  assert.equal([await totalOf(service), ...(await readTargets(service))], before)
  otherProgram.exec('rollback')
  otherProgram.close()
  await waitForRecovery(service)
  const failures = lines.map((line) => JSON.parse(line)).filter(({ level, status }) => level > 30 || status === 503)
  assert.ok(failures.length >= 6)
  for (const { msg, reason } of failures) {
    if (msg === 'request') assert.is(reason, 'locked')
    else assert.equal([msg, reason], ['another program holds a lock', 'leave_requests: database is locked'])
  }
})

test('locked for long by another process: writes wait for as long as a request may take', async () => {
  const path = newPath()
  const service = await startOffice({ url: `sqlite:${path}`, readTimeoutMs: 60_000 })
  // Starts the writer.
  await create(service)
  const otherProcess = new Database(path)
  otherProcess.exec('begin immediate')
  const waiting = writeAll(service)
  // A wait of five seconds, which is common, is not enough.
  await setTimeout(6_000)
  otherProcess.exec('commit')
  otherProcess.close()
  const responses = await waiting
  assert.equal(
    responses.map(({ status }) => status),
    [201, 200, 204],
  )
})

test('full disk: writes get 503 and change nothing, reads continue, and writes work once there is space', async () => {
  const path = newPath()
  const limit = 8 * 1024
  const running = await startOn(path, { shell: `ulimit -S -f ${limit} && exec "$0" "$@"` })
  const before = await totalOf(running)
  const reason = 'x'.repeat(200_000)
  let stored = 0
  // Small rows take the space that is left.
  for (const text of [reason, 'x']) {
    let response = await create(running, text)
    for (; response.status === 201 && stored < 200; stored++) response = await create(running, text)
    expectUnavailable(response)
  }
  assert.ok(stored > 0)
  const targets = await readTargets(running)
  for (const refused of await writeAll(running, reason)) expectUnavailable(refused)
  assert.equal(await readTargets(running), targets)
  assert.is(await totalOf(running), before + stored)
  spawnSync('prlimit', ['--pid', String(running.child.pid), '--fsize=unlimited'])
  await waitForRecovery(running)
  assert.is(await running.end('SIGTERM'), 0)
  const database = new Database(path)
  assert.is(database.prepare('select count(*) from leave_requests').pluck().get(), before + stored)
  assert.equal(database.pragma('integrity_check'), [{ integrity_check: 'ok' }])
})

test('missing file: writes and health get 503, nothing is stored, and all works once the file is back', async () => {
  const path = newPath()
  const service = await startOffice({ url: `sqlite:${path}` })
  assert.is((await create(service)).status, 201)
  const before = await totalOf(service)
  renameSync(path, `${path}.away`)
  for (let n = 0; n < 5; n++) for (const response of await writeAll(service, 'refused')) expectUnavailable(response)
  expectUnavailable(await service.get('/v1/health'))
  assert.equal([(await service.send('/livez')).status, (await service.send('/readyz')).status], [200, 503])
  assert.is((await service.get('/v1/leave?limit=1')).status, 200)
  assert.not.ok(existsSync(path), 'an empty file was created')
  renameSync(`${path}.away`, path)
  await waitForRecovery(service)
  assert.is((await service.get('/v1/health')).status, 200)
  assert.is(await totalOf(service), before)
  assert.is((await service.get('/v1/leave?q=refused')).body.meta.total, 0)
})

test('a file moved away and back under load: a success is stored, 503 is not, unless it says that it is unknown', async () => {
  const path = join(folder, 'moved.sqlite')
  await writesDuring({ url: `sqlite:${path}` }, async (nextResponses) => {
    for (let n = 0; n < 40; n++) {
      await setTimeout(20)
      renameSync(path, `${path}.away`)
      // Mostly within one commit, and sometimes for several.
      await (n % 10 === 9 ? nextResponses() : setTimeout(n % 4))
      renameSync(`${path}.away`, path)
    }
  })
})

test('replaced file: creates and health get 503, reads work from the old file, and a restart serves the new one', async () => {
  const path = newPath()
  copyFileSync(path, `${path}.backup`)
  const running = await startOn(path)
  const demo = await totalOf(running)
  assert.is((await create(running)).status, 201)
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
  renameSync(`${path}.backup`, path)
  expectUnavailable(await create(running))
  expectUnavailable(await running.get('/v1/health'))
  assert.is((await running.get('/v1/leave?q=a')).status, 503)
  assert.is(await totalOf(running), demo + 1)
  assert.is(await running.end('SIGTERM'), 0)
  const restarted = await startOffice({ url: `sqlite:${path}` })
  assert.is(await totalOf(restarted), demo)
  assert.is((await create(restarted)).status, 201)
})

const digestOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

const damages: [name: string, damage: (path: string) => void][] = [
  [
    'damaged in the middle',
    (path) => {
      const bytes = readFileSync(path)
      bytes.fill(0xa5, bytes.length / 2, bytes.length / 2 + 20_000)
      writeFileSync(path, bytes)
    },
  ],
  ['truncated', (path) => truncateSync(path, 100_000)],
]
for (const [name, damage] of damages) {
  test(`a file that is ${name}: the start fails with a message and does not change the file`, async () => {
    const path = newPath()
    damage(path)
    const before = digestOf(path)
    const error = await openStorage(office, `sqlite:${path}`, storageOptions).catch((thrown: Error) => thrown)
    assert.instance(error, StorageError)
    assert.match(String(error), /The database .* cannot be used: /)
    assert.is(digestOf(path), before)
  })
}

const hasStrace = spawnSync('strace', ['--version']).status === 0
if (!hasStrace) console.log('strace is not installed: the tests of failing system calls are skipped')
for (const [call, error] of [
  ['fdatasync,fsync', 'EIO'],
  ['pwrite64', 'EIO'],
  ['pwrite64', 'ENOSPC'],
] as const) {
  if (!hasStrace) break
  test(`${call} fails with ${error}: writes get 503, reads continue, and writes work afterwards`, async () => {
    const path = newPath()
    const running = await startOn(path)
    assert.is((await create(running)).status, 201)
    const before = await totalOf(running)
    const targets = await readTargets(running)
    const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:error=${error}`]
    const strace = spawn('strace', ['-f', '-p', String(running.child.pid), ...inject])
    await new Promise((attached) => strace.stderr.once('data', attached))
    const expectRefusal = call.includes('sync') ? expectUnknown : expectUnavailable
    for (let n = 0; n < 2; n++) {
      for (const response of await writeAll(running)) expectRefusal(response)
      assert.equal(await readTargets(running), targets)
    }
    assert.is(await totalOf(running), before)
    strace.kill()
    await waitForRecovery(running)
    assert.is(await totalOf(running), before)
    assert.is(await running.end('SIGTERM'), 0)
    const database = new Database(path)
    assert.equal(database.pragma('integrity_check'), [{ integrity_check: 'ok' }])
    database.close()
  })
}

test.run()
