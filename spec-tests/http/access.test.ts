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
  const common = ['GET', 'HEAD', 'OPTIONS']
  const ofRow = [...(canDelete ? ['DELETE'] : []), ...common, ...(update ? ['PATCH'] : [])]
  const targets = [
    [path, [...common, ...(create ? ['POST'] : [])].join(', ')],
    [`${path}/1`, ofRow.join(', ')],
  ] as const

  test('other methods are not allowed', async () => {
    for (const [target, allowed] of targets) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'].filter((name) => !allowed.includes(name))) {
        const response = await open.send(target, { method, headers: json, body: '{}' })
        assert.is(response.status, 405, method)
        assert.is(response.body.error.code, 'method_not_allowed')
        assert.is(response.headers.allow, allowed)
      }
    }
  })

  test('OPTIONS lists the allowed methods, also in a CORS preflight', async () => {
    const patchable = update ? 'application/merge-patch+json, application/json' : undefined
    for (const [target, allowed] of targets) {
      const origin = { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' }
      const { status, headers } = await open.send(target, { method: 'OPTIONS', headers: origin })
      assert.equal([status, headers.allow, headers['access-control-allow-methods']], [204, allowed, allowed])
      assert.is(headers['access-control-allow-origin'], '*')
      assert.match(String(headers['access-control-allow-headers']), /authorization/i)
      assert.is(headers['accept-patch'], target === path ? undefined : patchable)
    }
  })

  test('other spellings of the path are other paths', async () => {
    const longer = ['/', '/1/', '/1/2', '-or-not'].map((end) => `${path}${end}`)
    for (const other of [...longer, path.toUpperCase(), `/v1/${resource.path}`]) {
      const response = await open.send(other)
      assert.is(response.status, 404, other)
      assert.is(response.body.error.code, 'not_found')
    }
  })

  if (create) {
    test('a create gets 503 without a configured token, 401 without the right one; else its body is read', async () => {
      for (const [{ send }, authorization, status, code] of [
        [closed, '', 503, 'writes_disabled'],
        [closed, `Bearer ${token}`, 503, 'writes_disabled'],
        [closed, 'Basic x', 503, 'writes_disabled'],
        [open, 'Bearer x', 401, 'unauthorized'],
        [open, `bearer ${token}`, 422, 'validation_error'],
      ] as const) {
        const response = await send(path, {
          method: 'POST',
          headers: { ...json, authorization },
          body: 'not even JSON',
        })
        assert.equal([response.status, response.body.error.code], [status, code], authorization)
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
  for (const scheme of ['BEARER', 'BeArEr']) {
    const headers = { ...json, authorization: `${scheme} ${token}` }
    assert.is((await open.send(path, { method: 'POST', headers, body: '[]' })).status, 422)
  }
})

credentials.run()
