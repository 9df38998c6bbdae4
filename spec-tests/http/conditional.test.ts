/** Conditional and compressed reads. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { namesTag } from '../../engine/http/conditional.js'
import { sharedDatabase } from '../support/database.js'
import { startOffice } from '../support/office.js'

const database = await sharedDatabase()
const one = await startOffice({ url: database.url })
const other = await startOffice({ url: database.url })

const test = suite('conditional reads')

test('a list of tags takes time linear in its length to parse', () => {
  // Quadratic time would take minutes, and block every other client.
  const spaces = ' '.repeat(1_000_000)
  for (const header of [`"a",${spaces}x`, `"a"${spaces}x`, `W/${spaces}"b"`, `"${'a'.repeat(1_000_000)}`]) {
    assert.is(namesTag(header, '"b"', 'weak'), false)
  }
  assert.is(namesTag(`"a",${spaces}W/"b"${spaces},`, '"b"', 'weak'), true)
})

for (const target of ['/api/v1/employees?status=Active&q=a', '/api/v1/employees/7', '/swagger.json', '/api/docs']) {
  const isRow = target.endsWith('/7')

  test(`${target} has one strong tag in every process`, async () => {
    // The Swagger document names its host, which is the same for processes that share an address.
    const host = { headers: { host: 'shared.example' } }
    const { headers } = await one.send(target, host)
    assert.match(String(headers.etag), /^"[^"]+"$/)
    assert.is(headers['cache-control'], 'no-cache')
    assert.is(headers.vary, /v1\/\w+(?:\?|$)/.test(target) ? 'Accept, Accept-Encoding' : 'Accept-Encoding')
    assert.is((await other.send(target, host)).headers.etag, headers.etag)
  })

  test(`${target} follows If-None-Match`, async () => {
    for (const [method, encoding] of [
      ['GET', 'identity'],
      ['HEAD', 'gzip'],
      ['GET', 'br'],
    ] as const) {
      const first = await one.send(target, { method, headers: { 'accept-encoding': encoding } })
      const tag = String(first.headers.etag)
      const ask = (sent: string) =>
        one.send(target, { method, headers: { 'accept-encoding': encoding, 'if-none-match': sent } })
      for (const sent of [tag, `W/${tag}`, `"other", ${tag}`, `"a,b" , ,W/${tag}`, `"x,y",${tag}`, ' * ']) {
        const again = await ask(sent)
        assert.is(again.status, 304, sent)
        assert.is(again.text, '')
        // The server's own tag, whatever was sent.
        assert.is(again.headers.etag, tag)
        assert.is(again.headers.vary, first.headers.vary)
        assert.is(again.headers['cache-control'], 'no-cache')
        assert.is(again.headers['content-type'], undefined)
      }
      const bare = tag.slice(1, -1)
      const [state] = bare.split(/-(?:br|gzip)$/)
      const otherEncodings = ['', '-br', '-gzip'].map((suffix) => `"${state}${suffix}"`).filter((form) => form !== tag)
      const invalid = [bare, `'${bare}'`, `w/${tag}`, `"${bare}`, `x${tag}`, `"a" ${tag}`, '*, "a"', '']
      const notNamed = [...invalid, '"other"', `"x,${bare}"`, '"*"']
      for (const sent of notNamed) assert.is((await ask(sent)).status, 200, `${encoding}: ${sent}`)
      // The tag of a row names the row, whatever its encoding.
      const status = isRow ? 304 : 200
      for (const sent of otherEncodings) assert.is((await ask(sent)).status, status, `${encoding}: ${sent}`)
    }
  })

  for (const method of ['GET', 'HEAD']) {
    test(`${method} ${target} follows If-Match, by strong comparison`, async () => {
      const { headers } = await one.send(target, { method })
      const tag = String(headers.etag)
      const ask = (sent: string, more: Record<string, string> = {}) =>
        one.send(target, { method, headers: { 'if-match': sent, ...more } })
      for (const sent of [tag, '*', `"other", ${tag}`]) assert.is((await ask(sent)).status, 200, sent)
      const encoded = `${tag.slice(0, -1)}-br"`
      if (isRow) assert.is((await ask(encoded)).status, 200)
      for (const sent of ['"other"', `W/${tag}`, tag.slice(1, -1), '', ...(isRow ? [] : [encoded])]) {
        const failed = await ask(sent)
        assert.is(failed.status, 412, sent)
        assert.is(failed.headers['cache-control'], 'no-store')
        assert.is(failed.headers.etag, isRow ? tag : undefined)
        if (method === 'GET') assert.is(failed.body.error.code, 'precondition_failed')
      }
      // If-Match is evaluated first.
      assert.is((await ask('"other"', { 'if-none-match': tag })).status, 412)
      assert.is((await ask(tag, { 'if-none-match': tag })).status, 304)
    })
  }

  test(`${target} is compressed where the client accepts it`, async () => {
    const ask = (headers: Record<string, string>) => one.send(target, { headers })
    const plain = await one.send(target)
    const isLong = Buffer.byteLength(plain.text) >= 1024
    for (const encoding of ['br', 'gzip']) {
      const { text, headers } = await ask({ 'accept-encoding': encoding })
      assert.is(headers['content-encoding'], isLong ? encoding : undefined)
      assert.is(text, plain.text)
      assert.is(headers.etag, isLong ? plain.headers.etag?.replace(/"$/, `-${encoding}"`) : plain.headers.etag)
      if (isLong) assert.ok(Number(headers['content-length']) < Number(plain.headers['content-length']))
      assert.is((await ask({ 'if-none-match': String(headers.etag), 'accept-encoding': encoding })).status, 304)
    }
    assert.is((await ask({ 'accept-encoding': 'identity, br;q=0' })).headers['content-encoding'], undefined)
  })
}

for (const [target, status] of [
  ['/api/v1/employees?q=a?&limit=abc', 422],
  ['/api/v1/employees/none', 404],
  ['/api/v1/employees/%FF', 422],
  ['/nothing', 404],
] as const) {
  test(`${target} is ${status} and not stored, whatever the conditions`, async () => {
    for (const condition of [{}, { 'if-none-match': '*' }, { 'if-match': '*' }, { 'if-match': '"other"' }]) {
      const response = await one.send(target, { headers: condition as Record<string, string> })
      assert.equal([response.status, response.headers['cache-control']], [status, 'no-store'])
    }
  })
}

test.run()
