/** Bytes that are no decent HTTP: each connection is answered once for each request, in the envelope, and harms nobody else. */
import { connect } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startProcess } from '../support/process.js'
import { type Header, parseResponses, RawConnection, requestBytes } from '../support/rawHttp.js'
import { corpus, traversals } from './support/corpus.js'
import { token } from './support/service.js'

const running = await startProcess({ DATABASE_URL: 'sqlite::memory:', API_TOKEN: token })
const port = Number(new URL(running.address).port)

/** Writes bytes as they are, then some more now and then, and answers with all that came back until the server closed. */
const exchange = (bytes: string, more?: { piece: string; every: number }): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const received: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () => {
      // A client that is done says so; one that goes on says nothing of the kind.
      if (more) socket.write(bytes, 'latin1')
      else socket.end(bytes, 'latin1')
    })
    const going = more && setInterval(() => socket.writable && socket.write(more.piece), more.every)
    const patience = AbortSignal.timeout(90_000)
    patience.onabort = () => socket.destroy(new Error('the server has not closed the connection'))
    socket.on('data', (chunk) => received.push(chunk))
    socket.on('error', (error: Error & { code?: string }) => {
      // A server that has answered may close without reading the rest.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
    socket.on('close', () => {
      clearInterval(going)
      resolve(Buffer.concat(received))
    })
  })

const slowHead = 'POST /api/v1/leave HTTP/1.1\r\nHost: a\r\n'
/** Begun now, so that their waiting is shared by all other suites. */
const slow = {
  'headers that do not end': exchange(slowHead, { piece: 'X: y\r\n', every: 1_000 }),
  'a body that does not end': exchange(
    `${slowHead}Authorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`,
    { piece: ' ', every: 1_000 },
  ),
}
for (const exchanged of Object.values(slow)) exchanged.catch(() => {})

const isHealthy = async (): Promise<void> => {
  const response = await fetch(`${running.address}/api/v1/health`, { signal: AbortSignal.timeout(30_000) })
  assert.is(response.status, 200)
  assert.is(running.child.exitCode, null)
}

const test = suite('sockets')

for (const { name, bytes, statuses } of corpus) {
  test(name, async () => {
    const answers = parseResponses(await exchange(bytes))
    const shown = answers.map(({ status, text }) => `${status} ${text.slice(0, 120)}`).join('\n')
    assert.is(answers.length, statuses.length, `answers: ${shown}`)
    for (const [index, { status, headers, text }] of answers.entries()) {
      assert.ok(statuses[index]?.includes(status), shown)
      if (status < 400) continue
      assert.is(headers.get('content-type'), 'application/json; charset=utf-8', shown)
      assert.is(typeof JSON.parse(text).error.code, 'string', shown)
    }
    await isHealthy()
  })
}

test('a request that was answered before its body went wrong is not answered again', async () => {
  const head = 'POST /api/v1/leave HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
  const answers = parseResponses(await exchange(head, { piece: 'no chunk\r\n', every: 300 }))
  assert.equal(
    answers.map(({ status }) => status),
    [401],
  )
})

test('a connection that asked for an upgrade it did not get is as any other', async () => {
  const wire = new RawConnection(running.address)
  const headers: Header[] = [
    ['authorization', `Bearer ${token}`],
    ['content-type', 'application/json'],
    ['connection', 'upgrade'],
    ['upgrade', 'websocket'],
  ]
  const create = requestBytes('POST', '/api/v1/leave', headers, Buffer.from('{"leave_type":"x"}'))
  assert.is((await wire.send(create, 'POST')).status, 201)
  assert.is((await wire.send(requestBytes('GET', '/api/v1/health'))).status, 200)
  wire.close()
})

test('no path leads out of the docs', async () => {
  for (const path of traversals) {
    const [answer] = parseResponses(await exchange(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`))
    assert.is(answer?.status, 404, path)
    assert.is(JSON.parse(answer?.text ?? '').error.code, 'not_found', path)
  }
})

for (const [name, exchanged] of Object.entries(slow)) {
  test(`${name} are cut off with a 408`, async () => {
    const answers = parseResponses(await exchanged)
    assert.equal(
      answers.map(({ status }) => status),
      [408],
    )
    assert.is(JSON.parse(answers[0]?.text ?? '').error.code, 'bad_request')
    await isHealthy()
  })
}

test.after(async () => {
  await running.end('SIGTERM')
})
test.run()
