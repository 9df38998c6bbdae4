/** Signing in to the explorer: sessions, what each visitor sees and does, and requests of other sites. */

import { SignJWT } from 'jose'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim } from '../../engine/descriptor/define.js'
import { integer, number, text } from '../../engine/descriptor/index.js'
import { tokenVerifier } from '../../engine/http/tokens.js'
import { callersNamed } from '../support/callers.js'
import { resourceIn } from '../support/registryFrom.js'
import { postForm, sessionOf, startService, type TestResponse, token } from '../support/service.js'

const people = resourceIn(
  'people',
  {
    name: text(),
    salary: number({ readBy: ['hr'], filter: true }),
    room_id: integer({ references: 'rooms', filter: true }),
  },
  {
    create: true,
    update: true,
    delete: true,
    access: {
      read: ['hr', { id: claim('person_id') }],
      create: 'hr',
      update: ['hr', { id: claim('person_id') }],
      delete: 'hr',
    },
  },
)
const rooms = resourceIn('rooms', { name: text() }, { create: true, access: { read: 'hr', create: 'hr' } })
const open = resourceIn('open', { name: text() }, { create: true, update: true, delete: true, import: true })
const countries = resourceIn(
  'countries',
  { name: text() },
  { id: 'text', create: true, update: true, access: { read: 'signed-in', create: 'hr', update: 'hr' } },
)
const badges = resourceIn(
  'badges',
  { name: text(), level: text({ writeBy: 'warden' }) },
  { access: { read: 'signed-in', create: 'signed-in' } },
)
const registry = [people, rooms, open, countries, badges]

const callers: Record<string, { roles: string[]; claims?: Record<string, unknown>; expires?: number }> = {
  hr: { roles: ['hr'] },
  ana: { roles: [], claims: { person_id: 2 } },
  brief: { roles: ['hr'], expires: Date.now() + 60_000 },
}
const secret = 'a secret of at least 32 bytes, for tests'
const verifyToken = tokenVerifier({ secret, audience: 'registry' }, () => {})
const service = await startService({
  registry,
  explorer: true,
  credentials: { ...callersNamed(callers), verifyToken },
})
await service.fill([
  { resource: rooms, rows: [{ id: 1, name: 'Blue room' }] },
  { resource: people, rows: [1, 2, 3].map((id) => ({ id, name: `Person ${id}`, salary: 4_000 + id, room_id: 1 })) },
  { resource: open, rows: [{ id: 1, name: 'Open' }] },
])

const origin = { origin: service.address }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const signIn = (key: string, headers: Record<string, string> = origin, next = '/') =>
  service.send('/explore/sign-in', {
    method: 'POST',
    headers: { ...form, ...headers },
    body: String(new URLSearchParams({ key, next })),
  })
const cookieOf = ({ headers }: TestResponse): string => String(headers['set-cookie']?.[0]).split(';')[0] as string
const cookies: Record<string, string> = {}
for (const name of ['hr', 'ana', token]) cookies[name] = cookieOf(await signIn(name))
const page = (path: string, name?: string) =>
  service.send(path, { headers: { accept: 'text/html', ...(name && { cookie: cookies[name] as string }) } })

const test = suite('sign-in')

test('a right key gives a cookie that scripts and other sites do not get; a wrong one does not', async () => {
  const right = await signIn('hr', origin, '/explore/people?q=x')
  assert.equal([right.status, right.headers.location], [303, '/explore/people?q=x'])
  const [cookie] = right.headers['set-cookie'] as [string]
  assert.match(cookie, /^registry_session=[\w-]+; Max-Age=2(?:8799|8800); Path=\/; HttpOnly; SameSite=Strict$/)
  const secure = await signIn('hr', { ...origin, 'x-forwarded-proto': 'https' })
  assert.match(String(secure.headers['set-cookie']?.[0]), /; Secure$/)
  const brief = await signIn('brief')
  assert.match(String(brief.headers['set-cookie']?.[0]), /Max-Age=(?:[1-5]\d|60);/)
  const wrong = await signIn('no such key')
  assert.is(wrong.status, 401)
  assert.is(wrong.headers['set-cookie'], undefined)
  assert.match(wrong.text, /is not known/)
  assert.not.match(wrong.text, /no such key/)
  for (const next of ['https://evil.example', '//evil.example', '/\\evil.example', '/api/v1/people', 'javascript:x'])
    assert.is((await signIn('hr', origin, next)).headers.location, '/', next)
  assert.is((await signIn('hr', { origin: 'https://evil.example' })).status, 403)
})

test('each visitor sees what it may', async () => {
  for (const [name, sees, salary, canCreate] of [
    [undefined, [], false, false],
    ['ana', [2], false, false],
    ['hr', [1, 2, 3], true, true],
    [token, [1, 2, 3], true, true],
  ] as const) {
    const table = await page('/explore/people', name)
    assert.is(table.status, name ? 200 : 401)
    for (const id of [1, 2, 3])
      assert.is(table.text.includes(`Person ${id}`), (sees as readonly number[]).includes(id), `${name} ${id}`)
    assert.is(/4[, ]?00\d/.test(table.text), salary, name)
    assert.is(table.text.includes('/explore/people/new'), canCreate)
    assert.is((await page('/explore/people/new', name)).status, canCreate ? 200 : name ? 404 : 401)
    assert.is((await page('/explore/people/3', name)).status, !name ? 401 : sees.length === 3 ? 200 : 404)
    if (name) {
      assert.is(table.headers['cache-control'], 'private, no-store')
      assert.match(String(table.headers.vary), /cookie/i)
      assert.match(table.text, /Sign out/)
    }
    const home = await page('/', name)
    assert.is(home.text.includes('/explore/people"'), name !== undefined)
    assert.is(home.text.includes('/explore/open"'), true)
    const csv = await page('/explore/people/download.csv', name)
    if (name) {
      assert.is(csv.text.trim().split('\r\n').length, sees.length + 1)
      assert.is(/400\d/.test(csv.text), salary)
    } else assert.is(csv.status, 401)
  }
})

test('a row: only what the visitor may do, and references to what it may read', async () => {
  const own = await page('/explore/people/2', 'ana')
  assert.match(own.text, /people\/2\/edit/)
  assert.not.match(own.text, /people\/2\/delete/)
  assert.not.match(own.text, /Blue room|explore\/rooms|salary/i)
  assert.match((await page('/explore/people/2', 'hr')).text, /Blue room/)
  assert.is((await page('/explore/rooms', 'ana')).status, 403)
  assert.is((await page('/explore/people/2/delete', 'ana')).status, 403)
  assert.match(
    (await page('/explore/people/2/edit', 'ana')).text,
    /<form method="post" action="\/explore\/people\/2\/edit"/,
  )
  assert.match((await page('/explore/open/1')).text, /open\/1\/edit/)
  assert.not.match((await page('/explore/open/1', 'ana')).text, /open\/1\/edit/)
})

test('who has not signed in gets no form, also of a resource without rules, and is led back to it', async () => {
  for (const path of ['new', '1/edit?field=name', '1/delete', 'edit-many?id=1', 'delete-many?id=1', 'import']) {
    const { status, text: source } = await page(`/explore/open/${path}`)
    assert.equal([status, source.includes('<form')], [200, false], path)
    assert.ok(source.includes(`href="/explore/sign-in?next=${encodeURIComponent(`/explore/open/${path}`)}"`), path)
    if (path !== 'new' && path !== 'import') assert.is((await page(`/explore/open/${path}`, 'ana')).status, 403, path)
  }
  assert.match((await page('/explore/open')).text, /href="\/explore\/sign-in">Sign in/)
})

const write = (path: string, method: string, headers: Record<string, string>, body?: unknown) =>
  service.send(path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

test('a batch of the explorer: with the session from this site or with a key, all or none, with the rights of the visitor', async () => {
  const [hr, ana] = [{ cookie: cookies['hr'] as string }, { cookie: cookies['ana'] as string }]
  const change = (id: number, name: string) => ({ method: 'PATCH', path: `/v1/people/${id}`, body: { name } })
  const send = (headers: Record<string, string>, ...operations: object[]) =>
    write('/explore/batch', 'POST', headers, { operations })
  const nameOf = async (id: number) =>
    (await service.send(`/api/v1/people/${id}`, { headers: { authorization: `Bearer ${token}` } })).body.name
  assert.is((await send({ ...hr, ...origin }, change(1, 'One'), change(3, 'Three'))).status, 200)
  assert.equal([await nameOf(1), await nameOf(3)], ['One', 'Three'])
  assert.is(
    (await send({ authorization: `Bearer ${token}` }, change(1, 'Person 1'), change(3, 'Person 3'))).status,
    200,
  )
  assert.is((await send({ ...hr, origin: 'https://evil.example' }, change(1, 'Evil'))).status, 403)
  assert.is((await send(hr, change(1, 'Evil'))).status, 403)
  assert.is((await send(origin, change(1, 'Evil'))).status, 401)
  assert.is((await send({ authorization: 'Bearer wrong' }, change(1, 'Evil'))).status, 401)
  const partly = await send({ ...ana, ...origin }, change(2, 'Ana'), change(1, 'Evil'))
  assert.equal([partly.status, partly.body.error.details.operation], [404, 1])
  assert.equal([await nameOf(1), await nameOf(2)], ['Person 1', 'Person 2'])
})

test('who may not write is refused before anything is read', async () => {
  const reads: string[] = []
  const observed = await startService({
    registry,
    explorer: true,
    credentials: callersNamed(callers),
    wrapStorage: (storage) => ({
      ...storage,
      table: (...given) =>
        new Proxy(storage.table(...given), {
          get(table, name) {
            reads.push(String(name))
            return Reflect.get(table, name)
          },
        }),
      batch(batch, rights) {
        reads.push(...batch.writes.map(({ write }) => write.kind))
        return storage.batch(batch, rights)
      },
    }),
  })
  await observed.fill([
    { resource: rooms, rows: [{ id: 1, name: 'Blue room' }] },
    { resource: open, rows: [{ id: 1, name: 'Open' }] },
  ])
  const own = { origin: observed.address }
  const cookie = await sessionOf(observed.address, 'ana')
  const json = { ...own, cookie, 'content-type': 'application/json' }
  const urlencoded = { ...json, ...form }
  const operations = (method: string, path: string) =>
    JSON.stringify({ operations: [{ method, path, ...(method !== 'DELETE' && { body: {} }) }] })
  for (const [method, path, headers, body] of [
    ['POST', '/explore/batch', json, operations('DELETE', '/v1/people/1')],
    ['POST', '/explore/batch', json, operations('PATCH', '/v1/open/1')],
    ['POST', '/explore/batch', json, operations('POST', '/v1/rooms')],
    ['POST', '/explore/rooms/new', urlencoded, 'name=x'],
    ['POST', '/explore/open/new', urlencoded, 'name=x'],
    ['POST', '/explore/open/import', urlencoded, 'text=name%0Ax'],
    ['POST', '/explore/open/1/edit', urlencoded, 'name=x'],
    ['POST', '/explore/open/1/delete', urlencoded, ''],
    ['POST', '/explore/open/edit-many', urlencoded, 'name=x'],
    ['POST', '/explore/open/delete-many', urlencoded, 'form.rows=%5B%5D'],
  ] as const) {
    reads.length = 0
    const refused = await observed.send(path, { method, headers, body })
    assert.equal([refused.status, reads], [403, []], `${method} ${path} ${body}`)
  }
})

test('forms write with the session, only from this site; the API does not take the cookie', async () => {
  const send = (path: string, name: string | undefined, values: Record<string, string>, headers = {}) =>
    postForm(service, path, values, { ...(name && { cookie: cookies[name] as string }), ...headers })
  const made = await send('/explore/people/new', 'hr', { name: 'New', salary: '' })
  assert.is(made.status, 303)
  const row = String(made.headers.location)
  const nameOf = async () =>
    (await service.send(row.replace('/explore', '/api/v1'), { headers: { authorization: `Bearer ${token}` } })).body
      .name
  assert.equal((await send(`${row}/edit`, 'hr', { name: 'Newer' })).headers.location, row)
  assert.is(await nameOf(), 'Newer')
  for (const origin of ['', 'https://evil.example', 'null', `${service.address}0`])
    assert.is((await send(`${row}/edit`, 'hr', { name: 'Evil' }, { origin })).status, 403)
  assert.is((await send(`${row}/edit`, undefined, { name: 'Evil' })).status, 401)
  assert.is((await send(`${row}/edit`, undefined, { name: 'Evil' }, { cookie: 'registry_session=AAAA' })).status, 401)
  assert.is((await send(`${row}/edit`, 'ana', { name: 'Evil' })).status, 404)
  assert.is(await nameOf(), 'Newer')
  assert.is((await send('/explore/people/2/edit', 'ana', { name: 'Ana' })).status, 303)
  // A field that is hidden is none of the form.
  assert.is((await send('/explore/people/2/edit', 'ana', { salary: '9' })).status, 303)
  assert.match((await page('/explore/people/2', 'hr')).text, /4,002/)
  assert.is((await send('/explore/people/new', 'ana', { name: 'x' })).status, 403)
  assert.is((await send(`${row}/delete`, 'hr', {})).headers.location, '/explore/people')
  assert.is((await send('/explore/countries/new', 'hr', { id: 'new', name: 'A' })).status, 303)
  assert.is((await send('/explore/countries/rows/new/edit', 'hr', { name: 'B' })).status, 303)
  const api = { cookie: cookies['hr'] as string, ...origin }
  assert.is((await write('/api/v1/people', 'POST', api, { name: 'x' })).status, 401)
  assert.is((await service.send('/api/v1/people', { headers: api })).status, 401)
  const asKey = { authorization: `Bearer ${cookies['hr']?.split('=')[1]}` }
  assert.is((await service.send('/api/v1/people', { headers: asKey })).status, 401)
})

test('what was typed is there again after the sign-in, if a session has ended meanwhile', async () => {
  const typed = { name: 'Typed "so"', 'form.key': 'k' }
  const ended = await postForm(service, '/explore/open/new', typed)
  assert.is(ended.status, 401)
  assert.match(ended.text, /<form class="sign-in" method="post" action="\/explore\/open\/new"/)
  assert.match(ended.text, /name="name" value="Typed &quot;so&quot;"/)
  const wrong = await postForm(service, '/explore/open/new', { ...typed, 'form.secret': 'wrong' })
  assert.equal([wrong.status, wrong.headers['set-cookie']], [401, undefined])
  assert.match(wrong.text, /is not known/)
  assert.not.match(wrong.text, /value="wrong"/)
  const again = await postForm(service, '/explore/open/new', { ...typed, 'form.secret': token })
  assert.is(again.status, 200)
  assert.match(cookieOf(again), /^registry_session=/)
  assert.match(again.text, /id="field-name"[^>]* value="Typed &quot;so&quot;"/)
  assert.is(again.headers['cache-control'], 'private, no-store')
  const foreign = await postForm(service, '/explore/open/new', typed, { origin: 'https://evil.example' })
  assert.is(foreign.status, 403)
  assert.not.match(foreign.text, /Typed/)
})

test('errors, redirects and writes of signed-in people stay in their browsers', async () => {
  const cookie = cookies[token] as string
  for (const response of [
    await page('/explore/people/99', token),
    await page('/explore/nothing', token),
    await page('/explore/people/', token),
    await postForm(service, '/explore/open/new', { name: 'x' }, { cookie }),
    await postForm(service, '/explore/open/new', { name: 'x', 'form.key': 'no key' }, { cookie }),
  ]) {
    assert.is(response.headers['cache-control'], 'private, no-store')
    assert.match(String(response.headers.vary), /cookie/i)
  }
})

test('a session ends: by sign-out, with its key, and when its roles change', async () => {
  callers['bob'] = { roles: ['hr'] }
  cookies['bob'] = cookieOf(await signIn('bob'))
  assert.is((await page('/explore/people', 'bob')).status, 200)
  callers['bob'] = { roles: [] }
  assert.is((await page('/explore/people', 'bob')).status, 403)
  delete callers['bob']
  assert.is((await page('/explore/people', 'bob')).status, 401)
  const out = await write('/explore/sign-out', 'POST', { cookie: cookies['hr'] as string, ...origin })
  assert.is(out.status, 303)
  assert.match(String(out.headers['set-cookie']?.[0]), /^registry_session=; Max-Age=0/)
  assert.is((await write('/explore/sign-out', 'POST', { cookie: cookies['hr'] as string })).status, 403)
})

test('a token can sign in, for as long as it is valid', async () => {
  const exp = Math.floor(Date.now() / 1_000) + 100
  const jwt = await new SignJWT({ sub: 'eve', aud: 'registry', exp, person_id: 3, roles: [], long: 'x'.repeat(6_000) })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(secret))
  const signed = await signIn(jwt)
  assert.is(signed.status, 303)
  const [cookie] = signed.headers['set-cookie'] as [string]
  assert.ok(cookie.length < 1_000)
  assert.match(cookie, /Max-Age=1[56]\d;/)
  cookies['eve'] = cookieOf(signed)
  const table = await page('/explore/people', 'eve')
  assert.match(table.text, /Person 3/)
  assert.not.match(table.text, /Person 1/)
  // Without a subject, and with more roles than a cookie could hold.
  const roles = ['hr', ...Array.from({ length: 300 }, (_, n) => `group-of-the-company-${n}`)]
  const large = await new SignJWT({ aud: 'registry', exp, roles })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(secret))
  const many = await signIn(large)
  assert.ok(String(many.headers['set-cookie']?.[0]).length < 1_000)
  cookies['large'] = cookieOf(many)
  assert.match((await page('/explore/people', 'large')).text, /Person 1/)
})

test('a token that has signed in keeps the roles that set fields', async () => {
  for (const [role, isShown] of [
    ['warden', true],
    ['guest', false],
  ] as const) {
    const exp = Math.floor(Date.now() / 1_000) + 100
    const jwt = await new SignJWT({ sub: role, aud: 'registry', exp, roles: [role] })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(secret))
    cookies[role] = cookieOf(await signIn(jwt))
    assert.is(/id="field-level"/.test((await page('/explore/badges/new', role)).text), isShown, role)
  }
})

test('pages have no CORS headers, and an address with many failures waits', async () => {
  for (const path of ['/', '/explore/people', '/explore/open', '/explore/sign-in']) {
    for (const method of ['GET', 'OPTIONS']) {
      const { headers } = await service.send(path, { method, headers: { origin: 'https://elsewhere.example' } })
      assert.equal(
        Object.keys(headers).filter((name) => name.startsWith('access-control')),
        [],
        `${method} ${path}`,
      )
    }
  }
  const failing = await startService({ registry, explorer: true, credentials: callersNamed(callers) })
  const attempt = async () => {
    const started = performance.now()
    const { status } = await failing.send('/explore/sign-in', { method: 'POST', headers: form, body: 'key=x' })
    return [status, performance.now() - started] as const
  }
  for (let n = 0; n < 5; n++) assert.is((await attempt())[0], 401)
  const [, waited] = await attempt()
  assert.ok(waited >= 950, String(waited))
  // Attempts at once wait one after the other, and not without end.
  const statuses = (await Promise.all(Array.from({ length: 14 }, attempt))).map(([status]) => status)
  assert.ok(statuses.includes(429))
})

test.run()
