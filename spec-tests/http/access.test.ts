/** Who may write, which methods each path allows, and the order in which a create is checked. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startService, token } from '../support/service.js'
import { registry } from '../support/tested.js'

const open = await startService()
const closed = await startService({ token: undefined })
const json = { 'content-type': 'application/json' }

for (const resource of registry) {
  const test = suite(`access ${resource.path}`)
  const path = `/api/v1/${resource.path}`
  const { create, update, delete: canDelete } = resource
  const allow = ['GET', 'HEAD', 'OPTIONS', ...(create ? ['POST'] : [])].join(', ')
  const ofRow = ['GET', 'HEAD', 'OPTIONS', ...(update ? ['PATCH'] : []), ...(canDelete ? ['DELETE'] : [])]

  test('other methods are not allowed', async () => {
    for (const [target, allowed] of [
      [path, allow],
      [`${path}/1`, ofRow.sort().join(', ')],
    ] as const) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'].filter((name) => !allowed.includes(name))) {
        const response = await open.send(target, { method, headers: json, body: '{}' })
        assert.is(response.status, 405, method)
        assert.is(response.body.error.code, 'method_not_allowed')
        assert.is(response.headers.allow, allowed)
      }
    }
  })

  test('OPTIONS lists the allowed methods, also in a CORS preflight', async () => {
    const plain = await open.send(path, { method: 'OPTIONS' })
    assert.is(plain.status, 204)
    assert.is(plain.headers.allow, allow)
    const headers = { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' }
    const preflight = await open.send(path, { method: 'OPTIONS', headers })
    assert.is(preflight.headers['access-control-allow-origin'], '*')
    assert.is(preflight.headers['access-control-allow-methods'], allow)
    assert.match(String(preflight.headers['access-control-allow-headers']), /authorization/i)
  })

  test('other spellings of the path are other paths', async () => {
    for (const other of [
      `${path.toUpperCase()}`,
      `${path}/`,
      `${path}/1/`,
      `${path}/1/2`,
      `/v1/${resource.path}`,
      `${path}-or-not`,
    ]) {
      const response = await open.send(other)
      assert.is(response.status, 404, other)
      assert.is(response.body.error.code, 'not_found')
    }
  })

  if (create) {
    test('without a configured token every create gets 503, whatever it sends', async () => {
      for (const headers of [{}, { authorization: `Bearer ${token}`, ...json }, { authorization: 'Basic x' }] as Record<
        string,
        string
      >[]) {
        const response = await closed.send(path, { method: 'POST', headers, body: 'not even JSON' })
        assert.is(response.status, 503)
        assert.is(response.body.error.code, 'writes_disabled')
      }
    })

    test('without the right token a create gets 401, and with it the body is read', async () => {
      for (const [authorization, status] of [
        ['Bearer x', 401],
        [`bearer ${token}`, 422],
      ] as const) {
        const sent = { method: 'POST', headers: { ...json, authorization }, body: '[]' }
        assert.is((await open.send(path, sent)).status, status)
      }
    })
  }

  test.run()
}

const credentials = suite('credentials')
const path = '/api/v1/sink-basins'

credentials('without the right token a create gets 401, before its body is read', async () => {
  const none = [undefined, '', 'Bearer', 'Bearer ', 'Basic dXNlcjpwYXNz', token, `Token ${token}`]
  const wrong = [
    'Bearer x',
    `Bearer ${token}x`,
    `Bearer ${token.slice(1)}`,
    `Bearer ${token.toUpperCase()}`,
    `Bearer ${token} ${token}`,
  ]
  for (const authorization of [...none, ...wrong]) {
    const headers = authorization === undefined ? json : { ...json, authorization }
    const response = await open.send(path, { method: 'POST', headers, body: '{"broken' })
    assert.is(response.status, 401, authorization)
    assert.is(response.body.error.code, 'unauthorized')
    const challenge = String(response.headers['www-authenticate'])
    assert.match(challenge, /^Bearer realm="[^"]+"/)
    assert.is(challenge.includes('error="invalid_token"'), wrong.includes(authorization ?? ''), authorization)
    assert.not.ok(response.text.includes(token))
  }
})

credentials('the case of the scheme is ignored', async () => {
  for (const scheme of ['bearer', 'BEARER', 'BeArEr']) {
    const headers = { ...json, authorization: `${scheme} ${token}` }
    assert.is((await open.send(path, { method: 'POST', headers, body: '[]' })).status, 422)
  }
})

credentials.run()
