import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createApp } from '../../engine/http/app.js'
import { listen } from '../../engine/http/listen.js'
import { createLogger } from '../../engine/process/log.js'
import type { Storage } from '../../engine/storage/storage.js'
import { freshUrl } from '../support/database.js'
import { startOffice } from '../support/office.js'
import { startProcess } from '../support/process.js'
import { product } from '../support/testedProject.js'

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

const pings: [what: string, ping: Storage['ping'], isStopping: boolean, ready: number, health: number, body: RegExp][] =
  [
    ['without a database', () => Promise.reject(new Error('gone')), false, 503, 503, /"code":"unavailable"/],
    [
      'on a standby',
      async () => ({ isReadOnly: true, changedTables: [] }),
      false,
      200,
      200,
      /^\{"status":"read-only"\}$/,
    ],
    ['that stops', async () => ({ isReadOnly: false, changedTables: [] }), true, 503, 200, /service is stopping/],
  ]
for (const [what, ping, isStopping, ready, health, body] of pings) {
  test(`a process ${what} lives, and /readyz responds with ${ready}`, async () => {
    const storage = { ping, table: () => assert.unreachable() } as unknown as Storage
    const service = { product, registry: [], storage, token: undefined, isStopping: () => isStopping }
    const { address, stop } = await listen(createApp(service, createLogger('silent')), { host: '127.0.0.1', port: 0 })
    const paths = ['/livez', '/readyz', '/api/v1/health']
    const responses = await Promise.all(paths.map((path) => fetch(`${address}${path}`)))
    const statuses = responses.map(({ status }) => status)
    assert.equal(statuses, [200, ready, health])
    assert.match(String(await responses[1]?.text()), body)
    await stop()
  })
}

test('with DRAIN_DELAY_MS, one or several processes that stop serve on, live and are not ready', async () => {
  const check = async (WORKERS: string): Promise<void> => {
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
  }
  await Promise.all(['1', '2'].map(check))
})

test.run()
