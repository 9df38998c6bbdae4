import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createApp } from '../../engine/http/app.js'
import { listen } from '../../engine/http/listen.js'
import { createLogger } from '../../engine/process/log.js'
import type { Storage } from '../../engine/storage/storage.js'
import { product } from '../../product.js'
import { freshUrl } from '../support/database.js'
import { startProcess } from '../support/process.js'
import { startOffice } from '../support/service.js'

const test = suite('probes')

test('a service that works lives and is ready', async () => {
  const { send } = await startOffice()
  for (const path of ['/livez', '/readyz']) {
    const { status, body, headers } = await send(path)
    assert.is(status, 200)
    assert.equal(body, { status: 'ok' })
    assert.is(headers['cache-control'], 'no-store')
    assert.is((await send(path, { method: 'POST' })).status, 405)
  }
})

/** A service whose database responds as given. */
const statusesWith = async (ping: Storage['ping'], isStopping = false) => {
  const storage = { ping, table: () => assert.unreachable() } as unknown as Storage
  const service = { product, registry: [], storage, token: undefined, isStopping: () => isStopping }
  const { address, stop } = await listen(createApp(service, createLogger('silent')), { host: '127.0.0.1', port: 0 })
  const responses = await Promise.all(['/livez', '/readyz'].map((path) => fetch(`${address}${path}`)))
  const bodies = (await Promise.all(responses.map((response) => response.json()))) as {
    status?: string
    error?: { code: string; message: string }
  }[]
  await stop()
  return { statuses: responses.map(({ status }) => status), bodies }
}

test('without a database, a process lives and is not ready', async () => {
  const { statuses, bodies } = await statusesWith(() => Promise.reject(new Error('gone')))
  assert.equal(statuses, [200, 503])
  assert.is(bodies[1]?.error?.code, 'unavailable')
})

test('on a standby, a process is ready to read', async () => {
  const { statuses, bodies } = await statusesWith(async () => ({ isReadOnly: true, changedTables: [] }))
  assert.equal(statuses, [200, 200])
  assert.equal(bodies[1], { status: 'read-only' })
})

test('a process that stops lives and is not ready', async () => {
  const { statuses, bodies } = await statusesWith(async () => ({ isReadOnly: false, changedTables: [] }), true)
  assert.equal(statuses, [200, 503])
  assert.match(bodies[1]?.error?.message ?? '', /service is stopping/)
})

for (const WORKERS of ['1', '2']) {
  test(`with DRAIN_DELAY_MS, ${WORKERS} process(es) that stop serve on, live and are not ready`, async () => {
    const running = await startProcess({ DATABASE_URL: await freshUrl(), DRAIN_DELAY_MS: '4000', WORKERS })
    const get = async (path: string) => {
      const { status } = await fetch(`${running.address}${path}`, { headers: { connection: 'close' } })
      return status
    }
    assert.is(await get('/readyz'), 200)
    const code = running.end('SIGTERM')
    while ((await get('/readyz')) !== 503);
    assert.equal([await get('/livez'), await get('/api/v1/leave')], [200, 200])
    assert.is(await code, 0)
    assert.is(running.messages().at(-1), 'Stopped; every request has its response.')
  })
}

test.run()
