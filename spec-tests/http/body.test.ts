import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { Middleware } from 'koa'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type * as errors from '../../engine/contract/errors.js'
import { inexactKeys } from '../../engine/contract/jsonScan.js'
import { jsonErrorPlace } from '../../engine/process/jsonError.js'
import { exchange } from '../support/observed.js'
import { startOffice } from '../support/office.js'
import { token } from '../support/service.js'

let pieces = 0
const countPieces: Middleware = (ctx, next) => {
  ctx.req.prependListener('data', () => pieces++)
  return next()
}
const { send, address } = await startOffice({ middleware: [countPieces] })
const authorization = `Bearer ${token}`
const valid = '{"leave_type":"Annual"}'

const post = (body: string | Buffer, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
  send('/api/v1/leave', { method: 'POST', headers: { authorization, ...headers }, body })

const test = suite('the body of a create')

test('the content type must be JSON, in UTF-8', async () => {
  const json = [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/json;',
  ]
  for (const type of json) assert.is((await post(valid, { 'content-type': type })).status, 201, type)
  const others = ['', 'text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'multipart/form-data']
  for (const type of [...others, 'application/json; charset=latin1']) {
    const response = await post(valid, type ? { 'content-type': type } : {})
    assert.is(response.status, 422, type)
    assert.is(response.body.error.details.issues[0].type, 'content_type')
  }
})

test('a body that is missing is refused', async () => {
  const { status, body } = await post('')
  const issue = { type: 'missing', loc: ['body'], msg: 'The body is missing; send a JSON object.' }
  assert.equal([status, body.error.code, body.error.details.issues], [422, 'validation_error', [issue]])
})

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

for (const [encoding, compress] of [
  ['gzip', gzipSync],
  ['GZIP', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['identity', Buffer.from],
] as const) {
  test(`a body with Content-Encoding ${encoding} is read, within the same limit`, async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
    const bytes = compress(valid)
    assert.is((await post(bytes, headers)).status, 201)
    assert.is((await post(compress(`{"leave_type":"${'x'.repeat(2 ** 24)}"}`), headers)).status, 413)
    if (encoding === 'identity') return
    for (const broken of ['not compressed at all', bytes.subarray(0, bytes.length - 4)]) {
      assert.is((await post(broken, headers)).status, 422)
    }
  })
}

test('an unknown Content-Encoding is refused, and the message lists the supported ones', async () => {
  for (const encoding of ['zstd', 'gzip, br', 'x']) {
    const { status, body } = await post(valid, { 'content-type': 'application/json', 'content-encoding': encoding })
    assert.is(status, 422)
    assert.is(body.error.details.issues[0].type, 'content_encoding')
    assert.match(body.error.details.issues[0].msg, /br, gzip or deflate/)
  }
})

const syntaxErrors: [source: string, place: string][] = [
  [' ', 'unexpected end at line 1, column 2'],
  ["{'a':1}", 'unexpected character at line 1, column 2'],
  ['undefined', 'unexpected character at line 1, column 1'],
  ['NaN', 'unexpected character at line 1, column 1'],
  ['\0', 'unexpected character at line 1, column 1'],
  ['{"leave_type": secret}', 'unexpected character at line 1, column 16'],
  ['{"leave_type":"x",}', 'unexpected character at line 1, column 19'],
  ['{\n  "leave_type": "x"\n  "reason": "y"\n}', 'unexpected character at line 3, column 3'],
  ['{"leave_type":"x"', 'unexpected end at line 1, column 18'],
  ['{"leave_type":"secret\\x"}', 'unexpected character at line 1, column 22'],
  ['{"leave_type":"x"}}', 'unexpected character at line 1, column 19'],
]
for (const [source, place] of syntaxErrors) {
  test(`${JSON.stringify(source)} is refused with the place of the error`, async () => {
    const { status, body, text } = await post(source)
    assert.is(status, 422)
    assert.equal(body.error.details.issues, [
      { type: 'json_invalid', loc: ['body'], msg: `The body is not valid JSON: ${place}.` },
    ])
    assert.not.ok(text.includes('secret'))
  })
}

test('the place of a syntax error is where JSON.parse finds it', () => {
  const document = '{"a":[1,-2.5e+3,true,null,{"b":"c\\u00e9\\n"}],"d":{},"e":[],"f":""}'
  const signs = ['', '"', '\\', ',', ':', '[', ']', '{', '}', '0', '-', '.', 'e', 't', ' ', '\n', '\u0001', 'é']
  let compared = 0
  for (let at = 0; at <= document.length; at++) {
    for (const sign of signs) {
      for (const source of [document.slice(0, at) + sign + document.slice(at + 1), document.slice(0, at) + sign]) {
        try {
          JSON.parse(source)
        } catch (error) {
          // Only some of V8's messages contain the position.
          const position = Number(/at position (\d+)/.exec((error as Error).message)?.[1])
          const [, line, column] = /line (\d+), column (\d+)$/.exec(jsonErrorPlace(source)) ?? []
          const lines = source.split('\n').slice(0, Number(line) - 1)
          const found = lines.join('\n').length + (lines.length > 0 ? 1 : 0) + Number(column) - 1
          assert.ok(found >= 0 && found <= source.length, source)
          if (Number.isNaN(position)) continue
          // V8 reports the end of an invalid escape, number or literal; we report its beginning.
          const part = source.slice(found, position)
          assert.match(part, /^(?:\\u?[\da-f]{0,4}|[-\d.eE+]*|[a-z]*)$/, `${source}: ${position}, not ${found}`)
          compared++
        }
      }
    }
  }
  assert.ok(compared > 500)
})

const manyKeys = (count: number): string => `{${Array.from({ length: count }, (_, n) => `"k${n}":1`).join(',')}}`

test('a body that takes long to parse is refused without parsing it', async () => {
  const nested = [`${'['.repeat(300_000)}${']'.repeat(300_000)}`, `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`]
  const unfinished = ['['.repeat(500_000), `[${'1,'.repeat(500_000)}`, '{"a":'.repeat(200_000)]
  for (const body of [...nested, ...unfinished, `{"leave_type":${nested[0]}}`, manyKeys(60_000)]) {
    const { status, body: received } = await post(body)
    assert.equal([status, received.error.details.issues.map(({ type }: errors.Issue) => type)], [422, ['too_long']])
  }
})

test('a body may have many unknown properties, and texts of any signs', async () => {
  const wide = await post(manyKeys(19_000))
  assert.equal([wide.status, wide.body.error.details.issues.length], [422, 100])
  for (const sign of ['[', ',', '{', '\\"', '\\\\', '\\n'])
    assert.is((await post(`{"leave_type":"${sign.repeat(300_000)}"}`)).status, 201, sign)
})

test('white space and digits of a million characters get a response', async () => {
  const place = async (body: string) => (await post(body)).body.error.details.issues[0]
  const lines = await place('\n'.repeat(1_000_000))
  assert.equal(
    [lines.type, lines.msg],
    ['json_invalid', 'The body is not valid JSON: unexpected end at line 1000001, column 1.'],
  )
  assert.match((await place(' '.repeat(1_000_000))).msg, /at line 1, column 1000001/)
  assert.is((await place(`{"leave_type":${'1'.repeat(1_000_001)}}`)).type, 'finite_number')
})

test('a body of line feeds reaches its reader in as few pieces as any other', async () => {
  const countPieces = async (body: string): Promise<number> => {
    pieces = 0
    await post(body)
    return pieces
  }
  const [letters, lines] = [await countPieces('x'.repeat(1_000_000)), await countPieces('\n'.repeat(1_000_000))]
  assert.ok(lines < 2 * letters + 100, `${lines} pieces, not about ${letters}`)
})

/** Sends a create that asks for `100 Continue`; resolves with everything that came back. */
const expecting = async (headers: string, { version = '1.1', sent = authorization } = {}): Promise<string> => {
  const fixed = `Host: a\r\nAuthorization: ${sent}\r\nContent-Type: application/json\r\nConnection: close\r\n`
  return String(await exchange(address, `POST /api/v1/leave HTTP/${version}\r\n${fixed}${headers}\r\n${valid}`))
}

test('without the token, or over the limit, there is no 100 Continue', async () => {
  for (const sent of ['Bearer no', 'Basic x']) {
    const refused = await expecting(`Expect: 100-continue\r\nContent-Length: ${valid.length}\r\n`, { sent })
    assert.match(refused, /^HTTP\/1\.1 401 /)
  }
  for (const length of [2 ** 20 + 1, 2 ** 32, 2 ** 52]) {
    const response = await expecting(`Expect: 100-continue\r\nContent-Length: ${length}\r\n`)
    assert.match(response, /^HTTP\/1\.1 413 /)
    assert.match(response, /"code":"payload_too_large"/)
  }
})

test('every client that asks for 100 Continue gets it, and no other client does', async () => {
  const length = `Content-Length: ${valid.length}\r\n`
  for (const expect of ['100-continue', '100-Continue', '100-continue, other']) {
    const response = await expecting(`Expect: ${expect}\r\n${length}`)
    assert.match(response, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /, expect)
  }
  assert.match(await expecting(`Expect: 100-continue\r\n${length}`, { version: '1.0' }), /^HTTP\/1\.1 201 /)
})

test('numbers that would be rounded are detected at every position', () => {
  const keys = (source: string) => [...inexactKeys(source, new Set('abcdefg'))]
  assert.equal(keys('{"a":9007199254740993,"b":0.1,"c":1e3,"d":3.00,"e":-0,"f":1.7976931348623157e308,"g":0e999}'), [
    'a',
  ])
  assert.equal(keys('{"a":"\\"b\\": 9007199254740993","c" : 1e999}'), ['c'])
  assert.equal(keys('{"\\u0061":0.10000000000000001}'), ['a'])
  assert.equal(keys('{"unknown":0.10000000000000001}'), [], 'of unknown properties, nothing is checked')
  assert.equal(keys(`{"a":1${'0'.repeat(500_000)}1}`), ['a'])
})

test.run()
