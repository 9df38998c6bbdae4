/** The access log, request ids, Server-Timing and metrics; and what none of them may contain. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseTrace } from '../../engine/http/requestLog.js'
import { freshUrl } from '../support/database.js'
import { exchange, logLines, sample, scrape } from '../support/observed.js'
import { inOffice } from '../support/office.js'
import { startProcess } from '../support/process.js'

const token = 'secret-token-0123456789'
const password = 'hash-that-nobody-may-see'
const settings = { API_TOKEN: token, LOG_LEVEL: 'info', METRICS_PORT: '0' }
const running = await startProcess({ DATABASE_URL: await freshUrl(), ...settings })
const at = (path: string, init: RequestInit = {}): Promise<Response> => fetch(`${running.address}/api/v1${path}`, init)
const post = (headers: Record<string, string>, body: string): Promise<Response> =>
  at('/leave', { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })

const request = (method: string, path: string, headers: string) => `${method} ${path} HTTP/1.1\r\n${headers}\r\n`
const write = `Host: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`
const refusals: [what: string, status: number, bytes: string][] = [
  ['an unknown method', 400, request('BREW', '/', 'Host: a\r\n')],
  ['a URL that is too long', 414, request('GET', `/${'x'.repeat(20_000)}`, 'Host: a\r\n')],
  ['no host', 400, request('GET', '/api', `traceparent: 00-${'7'.repeat(32)}-${'8'.repeat(16)}-01\r\n`)],
  ['an unknown transfer coding', 501, request('POST', '/api/v1/leave', `${write}Transfer-Encoding: gzip, chunked\r\n`)],
  ['a body that is too short', 400, `${request('POST', '/api/v1/leave', `${write}Content-Length: 9\r\n`)}{`],
]
const refused = new Map<string, string>()
for (const [what, , bytes] of refusals) refused.set(what, String(await exchange(running.address, bytes)))

const ok = await at('/employees?q=very-private&limit=3', { headers: { 'x-request-id': 'from-the-proxy-7' } })
const sentTag = ok.headers.get('etag') ?? ''
await ok.text()
const unchanged = await at('/employees?q=very-private&limit=3', { headers: { 'if-none-match': sentTag } })
const row = await at('/employees/3')
const missing = await at('/employees/none')
const badId = await at('/employees', { headers: { 'x-request-id': 'no spaces allowed' } })
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const traced = await at('/employees/4', { headers: { traceparent } })
const badTrace = await at('/employees/5', { headers: { traceparent: traceparent.toUpperCase() } })
const download = await at('/employees', { headers: { accept: 'text/csv' } })
const downloaded = await download.text()
const authorization = `Bearer ${token}`
const made = await post({ authorization, 'idempotency-key': 'k' }, '{"leave_type":"body-that-is-private"}')
const again = await post({ authorization, 'idempotency-key': 'k' }, '{"leave_type":"body-that-is-private"}')
const wrong = await post({ authorization: 'Bearer wrong-secret' }, '{}')
const unknown = await post({ authorization }, `{"password_hash":"${password}"}`)
const responses: Record<string, [response: Response, status: number]> = {
  ...{ ok: [ok, 200], unchanged: [unchanged, 304], row: [row, 200], missing: [missing, 404], badId: [badId, 200] },
  ...{ traced: [traced, 200], badTrace: [badTrace, 200], made: [made, 201], again: [again, 201] },
  ...{ wrong: [wrong, 401], unknown: [unknown, 422] },
}
const metrics = await scrape(running)
await running.end('SIGTERM')
const lines = logLines(running)
const lineOf = (response: Response) => lines.find(({ id }) => id === response.headers.get('x-request-id'))

const test = suite('request log')

for (const [name, [response, status]] of Object.entries(responses)) {
  test(`${name}: one line with method, path, status, duration, id and bytes`, () => {
    assert.is(response.status, status)
    const line = lineOf(response)
    assert.ok(line, 'no line has the id of the response')
    assert.is(line?.['status'], response.status)
    assert.match(String(line?.['method']), /^(GET|POST)$/)
    assert.match(String(line?.['path']), /^\/api\/v1\/[a-z/0-9]+$/)
    assert.type(line?.['duration'], 'number')
    assert.is(line?.['bytes'], Number(response.headers.get('content-length') ?? 0))
    assert.is(lines.filter(({ id }) => id === line?.['id']).length, 1)
  })
}

for (const [what, status] of refusals) {
  test(`${what}: the response has every common header and one log line`, () => {
    const [head = '', body = ''] = (refused.get(what) ?? '').split('\r\n\r\n')
    assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `))
    for (const header of [
      /^date: \w{3}, \d\d /im,
      /^access-control-allow-origin: \*/im,
      /^access-control-expose-headers: .*X-Request-Id/im,
      /^cache-control: no-store/im,
      /^content-type: application\/json; charset=utf-8/im,
      /^connection: close/im,
    ]) {
      assert.match(head, header)
    }
    assert.is(JSON.parse(body).error.code, 'bad_request')
    const id = /^x-request-id: (\S+)/im.exec(head)?.[1]
    const logged = lines.filter((line) => line['id'] === id).map((line) => [line['status'], line['bytes']])
    assert.equal(logged, [[status, Buffer.byteLength(body)]])
  })
}

test('a download has one line, with its bytes', () => {
  const logged = lines.filter(({ id }) => id === download.headers.get('x-request-id'))
  assert.equal(
    logged.map(({ status, bytes }) => [status, bytes]),
    [[200, Buffer.byteLength(downloaded)]],
  )
})

test('a valid request id is used, an invalid one is replaced', () => {
  assert.is(ok.headers.get('x-request-id'), 'from-the-proxy-7')
  assert.match(badId.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
})

test('a valid traceparent is logged, an invalid one is ignored', () => {
  assert.is(lineOf(traced)?.['trace_id'], '4bf92f3577b34da6a3ce929d0e0e4736')
  assert.is(lineOf(traced)?.['parent_id'], '00f067aa0ba902b7')
  for (const response of [badTrace, ok]) {
    assert.not.ok('trace_id' in (lineOf(response) ?? {}))
    assert.not.ok('parent_id' in (lineOf(response) ?? {}))
  }
  assert.is(lines.filter((line) => line['trace_id'] === '7'.repeat(32)).length, 1)
})

const [trace, parent] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
const valid = ['00-T-P-00', '00-T-P-ff', 'cc-T-P-01', 'cc-T-P-01-what-the-future-will-be']
const invalid = [
  ...['cc-T-P-01.what', 'ff-T-P-01', '00-T-P-01-more', '00-T-P-01-', '00-T-P-1', '00-T-P', '0-T-P-01', '00-T0-P-01'],
  ...['00_T_P_01', ' 00-T-P-01', '00-T-P-01, 00-T-P-01', 'cc-T-P-01-a, cc-T-P-01', '00-T-P-01\n', ''],
  ...[
    `00-${'0'.repeat(32)}-P-01`,
    `00-T-${'0'.repeat(16)}-01`,
    `00-${trace.slice(1)}-P-01`,
    '00-T-B7AD6B7169203331-01',
  ],
]
for (const form of [...valid, ...invalid]) {
  test(`traceparent ${JSON.stringify(form)} is ${valid.includes(form) ? '' : 'not '}valid`, () => {
    const header = form.replaceAll('T', trace).replaceAll('P', parent)
    const expected = valid.includes(form) ? { traceId: trace, parentId: parent } : undefined
    assert.equal(parseTrace({ headers: { traceparent: header } }), expected)
  })
}

test('reads have a Server-Timing', () => {
  for (const response of [ok, unchanged, row]) {
    assert.match(
      response.headers.get('server-timing') ?? '',
      /^parse;dur=[\d.e-]+, query;dur=[\d.e-]+, total;dur=[\d.e-]+$/,
    )
  }
  assert.is(made.headers.get('server-timing'), null)
})

test('the log contains no secret, and at this level no statement', () => {
  assert.not.match(running.output(), /"level":20/)
  for (const secret of [token, 'wrong-secret', 'very-private', 'body-that-is-private', password]) {
    assert.not.ok(running.output().includes(secret), secret)
  }
})

test('metrics count requests, creates, rows and the process itself', () => {
  const requests = (operation: string, status: number) =>
    `http_requests_total{operation="${operation}",status="${status}"}`
  for (const [name, value] of Object.entries({
    [requests('listEmployees', 200)]: 3,
    [requests('listEmployees', 304)]: 1,
    [requests('createLeaveRequest', 201)]: 2,
    [requests('createLeaveRequest', 400)]: 1,
    [requests('none', 400)]: 2,
    [requests('none', 414)]: 1,
    [requests('none', 501)]: 1,
    'creates_total{operation="createLeaveRequest"}': 1,
    'rows{resource="leave"}': inOffice('leave').demo.length + 1,
    'http_request_duration_seconds_count{operation="getEmployee"}': 4,
  }))
    assert.is(sample(metrics, `registry_${name}`), value, name)
  for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_eventloop_lag_seconds'])
    assert.ok(sample(metrics, name) >= 0, name)
})

test.run()
