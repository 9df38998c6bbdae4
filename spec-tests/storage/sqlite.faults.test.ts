/** Faults of the file: locked, full disk, missing, replaced, read-only, damaged, foreign, and failing system calls. */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { type RunningService, startAndFail, startProcess } from '../support/process.js'

const { path: folder } = temporaryFolder('faults')
const API_TOKEN = 'a-token-of-some-length'
let files = 0
/** A copy of a database with the demo data. */
const newPath = (): string => {
  const path = join(folder, `${++files}.sqlite`)
  copyFileSync(join(folder, 'demo.sqlite'), path)
  return path
}
const start = (path: string, more: Parameters<typeof startProcess>[1] = {}): Promise<RunningService> =>
  startProcess({ DATABASE_URL: `sqlite:${path}`, API_TOKEN }, more)

const create = ({ address }: RunningService, reason = 'a fault'): Promise<Response> =>
  fetch(`${address}/api/v1/leave`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ leave_type: 'Annual', reason }),
  })
const read = ({ address }: RunningService, path = '/leave?limit=1'): Promise<Response> =>
  fetch(`${address}/api/v1${path}`)
const totalOf = async (running: RunningService): Promise<number> =>
  ((await (await read(running)).json()) as { meta: { total: number } }).meta.total

/** Checks for a 503 that asks the client to retry. */
const expectUnavailable = async (response: Response): Promise<void> => {
  assert.is(response.status, 503)
  assert.ok(Number(response.headers.get('retry-after')) > 0)
  assert.is(((await response.json()) as { error: { code: string } }).error.code, 'unavailable')
}
/** Checks for a 503 that must not be retried blindly: everything was written, and only the sync has failed. */
const expectUnknown = async (response: Response): Promise<void> => {
  assert.equal([response.status, response.headers.get('retry-after')], [503, null])
  assert.is(((await response.json()) as { error: { code: string } }).error.code, 'outcome_unknown')
}
const waitForRecovery = async (running: RunningService): Promise<void> => {
  while ((await create(running)).status !== 201) await setTimeout(100)
}

const test = suite('faults')

test.before(async () => {
  const running = await start(join(folder, 'demo.sqlite'))
  assert.is(await running.end('SIGTERM'), 0)
})

test('locked by another program: reads continue, creates wait and get 503, then work again', async () => {
  const path = newPath()
  const running = await start(path)
  const before = await totalOf(running)
  const otherProgram = new Database(path)
  otherProgram.exec('begin immediate')
  const waiting = create(running)
  for (let n = 0; n < 20; n++) assert.is((await read(running, `/leave?limit=1&offset=${n}`)).status, 200)
  await expectUnavailable(await waiting)
  assert.is(await totalOf(running), before)
  otherProgram.exec('rollback')
  otherProgram.close()
  await waitForRecovery(running)
  assert.is(await running.end('SIGTERM'), 0)
})

test('full disk: creates get 503 and are not stored, reads continue, and creates work once there is space', async () => {
  const path = newPath()
  const limit = 8 * 1024
  const running = await start(path, { shell: `ulimit -S -f ${limit} && exec "$0" "$@"` })
  const before = await totalOf(running)
  const reason = 'x'.repeat(200_000)
  let stored = 0
  let response = await create(running, reason)
  while (response.status === 201 && stored < 200) {
    stored++
    response = await create(running, reason)
  }
  await expectUnavailable(response)
  assert.ok(stored > 0)
  assert.is((await read(running)).status, 200)
  assert.is(await totalOf(running), before + stored)
  spawnSync('prlimit', ['--pid', String(running.child.pid), '--fsize=unlimited'])
  await waitForRecovery(running)
  assert.is(await running.end('SIGTERM'), 0)
  const database = new Database(path)
  assert.is(database.prepare('select count(*) from leave_requests').pluck().get(), before + stored + 1)
  assert.equal(database.pragma('integrity_check'), [{ integrity_check: 'ok' }])
})

test('missing file: creates and health get 503, nothing is stored, and all works once the file is back', async () => {
  const path = newPath()
  const running = await start(path)
  assert.is((await create(running)).status, 201)
  const before = await totalOf(running)
  renameSync(path, `${path}.away`)
  for (let n = 0; n < 5; n++) await expectUnavailable(await create(running, 'refused'))
  await expectUnavailable(await read(running, '/health'))
  const probed = await Promise.all(['/livez', '/readyz'].map((path) => fetch(`${running.address}${path}`)))
  assert.equal([probed[0]?.status, probed[1]?.status], [200, 503])
  assert.is((await read(running)).status, 200)
  assert.not.ok(existsSync(path), 'an empty file was created')
  renameSync(`${path}.away`, path)
  await waitForRecovery(running)
  assert.is((await read(running, '/health')).status, 200)
  assert.is(await totalOf(running), before + 1)
  assert.is(((await (await read(running, '/leave?q=refused')).json()) as { meta: { total: number } }).meta.total, 0)
  assert.is(await running.end('SIGTERM'), 0)
})

test('a file moved away and back under load: 201 is stored, 503 is not, unless the message says that it is unknown', async () => {
  const path = newPath()
  const running = await start(path)
  const outcomes = new Map<string, 'stored' | 'refused' | 'unknown'>()
  let isOver = false
  const client = async (name: number): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      const reason = `moved ${name}-${n}.`
      const response = await create(running, reason)
      const text = await response.text()
      if (response.status === 201) outcomes.set(reason, 'stored')
      else outcomes.set(reason, text.includes('may or may not') ? 'unknown' : 'refused')
    }
  }
  const untilNext = async (outcome: 'stored' | 'refused') => {
    const count = () => [...outcomes.values()].filter((one) => one === outcome).length
    const before = count()
    while (count() === before) await setTimeout(10)
  }
  const clients = Array.from({ length: 8 }, (_, name) => client(name))
  await untilNext('stored')
  for (let n = 0; n < 40; n++) {
    await setTimeout(20)
    renameSync(path, `${path}.away`)
    // Mostly within one commit, and sometimes for several.
    await (n % 10 === 9 ? untilNext('refused') : setTimeout(n % 4))
    renameSync(`${path}.away`, path)
  }
  isOver = true
  await Promise.all(clients)
  assert.is(await running.end('SIGTERM'), 0)
  const database = new Database(path)
  const stored = new Set(database.prepare('select reason from leave_requests').pluck().all())
  database.close()
  const kinds = new Set(outcomes.values())
  assert.ok(kinds.has('stored') && kinds.has('refused'), [...kinds].join())
  for (const [reason, outcome] of outcomes) {
    if (outcome !== 'unknown') assert.is(stored.has(reason), outcome === 'stored', `${reason} ${outcome}`)
  }
})

test('replaced file: creates and health get 503, reads work from the old file, and a restart serves the new one', async () => {
  const path = newPath()
  copyFileSync(path, `${path}.backup`)
  const running = await start(path)
  const demo = await totalOf(running)
  assert.is((await create(running)).status, 201)
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
  renameSync(`${path}.backup`, path)
  await expectUnavailable(await create(running))
  await expectUnavailable(await read(running, '/health'))
  assert.is((await read(running, '/leave?q=a')).status, 503)
  assert.is(await totalOf(running), demo + 1)
  assert.is(await running.end('SIGTERM'), 0)
  const restarted = await start(path)
  assert.is(await totalOf(restarted), demo)
  assert.is((await create(restarted)).status, 201)
  assert.is(await restarted.end('SIGTERM'), 0)
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
    const { code, output } = await startAndFail({ DATABASE_URL: `sqlite:${path}` })
    assert.is(code, 1)
    assert.match(output, /^The database .* cannot be used: .*\n$/)
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
  test(`${call} fails with ${error}: creates get 503, reads continue, and creates work afterwards`, async () => {
    const path = newPath()
    const running = await start(path)
    assert.is((await create(running)).status, 201)
    const before = await totalOf(running)
    const options = [
      '-f',
      '-p',
      String(running.child.pid),
      '-e',
      `trace=${call}`,
      '-e',
      `inject=${call}:error=${error}`,
    ]
    const strace = spawn('strace', options)
    await new Promise((attached) => strace.stderr.once('data', attached))
    const expectRefusal = call.includes('sync') ? expectUnknown : expectUnavailable
    await expectRefusal(await create(running))
    assert.is((await read(running)).status, 200)
    await expectRefusal(await create(running))
    assert.is(await totalOf(running), before)
    strace.kill()
    await waitForRecovery(running)
    assert.is(await totalOf(running), before + 1)
    assert.is(await running.end('SIGTERM'), 0)
    const database = new Database(path)
    assert.equal(database.pragma('integrity_check'), [{ integrity_check: 'ok' }])
    database.close()
  })
}

test.run()
