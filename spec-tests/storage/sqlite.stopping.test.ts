/** Stopping: requests are finished, no acknowledged row is lost, and no WAL remains. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { type RunningService, startProcess } from '../support/process.js'
import { token } from '../support/service.js'
import { unfinishedRequest, untilClosed } from '../support/unfinishedRequest.js'

const { path: folder } = temporaryFolder('stopping')
const start = (name: string, more: Record<string, string> = {}): Promise<RunningService> =>
  startProcess({ DATABASE_URL: `sqlite:${join(folder, name)}`, API_TOKEN: token, ...more })

const test = suite('stopping')

for (const workers of ['1', '2']) {
  test(`under load, ${workers} process(es) finish their requests, exit with 0 and leave no WAL`, async () => {
    const name = `load-${workers}.sqlite`
    const running = await start(name, { WORKERS: workers })
    let acknowledged = 0
    let refused = false
    const clients = Array.from({ length: 20 }, async () => {
      while (!refused) {
        // It fails if the connection was refused or closed.
        const response = await running.create('leave', { leave_type: 'Counted' }).catch(() => undefined)
        if (response === undefined) refused = true
        else {
          assert.is(response.status, 201)
          acknowledged++
        }
      }
    })
    while (acknowledged <= 20 && !refused) await setTimeout(20)
    const code = running.end('SIGTERM')
    await Promise.all(clients)
    assert.is(await code, 0)
    assert.ok(acknowledged > 20)
    assert.not.ok(existsSync(join(folder, `${name}-wal`)), 'the WAL was not checkpointed')
    const database = new Database(join(folder, name), { readonly: true })
    const stored = database.prepare("select count(*) from leave_requests where leave_type = 'Counted'").pluck()
    assert.ok(Number(stored.get()) >= acknowledged)
    database.close()
  })
}

test('a request that was being received is completed', async () => {
  const running = await start('last.sqlite')
  const { complete, received, close } = await unfinishedRequest(running.address, token, '{"leave_type":"Annual"}')
  const code = running.end('SIGTERM')
  await untilClosed(running.address)
  complete()
  assert.is(await code, 0)
  assert.match(received(), /^HTTP\/1\.1 201 /)
  close()
})

test('a second signal stops at once, despite an unfinished request', async () => {
  const running = await start('twice.sqlite', { DRAIN_TIMEOUT_MS: '300000' })
  await unfinishedRequest(running.address, token, '{"leave_type":"Annual"}')
  // The terminal and npm may both deliver one Ctrl+C, so a repeat at once changes nothing.
  running.child.kill('SIGTERM')
  running.child.kill('SIGINT')
  await untilClosed(running.address)
  await setTimeout(300)
  assert.equal([running.child.exitCode, running.child.signalCode], [null, null])
  const ended = running.end('SIGTERM')
  // One that comes too soon counts as a repeat.
  const repeated = setInterval(() => running.child.kill('SIGTERM'), 500)
  await ended
  clearInterval(repeated)
  assert.is(running.child.signalCode, 'SIGKILL')
})

test.run()
