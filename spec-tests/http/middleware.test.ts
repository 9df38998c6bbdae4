/** A deployment's own Koa middleware: what it sees of a response, and what it can do to one. */
import { setImmediate } from 'node:timers/promises'
import type { Middleware } from 'koa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { RequestLog } from '../../engine/http/requestLog.js'
import { startOffice } from '../support/office.js'
import { authorized } from '../support/service.js'

const seen: [path: string, status: number][] = []
const logged: RequestLog[] = []

const readStatus: Middleware = async (ctx, next) => {
  await next()
  seen.push([ctx.path, ctx.status])
}

const setHeader: Middleware = async (ctx, next) => {
  await next()
  ctx.set('X-Served-By', 'middleware')
}

const respond: Middleware = async (ctx, next) => {
  const asked = ctx.get('X-Test')
  if (asked === 'limit') {
    ctx.status = 429
    ctx.set('Retry-After', '5')
    ctx.body = { error: { code: 'too_many_requests', message: 'Slow down.' } }
  } else if (asked === 'throw') ctx.throw(429, 'Slow down.', { headers: { 'Retry-After': '5' } })
  else if (asked === 'throw 503') ctx.throw(503, 'a message for the log')
  else if (asked === 'fail') throw new Error('a secret')
  else if (asked === 'rewrite') {
    await next()
    ctx.body = { rewritten: ctx.status }
  } else if (asked !== 'nothing') await next()
}

const { send } = await startOffice({
  middleware: [readStatus, setHeader, respond],
  onRequest: (request) => logged.push(request),
})
const ask = (path: string, asked: string) => send(path, { headers: { 'x-test': asked } })

const test = suite('middleware')

const requests: [what: string, path: string, options: object, status: number][] = [
  ['a list', '/api/v1/employees', {}, 200],
  ['a list that is known', '/api/v1/employees', { headers: { 'if-none-match': '*' } }, 304],
  ['a row that does not exist', '/api/v1/employees/none', {}, 404],
  ['an unknown path', '/nothing', {}, 404],
  ['an invalid query', '/api/v1/employees?limit=0', {}, 422],
  ['a method that is not allowed', '/api/v1/employees', { method: 'DELETE' }, 405],
  ['a create without a token', '/api/v1/leave', { method: 'POST' }, 401],
  ['a create', '/api/v1/leave', { method: 'POST', headers: authorized, body: '{"leave_type":"x"}' }, 201],
]
for (const [what, path, options, status] of requests) {
  test(`${what}: middleware reads ${status} after next() and can still set a header`, async () => {
    seen.length = 0
    const response = await send(path, options)
    assert.is(response.status, status)
    assert.equal(seen, [[path.split('?')[0], status]])
    assert.is(response.headers['x-served-by'], 'middleware')
  })
}

for (const how of ['limit', 'throw']) {
  test(`429 from middleware (${how}) has every common header and is logged and counted`, async () => {
    const { status, headers, body } = await ask('/limited', how)
    assert.is(status, 429)
    assert.equal(body, { error: { code: 'too_many_requests', message: 'Slow down.' } })
    assert.is(headers['retry-after'], '5')
    assert.is(headers['cache-control'], 'no-store')
    assert.is(headers['access-control-allow-origin'], '*')
    assert.is(headers['content-type'], 'application/json; charset=utf-8')
    await setImmediate()
    const lines = logged.filter(({ id }) => id === headers['x-request-id']).map((line) => [line.status, line.bytes])
    assert.equal(lines, [[429, Number(headers['content-length'])]])
  })
}

const rest: [asked: string, path: string, status: number, text: RegExp][] = [
  ['throw 503', '/nothing', 503, /^\{"error":\{"code":"service_unavailable","message":"Service Unavailable"\}\}$/],
  ['rewrite', '/', 302, /^\{"rewritten":302\}$/],
  ['fail', '/nothing', 500, /^\{"error":\{"code":"internal_error",(?!.*secret)/],
  ['nothing', '/nothing', 404, /^\{"error":\{"code":"not_found",/],
]
for (const [asked, path, status, text] of rest) {
  test(`the response of middleware that does "${asked}" has no message for the log`, async () => {
    const response = await ask(path, asked)
    assert.is(response.status, status)
    assert.match(response.text, text)
  })
}

test.run()
