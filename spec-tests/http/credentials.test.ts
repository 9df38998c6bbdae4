/** API keys and tokens: files that change, tokens that are forged, issuers that rotate their keys or are away. */
import { createHmac } from 'node:crypto'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { digestOf, openKeys, parseKeys } from '../../engine/http/keys.js'
import { tokenVerifier } from '../../engine/http/tokens.js'
import { until } from '../support/until.js'

const test = suite('keys and tokens')

const folder = mkdtempSync(join(tmpdir(), 'keys-'))
test.after(() => rmSync(folder, { recursive: true, force: true }))

const entry = (name: string, more = {}) => ({ name, roles: ['hr'], sha256: digestOf(name), ...more })

for (const [what, given, message] of [
  ['no JSON', '[{', /not valid JSON/],
  ['no list', '{}', /not a JSON array/],
  ['no name', [{ roles: [], sha256: digestOf('a') }], /key 1 .*name/],
  ['a key instead of its digest', [entry('a', { sha256: 'secret-key' })], /key 1 .*sha256/],
  ['capitals in the digest', [entry('a', { sha256: digestOf('a').toUpperCase() })], /sha256/],
  ['an unknown member', [entry('a', { rolles: [] })], /key 1 /],
  ['roles that are a text', [entry('a', { roles: 'hr' })], /roles/],
  ['no day', [entry('a', { expires: '2026-02-30' })], /expires/],
  ['a repeated name', [entry('a'), { ...entry('b'), name: 'a' }], /same name: a/],
  ['the name of the write token', [entry('API_TOKEN')], /cannot have the name API_TOKEN/],
  ['a repeated digest', [entry('a'), { ...entry('b'), sha256: digestOf('a') }], /same sha256: b/],
] as const) {
  test(`a file of keys with ${what} is refused, and shows no value`, () => {
    const source = typeof given === 'string' ? given : JSON.stringify(given)
    try {
      parseKeys(source)
      assert.unreachable()
    } catch (error) {
      assert.match((error as Error).message, message)
      assert.not.match((error as Error).message, /secret-key/)
    }
  })
}

test('a file is read when it appears and when it changes, and a wrong one leaves the keys as they were', async () => {
  const path = join(folder, 'keys.json')
  const store = (text: string) => {
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
  }
  const messages: string[] = []
  const keys = openKeys(path, (message) => messages.push(message))
  assert.is(keys.find(digestOf('a')), undefined)
  store(JSON.stringify([entry('a')]))
  await until(() => keys.find(digestOf('a')) !== undefined)
  assert.equal(messages, ['API_KEYS_FILE was read again: 1 keys.'])
  assert.equal(keys.find(digestOf('a'))?.roles, ['hr'])
  store(JSON.stringify([entry('b', { claims: { id: 7 }, expires: '2027-01-01' })]))
  await until(() => keys.find(digestOf('b')) !== undefined)
  assert.is(keys.find(digestOf('a')), undefined)
  assert.is(keys.find(digestOf('b'))?.expires, Date.UTC(2027, 0, 1))
  store('[{]')
  await until(() => messages.some((message) => /cannot be used.*not valid JSON/.test(message)))
  assert.ok(keys.find(digestOf('b')))
  rmSync(path)
  await until(() => messages.some((message) => /ENOENT/.test(message)))
  assert.ok(keys.find(digestOf('b')))
  keys.close()
  store('[{]')
  assert.throws(() => openKeys(path, () => {}), /API_KEYS_FILE cannot be used/)
})

const secret = 'a secret of at least 32 bytes, for tests'
const hmacKey = new TextEncoder().encode(secret)
const audience = 'registry'
const inAnHour = () => Math.floor(Date.now() / 1_000) + 3_600
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('tokens with a shared secret: only right ones count', async () => {
  const verify = tokenVerifier({ secret, audience }, () => {})
  const sign = (claims: Record<string, unknown>, header: Record<string, unknown> = { alg: 'HS256' }, key = secret) => {
    const head = `${base64(header)}.${base64(claims)}`
    return `${head}.${createHmac('sha256', key).update(head).digest('base64url')}`
  }
  const good = { sub: 'ana', aud: audience, exp: inAnHour(), roles: ['hr'], employee_id: 45 }
  const found = await verify(sign(good))
  assert.equal([found?.name, found?.roles, found?.claims['employee_id']], ['ana', ['hr'], 45])
  assert.equal((await verify(sign({ ...good, roles: 'hr boss' })))?.roles, ['hr', 'boss'])
  assert.equal((await verify(sign({ ...good, roles: [1, 'x', null] })))?.roles, ['x'])
  assert.ok(await verify(sign({ ...good, aud: ['other', audience] })))
  const owners = [
    good,
    { ...good, sub: 'bo' },
    { ...good, sub: undefined },
    { ...good, sub: undefined, client_id: 'c' },
  ]
  const ownersFound = await Promise.all(owners.map(async (claims) => (await verify(sign(claims)))?.owner))
  assert.is(new Set(ownersFound).size, 4, 'idempotency keys belong to one caller')
  assert.is((await verify(sign({ ...good, sub: undefined, iat: 1, jti: 'x' })))?.owner, ownersFound[2])
  const reserved = await verify(sign({ ...good, sub: 'API_TOKEN' })).catch((error) => error)
  assert.equal(
    [reserved.status, reserved.message],
    [401, 'A token cannot have the subject "API_TOKEN", which is the name of the write token.'],
  )
  const now = Math.floor(Date.now() / 1_000)
  assert.ok(await verify(sign({ ...good, exp: now - 30 })), 'within the tolerance')
  assert.ok(await verify(sign({ ...good, nbf: now + 30 })), 'within the tolerance')
  const { exp: _, ...endless } = good
  const { publicKey } = await generateKeyPair('RS256', { extractable: true })
  const forged = [
    sign({ ...good, exp: now - 90 }),
    sign({ ...good, nbf: now + 90 }),
    sign(endless),
    sign({ ...good, exp: String(inAnHour()) }),
    sign({ ...good, aud: 'other' }),
    sign({ ...good, aud: undefined }),
    sign(good, { alg: 'HS256' }, 'another secret of at least 32 bytes, yes'),
    sign(good, { alg: 'HS384' }),
    sign(good, { alg: 'RS256', jwk: await exportJWK(publicKey) }),
    `${base64({ alg: 'none' })}.${base64(good)}.`,
    `${base64({ alg: 'HS256', crit: ['x'], x: 1 })}.${base64(good)}.AAAA`,
    `${sign(good).slice(0, -4)}AAAA`,
    `${sign(good)}.x`,
    '..',
    'a.b.c',
  ]
  for (const token of forged) assert.is(await verify(token), undefined, token.slice(0, 60))
})

test('roles of another claim, by its name or by a path', async () => {
  const sign = (claims: Record<string, unknown>) =>
    new SignJWT({ sub: 'a', aud: audience, exp: inAnHour(), ...claims })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(hmacKey)
  const nested = tokenVerifier({ secret, audience, rolesClaim: 'realm_access.roles' }, () => {})
  assert.equal((await nested(await sign({ realm_access: { roles: ['hr'] }, roles: ['no'] })))?.roles, ['hr'])
  assert.equal((await nested(await sign({ 'realm_access.roles': ['dotted'] })))?.roles, ['dotted'])
  assert.equal((await nested(await sign({})))?.roles, [])
})

test('an issuer: discovery, rotation, absence', async () => {
  const first = await generateKeyPair('ES256', { extractable: true })
  const second = await generateKeyPair('EdDSA', { extractable: true })
  let served = [{ ...(await exportJWK(first.publicKey)), kid: '1', alg: 'ES256' }]
  let isAway = true
  let asked = 0
  const server = createServer((request, response) => {
    if (request.url === '/keys') asked++
    if (isAway) {
      response.statusCode = 503
      response.end()
      return
    }
    const body = request.url === '/keys' ? { keys: served } : { issuer, jwks_uri: `${issuer}/keys` }
    response.end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await until(() => server.listening)
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sign = (pair: typeof first, alg: string, kid: string, iss = issuer) =>
    new SignJWT({ sub: 'ana', aud: audience, iss, exp: inAnHour(), roles: ['hr'] })
      .setProtectedHeader({ alg, kid })
      .sign(pair.privateKey)
  const clock = performance.now.bind(performance)
  let ahead = 0
  performance.now = () => clock() + ahead
  try {
    const verify = tokenVerifier({ issuer, audience }, () => {})
    const token = await sign(first, 'ES256', '1')
    const away = await verify(token).catch((error: Error) => error)
    assert.match((away as Error).message, /never fetched/)
    isAway = false
    ahead += 31_000
    assert.is((await verify(token))?.name, 'ana')
    assert.is(await verify(await sign(first, 'ES256', '1', 'https://other.example')), undefined)
    // Another key than the issuer's, under its id and under an unknown one.
    const stranger = await generateKeyPair('ES256')
    assert.is(await verify(await sign(stranger, 'ES256', '1')), undefined)
    const before = asked
    for (let n = 0; n < 20; n++) assert.is(await verify(await sign(stranger, 'ES256', `x${n}`)), undefined)
    assert.ok(asked <= before + 1, 'unknown keys ask at most every 30 seconds')
    served = [...served, { ...(await exportJWK(second.publicKey)), kid: '2', alg: 'EdDSA' }]
    ahead += 31_000
    assert.is((await verify(await sign(second, 'EdDSA', '2')))?.name, 'ana')
    // A secret that is the text of the public key: HS256 does not belong to an issuer.
    const confused = `${base64({ alg: 'HS256', kid: '1' })}.${base64({ sub: 'x', aud: audience, iss: issuer, exp: inAnHour() })}`
    const signature = createHmac('sha256', JSON.stringify(served[0])).update(confused).digest('base64url')
    assert.is(await verify(`${confused}.${signature}`), undefined)
    isAway = true
    ahead += 700_000
    assert.is((await verify(token))?.name, 'ana')
    assert.is((await verify(token))?.name, 'ana')
  } finally {
    performance.now = clock
    server.close()
    server.closeAllConnections()
  }
})

test.run()
