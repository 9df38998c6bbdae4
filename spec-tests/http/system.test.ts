/** The index, the health check, the docs page, and the responses of the HTTP layer itself. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { office, startOffice } from '../support/office.js'
import { product } from '../support/testedProject.js'

const { get, send } = await startOffice()
const closed = await startOffice({ token: undefined })

const test = suite('the system')

test('the index has a path with and without a slash, and lists every resource', async () => {
  const { status, body } = await get('')
  assert.is(status, 200)
  assert.equal(body, (await get('/')).body)
  assert.equal(
    body.resources,
    office.map(({ name, path, create, update, delete: canDelete }) => ({
      name,
      path: `/api/v1/${path}`,
      create,
      ...(update && { update: true }),
      ...(canDelete && { delete: true }),
    })),
  )
  for (const link of [body.openapi, body.swagger, body.docs, body.health]) assert.is((await send(link)).status, 200)
})

test('health says whether writes are enabled', async () => {
  const expected = { status: 'ok', product: product.name, version: product.version, writes_enabled: true }
  assert.equal((await get('/v1/health')).body, expected)
  assert.equal((await closed.get('/v1/health')).body, { ...expected, writes_enabled: false })
})

test('the root path redirects to the docs', async () => {
  const { status, headers } = await send('/')
  assert.equal([status, headers.location], [302, '/api/docs'])
})

test('the docs page loads nothing from other hosts, runs no inline script, and its files are compressed', async () => {
  const page = await get('/docs')
  assert.is(page.status, 200)
  assert.is((await get('/docs/')).text, page.text)
  assert.match(String(page.headers['content-security-policy']), /script-src 'self';/)
  assert.not.match(page.text, /https?:\/\/|<script>|onload=/)
  const assets = [...page.text.matchAll(/<(?:script|link)[^>]*(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path)
  assert.ok(assets.length >= 5)
  for (const asset of assets) {
    const [plain, sent] = [await send(asset), await send(asset, { headers: { 'accept-encoding': 'br' } })]
    assert.equal([plain.status, sent.text === plain.text], [200, true], asset)
    const isLong = Number(plain.headers['content-length']) >= 1024
    assert.is(sent.headers['content-encoding'], isLong ? 'br' : undefined, asset)
  }
})

test('an unknown path is 404 and another method 405, both with the error envelope', async () => {
  // biome-ignore format: one list
  for (const path of [
    '/nothing', '/API', '/api/v1', '/api/v1/', '/api/v2/employees', '/api/v1/Employees', '/swagger.json/', '//', '/%',
  ]) {
    const { status, body } = await send(path)
    assert.is(status, 404, path)
    assert.is(body.error.code, 'not_found')
  }
  for (const path of ['/api', '/api/v1/health', '/api/openapi.json', '/swagger.json', '/api/docs', '/']) {
    const { status, headers } = await send(path, { method: 'DELETE' })
    assert.is(status, 405, path)
    assert.is(headers.allow, 'GET, HEAD, OPTIONS')
  }
})

test('every response has the common headers, and none of them depends on Origin', async () => {
  for (const path of ['/', '/api', '/api/v1/jobs', '/api/v1/jobs/x', '/nothing', '/api/openapi.json', '/api/docs']) {
    const { headers } = await send(path)
    assert.is(headers['access-control-allow-origin'], '*')
    assert.match(String(headers['access-control-expose-headers']), /ETag.*X-Request-Id/)
    assert.is(headers['x-content-type-options'], 'nosniff')
    assert.match(String(headers['content-security-policy']), /^default-src 'none'; .*frame-ancestors 'none'/)
    assert.is(headers['strict-transport-security'], undefined)
    const names = async (more: Record<string, string>) => Object.keys((await send(path, { headers: more })).headers)
    assert.equal(await names({ origin: 'https://a.example' }), await names({}))
  }
})

test.run()
