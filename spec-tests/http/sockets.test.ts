/** Invalid and hostile HTTP: every request gets one response, in the envelope, and harms no other client. */
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { maxWaiting, trackConnections } from '../../engine/http/connections.js'
import { listen } from '../../engine/http/listen.js'
import { parseResponses, RawConnection } from '../../support/rawHttp.js'
import { corpus, traversals } from '../support/corpus.js'
import { exchange as exchangeWith } from '../support/observed.js'
import { startProcess } from '../support/process.js'
import { token } from '../support/service.js'

const running = await startProcess({ DATABASE_URL: 'sqlite::memory:', API_TOKEN: token })
const exchange = (bytes: string, more?: Parameters<typeof exchangeWith>[2]) =>
  exchangeWith(running.address, bytes, more)

const slowHead = 'POST /api/v1/leave HTTP/1.1\r\nHost: a\r\n'
/** Started now, so that they wait while the other tests run. */
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
    const responses = parseResponses(await exchange(bytes))
    const shown = responses.map(({ status, text }) => `${status} ${text.slice(0, 120)}`).join('\n')
    assert.is(responses.length, statuses.length, `responses: ${shown}`)
    for (const [index, { status, headers, text }] of responses.entries()) {
      assert.ok(statuses[index]?.includes(status), shown)
      if (status < 400) continue
      assert.is(headers.get('content-type'), 'application/json; charset=utf-8', shown)
      assert.is(typeof JSON.parse(text).error.code, 'string', shown)
    }
    await isHealthy()
  })
}

test('a request whose body becomes invalid after its response gets no second response', async () => {
  const head = 'POST /api/v1/leave HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
  const responses = parseResponses(await exchange(head, { piece: 'no chunk\r\n', every: 300 }))
  const found = responses.map(({ status }) => status)
  assert.equal(found, [401])
})

const head = (method: string, path: string, headers = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${headers}\r\n`
const health = head('GET', '/api/v1/health')
const valid = '{"leave_type":"after a close"}'
const create = head('POST', '/api/v1/leave', `Content-Length: ${valid.length}\r\n`) + valid

type Cause = [what: string, bytes: string, status: number, message: RegExp]
const causes: Cause[] = [
  ['an unknown method', 'BREW / HTTP/1.1\r\n\r\n', 400, /method/],
  ['a raw byte in a URL', 'GET /\xff HTTP/1.1\r\n\r\n', 400, /URL .* percent-encoded/],
  ['a space in a URL', 'GET /a b HTTP/1.1\r\n\r\n', 400, /Expected HTTP\//],
  ['an invalid header name', head('GET', '/', 'Bad Header: x\r\n'), 400, /header token/],
  ['a NUL in a header', head('GET', '/', 'X: a\0b\r\n'), 400, /header value/],
  ['an unknown version', 'GET / HTTP/1.7\r\nHost: a\r\n\r\n', 400, /HTTP version/],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505, /HTTP\/1\.1/],
  ['a header that is too large', head('GET', '/', `X: ${'x'.repeat(20_000)}\r\n`), 431, /headers are too large/],
  ['a URL that is too long', head('GET', `/${'x'.repeat(20_000)}`), 414, /URL is too long/],
  ['a URL that is too long, pipelined', `${health}${head('GET', `/${'x'.repeat(20_000)}`)}`, 414, /URL is too long/],
  ['an invalid Content-Length', head('POST', '/', 'Content-Length: +1\r\n'), 400, /Content-Length/],
  ['a bad chunk', `${head('POST', '/api/v1/leave', 'Transfer-Encoding: chunked\r\n')}zz\r\n`, 400, /chunk size/],
  ['a short body', `${head('POST', '/api/v1/leave', 'Content-Length: 9\r\n')}{`, 400, /shorter/],
  ['a short chunk', `${head('POST', '/api/v1/leave', 'Transfer-Encoding: chunked\r\n')}9\r\n{`, 400, /shorter/],
  ['headers that end early', 'GET / HTTP/1.1\r\nHo', 400, /ended before its headers/],
  ['a transfer coding', head('POST', '/api/v1/leave', 'Transfer-Encoding: gzip, chunked\r\n'), 501, /must be chunked/],
  ['a transfer coding without chunks', head('POST', '/', 'Transfer-Encoding: gzip\r\n'), 400, /must be chunked/],
  ['CONNECT', 'CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n', 405, /CONNECT/],
  ['CONNECT, pipelined', `${health}CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n`, 405, /CONNECT/],
  ...['', 'a b', 'http://a', 'a/b', 'a,b', 'a:b', 'u@a', '[::1', '::1'].map(
    (host) => [`the host "${host}"`, `GET /api HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 400, /Host/] as Cause,
  ),
]
for (const [what, bytes, status, message] of causes) {
  test(`${what}: ${status}, and the message names the cause`, async () => {
    const last = parseResponses(await exchange(bytes)).at(-1)
    assert.is(last?.status, status)
    assert.match(JSON.parse(last?.text ?? '').error.message, message)
    assert.is(last?.headers.get('cache-control'), 'no-store')
    assert.is(last?.headers.get('connection'), 'close')
  })
}

test('hosts and expectations that are valid', async () => {
  for (const host of ['a', 'a.example:8080', '127.0.0.1:1', '[::1]:3000', '[::1]', 'a_b.example', 'a:']) {
    const bytes = `GET /api/v1/health HTTP/1.1\r\nHost: ${host}\r\nExpect: tea\r\nConnection: close\r\n\r\n`
    assert.is(parseResponses(await exchange(bytes))[0]?.status, 200, host)
  }
})

for (const [what, first, status] of [
  ['Connection: close', head('GET', '/api/v1/health', 'Connection: close\r\n'), 200],
  ['HTTP/1.0', 'GET /api/v1/health HTTP/1.0\r\n\r\n', 200],
  ['an invalid host', 'GET /api HTTP/1.1\r\nHost: a b\r\n\r\n', 400],
  ['CONNECT', 'CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n', 405],
] as const) {
  test(`nothing that follows ${what} is handled`, async () => {
    for (const next of [create, health, 'junk\r\n\r\n']) {
      const responses = parseResponses(await exchange(first + next))
      const found = responses.map((response) => response.status)
      assert.equal(found, [status])
    }
    const stored = await fetch(`${running.address}/api/v1/leave?q=after%20a%20close`)
    assert.match(await stored.text(), '"total":0,')
  })
}

test('a client that does not close its side of a refused connection is cut off', async () => {
  for (const bytes of ['BREW / HTTP/1.1\r\n\r\n', 'CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n']) {
    const responses = parseResponses(await exchange(bytes, { piece: 'x', every: 500 }))
    assert.is(responses.length, 1)
  }
})

test('requests that a client sends ahead are handled one after another, in turn with those of other clients', async () => {
  const body = '{"leave_type":"ahead"}'
  const one = head('POST', '/api/v1/leave', `Content-Length: ${body.length}\r\n`) + body
  const ahead = 300
  const wire = new RawConnection(running.address)
  await wire.send(Buffer.from(health))
  const socket = connect(Number(new URL(running.address).port), '127.0.0.1', () => socket.end(one.repeat(ahead)))
  const received: Buffer[] = []
  socket.on('data', (chunk) => received.push(chunk))
  const ended = once(socket, 'end')
  await once(socket, 'data')
  const other = await wire.send(Buffer.from(one), 'POST')
  wire.close()
  await ended
  const ids = parseResponses(Buffer.concat(received)).map(({ text }) => JSON.parse(text).id as number)
  assert.is(ids.length, ahead)
  const [last = 0] = ids.slice(-1)
  assert.equal(
    ids,
    ids.toSorted((a, b) => a - b),
  )
  assert.ok(JSON.parse(other.text).id < last, 'the other client had to wait for all of them')
})

test('a connection waits 65 s for its next request, or as long as KEEP_ALIVE_S says', async () => {
  const { headers } = await fetch(`${running.address}/livez`)
  assert.is(headers.get('keep-alive'), 'timeout=65')
  const other = await startProcess({ DATABASE_URL: 'sqlite::memory:', KEEP_ALIVE_S: '7' })
  assert.is((await fetch(`${other.address}/livez`)).headers.get('keep-alive'), 'timeout=7')
})

test('of many idle connections, those that have been idle longest are closed', async () => {
  const handle = (_: IncomingMessage, response: ServerResponse) => void response.end('ok')
  const target = { host: '127.0.0.1', port: 0, maxIdle: 3 }
  const server = await listen({ handle, logRequest: () => {} }, target)
  const closed: string[] = []
  const ask = async (socket: Socket): Promise<void> => {
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(socket, 'data')
  }
  const sockets = Array.from({ length: 5 }, (_, n) =>
    connect(Number(new URL(server.address).port), '127.0.0.1').on('close', () => closed.push(`${n}`)),
  )
  const [first, , third] = sockets as [Socket, Socket, Socket]
  for (const socket of sockets.slice(0, 3)) await ask(socket)
  // The first one is used again, so the second has been idle longest.
  await ask(first)
  for (const socket of sockets.slice(3)) await ask(socket)
  await once(third, 'close')
  assert.equal(closed, ['1', '2'])
  for (const socket of sockets) socket.destroy()
  await server.stop()
})

test('a connection whose requests wait is not read further', async () => {
  const ahead = 3_000
  const pending: ServerResponse[] = []
  const connections = trackConnections((response) => void pending.push(response))
  let parsed = 0
  const server = createServer((_, response) => {
    parsed++
    connections.add(response)
  })
  server.on('connection', connections.open)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => {
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(ahead))
  })
  const received: Buffer[] = []
  socket.on('data', (chunk) => received.push(chunk))
  let most = 0
  for (let answered = 0; answered < ahead; answered++) {
    while (pending.length === 0) await new Promise(setImmediate)
    most = Math.max(most, parsed - answered)
    pending.shift()?.end('ok')
  }
  socket.end()
  await once(socket, 'close')
  assert.is(parseResponses(Buffer.concat(received)).length, ahead)
  assert.ok(most <= 3 * maxWaiting, `${most} requests were parsed`)
  server.close()
})

// Only Linux tells how long a thread has run, which other programs change least.
const threadTimes = `/proc/${running.child.pid}/task/${running.child.pid}/schedstat`
const usedMs = (): number =>
  existsSync(threadTimes) ? Number(readFileSync(threadTimes, 'utf8').split(' ')[0]) / 1e6 : performance.now()

/** Floods the service with 200 clients; resolves with the longest time of another client's request. */
const flood = async (): Promise<number> => {
  const port = Number(new URL(running.address).port)
  const sockets = Array.from({ length: 200 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const ahead = health.repeat(3_000)
  const left = sockets.map((socket) => {
    socket.write(ahead, () => socket.destroy())
    return once(socket, 'close')
  })
  let isOver = false
  void Promise.all(left).then(() => {
    isOver = true
  })
  const kept = new RawConnection(running.address)
  let longest = 0
  for (let n = 0; n < 100 || !isOver; n++) {
    const wire = n % 2 ? kept : new RawConnection(running.address)
    const before = usedMs()
    assert.is((await wire.send(Buffer.from(health), 'GET', 60_000)).status, 200)
    longest = Math.max(longest, usedMs() - before)
    if (wire !== kept) wire.close()
  }
  kept.close()
  return longest
}

test('200 clients that send 3,000 requests ahead and leave delay another client by less than 1.5 s', async () => {
  const delays: number[] = []
  while (delays.length < 3 && !delays.some((delay) => delay < 1_500)) delays.push(await flood())
  assert.ok(Math.min(...delays) < 1_500, `${delays} ms`)
})

test('a client that takes nothing of its response is cut off, and one whose response takes long is not', async () => {
  const body = Buffer.alloc(64 * 1024 * 1024)
  const handle = ({ url }: IncomingMessage, response: ServerResponse): void => {
    if (url === '/large') response.end(body)
    else void setTimeout(1_000).then(() => response.end('late'))
  }
  const server = await listen({ handle, logRequest: () => {} }, { host: '127.0.0.1', port: 0, sendTimeout: 200 })
  const stalled = connect(Number(new URL(server.address).port), '127.0.0.1', () => {
    stalled.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n')
  })
  stalled.on('error', () => {})
  stalled.pause()
  const late = await fetch(`${server.address}/late`)
  assert.is(await late.text(), 'late')
  // Otherwise the server waits for the client.
  await server.stop()
  let received = 0
  stalled.on('data', (chunk) => {
    received += chunk.length
  })
  stalled.resume()
  await once(stalled, 'close')
  assert.ok(received < body.length)
})

test('a connection whose upgrade was ignored continues with HTTP', async () => {
  const wire = new RawConnection(running.address)
  const upgrade = head('POST', '/api/v1/leave', 'Connection: upgrade\r\nUpgrade: websocket\r\nContent-Length: 18\r\n')
  assert.is((await wire.send(Buffer.from(`${upgrade}{"leave_type":"x"}`), 'POST')).status, 201)
  assert.is((await wire.send(Buffer.from(health))).status, 200)
  wire.close()
})

test('no path of the docs reaches another file', async () => {
  for (const path of traversals) {
    const [response] = parseResponses(await exchange(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`))
    assert.is(response?.status, 404, path)
    assert.is(JSON.parse(response?.text ?? '').error.code, 'not_found', path)
  }
})

for (const [name, exchanged] of Object.entries(slow)) {
  test(`${name} are cut off with a 408`, async () => {
    const responses = parseResponses(await exchanged)
    const found = responses.map(({ status }) => status)
    assert.equal(found, [408])
    assert.is(JSON.parse(responses[0]?.text ?? '').error.code, 'bad_request')
    await isHealthy()
  })
}

test.after(async () => {
  await running.end('SIGTERM')
})
test.run()
