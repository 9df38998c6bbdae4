/** Stopping: requests are finished, no acknowledged row is lost, and no WAL remains. */
import { existsSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { type RunningService, startProcess } from '../support/process.js'

const { path: folder } = temporaryFolder('stopping')
const API_TOKEN = 'a-token-of-some-length'
const headers = { authorization: `Bearer ${API_TOKEN}`, 'content-type': 'application/json' }
const start = (name: string, more: Record<string, string> = {}): Promise<RunningService> =>
  startProcess({ DATABASE_URL: `sqlite:${join(folder, name)}`, API_TOKEN, ...more })

/** Sends a create; undefined if the connection was refused or closed. */
const create = (agent: Agent, { address }: RunningService) =>
  new Promise<{ status: number; connection: string | undefined } | undefined>((resolve) => {
    const sent = request(`${address}/api/v1/leave`, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('error', () => resolve(undefined))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, connection: response.headers.connection }))
    })
    sent.on('error', () => resolve(undefined))
    sent.end('{"leave_type":"Annual"}')
  })

const test = suite('stopping')

for (const workers of ['1', '2']) {
  test(`under load, ${workers} process(es) finish their requests, exit with 0 and leave no WAL`, async () => {
    const name = `load-${workers}.sqlite`
    const running = await start(name, { WORKERS: workers })
    const agent = new Agent({ keepAlive: true, maxSockets: 20 })
    let acknowledged = 0
    let refused = false
    const clients = Array.from({ length: 20 }, async () => {
      while (!refused) {
        const response = await create(agent, running)
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
    const stored = database
      .prepare("select count(*) from leave_requests where leave_type = 'Annual' and id > 240")
      .pluck()
    assert.ok(Number(stored.get()) >= acknowledged)
    database.close()
  })
}

test('a request that was being received is completed', async () => {
  const running = await start('last.sqlite')
  const { port, hostname } = new URL(running.address)
  const socket = connect(Number(port), hostname)
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  const body = '{"leave_type":"Annual"}'
  const head = `POST /api/v1/leave HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_TOKEN}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  socket.write(head + body.slice(0, 5))
  await setTimeout(300)
  const code = running.end('SIGTERM')
  await setTimeout(300)
  socket.write(body.slice(5))
  assert.is(await code, 0)
  assert.match(received, /^HTTP\/1\.1 201 /)
  socket.destroy()
})

test('a second signal stops at once, despite an unfinished request', async () => {
  const running = await start('twice.sqlite')
  const { port, hostname } = new URL(running.address)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(
    `POST /api/v1/leave HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${API_TOKEN}\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{`,
  )
  await setTimeout(300)
  // The terminal and npm may both deliver one Ctrl+C, so a repeat at once changes nothing.
  running.child.kill('SIGTERM')
  running.child.kill('SIGINT')
  await setTimeout(1_200)
  assert.is(running.child.exitCode, null)
  assert.is(running.child.signalCode, null)
  await running.end('SIGTERM')
  assert.is(running.child.signalCode, 'SIGKILL')
})

test.run()
