/** How a create's body is read: its type, its size, its encoding, its syntax. */
import { once } from 'node:events'
import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startService, token } from './support/service.js'

const { send, address } = await startService()
const authorization = `Bearer ${token}`
const valid = '{"leave_type":"Annual"}'

const post = (body: string | Buffer, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
  send('/api/v1/leave', { method: 'POST', headers: { authorization, ...headers }, body })

const test = suite('the body of a create')

for (const type of [
  'application/json',
  'application/json; charset=utf-8',
  'Application/JSON;charset="UTF-8"',
  'application/json;',
]) {
  test(`${type} is JSON`, async () => {
    assert.is((await post(valid, { 'content-type': type })).status, 201)
  })
}

for (const type of [
  '',
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/jsonp',
  'application/json; charset=latin1',
  'multipart/form-data',
]) {
  test(`${type || 'no content type'} is not`, async () => {
    const response = await post(valid, type ? { 'content-type': type } : {})
    assert.is(response.status, 422)
    assert.is(response.body.error.details.issues[0].type, 'content_type')
  })
}

for (const body of [
  '',
  ' ',
  '{',
  '{"leave_type":"x"',
  "{'a':1}",
  'undefined',
  'NaN',
  '{"leave_type":"x"}}',
  '\u0000',
]) {
  test(`${JSON.stringify(body)} is refused`, async () => {
    const response = await post(body)
    assert.is(response.status, 422)
    assert.is(response.body.error.code, 'validation_error')
    assert.equal(response.body.error.details.issues[0].loc, ['body'])
  })
}

test('bytes that are not UTF-8 are refused, not replaced', async () => {
  const response = await post(
    Buffer.concat([Buffer.from('{"leave_type":"'), Buffer.from([0xff, 0xc3]), Buffer.from('"}')]),
  )
  assert.is(response.status, 422)
  assert.is(response.body.error.details.issues[0].type, 'string_unicode')
})

test('a body of one mebibyte is read, one byte more is too large', async () => {
  const ofSize = (size: number) => `{"leave_type":"${'x'.repeat(size - valid.length + 'Annual'.length)}"}`
  assert.is((await post(ofSize(1024 * 1024))).status, 201)
  const large = await post(ofSize(1024 * 1024 + 1))
  assert.is(large.status, 413)
  assert.is(large.body.error.code, 'payload_too_large')
})

test('a compressed body is read, within the same bound', async () => {
  const zipped = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  assert.is((await post(gzipSync(valid), zipped)).status, 201)
  assert.is((await post(gzipSync(`{"leave_type":"${'x'.repeat(2 ** 24)}"}`), zipped)).status, 413)
  assert.is((await post('no gzip at all', zipped)).status, 422)
  assert.is((await post(gzipSync(valid).subarray(0, 20), zipped)).status, 422)
  assert.is((await post(valid, { ...zipped, 'content-encoding': 'zstd' })).status, 422)
})

test('deep nesting and many keys are answered', async () => {
  const deep = `{"leave_type":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  assert.is((await post(deep)).status, 422)
  const wide = `{${Array.from({ length: 60_000 }, (_, n) => `"k${n}":1`).join(',')}}`
  const response = await post(wide)
  assert.is(response.status, 422)
  assert.is(response.body.error.details.issues.length, 100)
})

test('the body is asked for only after the token was looked at', async () => {
  const headers = { 'content-type': 'application/json', expect: '100-continue' }
  const { port } = new URL(address)
  const sent = request({
    port,
    host: '127.0.0.1',
    path: '/api/v1/leave',
    method: 'POST',
    headers: { authorization, ...headers },
  })
  sent.flushHeaders()
  await once(sent, 'continue')
  sent.end(valid)
  const [response] = await once(sent, 'response')
  assert.is(response.statusCode, 201)
  response.resume()
  const refused = await send('/api/v1/leave', {
    method: 'POST',
    headers: { ...headers, authorization: 'Bearer no' },
    body: valid,
  })
  assert.is(refused.status, 401)
})

test.run()
