/** The changes of a resource over HTTP: pages, cursors, waits, and what each caller is told. */
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim, type Descriptor } from '../../engine/descriptor/define.js'
import { integer, text } from '../../engine/descriptor/index.js'
import type { Registry, Resource } from '../../engine/descriptor/registry.js'
import type { Storage } from '../../engine/storage/storage.js'
import { callersNamed } from '../support/callers.js'
import { registryFrom } from '../support/registryFrom.js'
import { authorized, closeServices, issuesOf, sessionOf, startService, type TestResponse } from '../support/service.js'
import { until } from '../support/until.js'

const resource = (name: string, fields: Descriptor['fields'], more: Partial<Descriptor> = {}) => ({
  name,
  area: 'Test',
  table: `${name.toLowerCase()}s`,
  required: [],
  create: true,
  update: true,
  delete: true,
  changes: true,
  fields,
  ...more,
})

const books = { title: text(), wait: integer({ filter: true }) }

const guarded = () =>
  registryFrom({
    loans: resource(
      'Loan',
      { owner: integer({ filter: true }), note: text(), wait: text({ readBy: ['staff'] }) },
      { access: { read: ['staff', { owner: claim('owner') }], create: 'staff', update: 'staff', delete: 'staff' } },
    ),
    items: resource(
      'Item',
      { name: text(), loan_id: integer({ references: 'loans', filter: true }) },
      { access: { read: ['staff', { 'loan_id.owner': claim('owner') }], create: 'staff', update: 'staff' } },
    ),
  })

const startGuarded = async (wrapStorage?: (storage: Storage) => Storage, explorer = false) => {
  const callers: Parameters<typeof callersNamed>[0] = {
    staff: { roles: ['staff'] },
    one: { roles: [], claims: { owner: 1 } },
    two: { roles: [], claims: { owner: 2 } },
    nothing: { roles: [] },
  }
  const service = await startService({
    registry: guarded(),
    credentials: callersNamed(callers),
    explorer,
    ...(wrapStorage && { wrapStorage }),
  })
  const as = (name: string) => ({ authorization: `Bearer ${name}` })
  const write = async (method: string, path: string, body?: object): Promise<TestResponse> => {
    const response = await service.send(`/api/v1/${path}`, {
      method,
      headers: { ...authorized, ...as('staff') },
      ...(body && { body: JSON.stringify(body) }),
    })
    assert.ok(response.status < 300, response.text)
    return response
  }
  const changes = (name: string, path: string, query = '') =>
    service.send(`/api/v1/${path}/changes${query && `?${query}`}`, { headers: as(name) })
  const now = async (name: string, path: string): Promise<string> => (await changes(name, path)).body.meta.next
  return { service, callers, write, changes, now, as }
}

/** The entries of a page, without their times. */
const told = ({ status, body, text }: TestResponse): object[] => {
  assert.is(status, 200, text)
  return body.data.map(({ at, ...entry }: { at: string }) => {
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000, at)
    return entry
  })
}

const test = suite('changes')

test('a page tells each row once, as it is now, in the order of its changes', async () => {
  const { get, create, change, remove } = await startService({
    registry: registryFrom({ books: resource('Book', books) }),
  })
  const first = await get('/v1/books/changes')
  assert.equal(told(first), [])
  assert.is(first.headers['cache-control'], 'private, no-store')
  assert.not('etag' in first.headers)
  const { next, more } = first.body.meta
  assert.is(more, false)
  for (const title of ['One', 'Two', 'Three']) await create('books', { title })
  await change('books/1', { title: 'First' })
  await remove('books/2')
  const page = await get(`/v1/books/changes?after=${next}`)
  assert.equal(told(page), [
    { op: 'put', id: 1, row: { id: 1, title: 'First', wait: null } },
    { op: 'remove', id: 2 },
    { op: 'put', id: 3, row: { id: 3, title: 'Three', wait: null } },
  ])
  assert.equal(page.body.meta.more, false)
  assert.equal(told(await get(`/v1/books/changes?after=${page.body.meta.next}`)), [])
  // In pages, and by HEAD.
  const ids: number[] = []
  for (let [after, isMore] = [next, true]; isMore; ) {
    const { body } = await get(`/v1/books/changes?after=${after}&limit=1`)
    assert.ok(body.data.length <= 1)
    ids.push(...body.data.map(({ id }: { id: number }) => id))
    ;[after, isMore] = [body.meta.next, body.meta.more]
  }
  assert.equal([...new Set(ids)].sort(), [1, 2, 3])
})

test('ids that are texts are texts', async () => {
  const registry = registryFrom({ books: resource('Book', books, { id: 'text' }) })
  const { get, create, remove } = await startService({ registry })
  const { next } = (await get('/v1/books/changes')).body.meta
  await create('books', { id: 'a "b" ä' })
  await create('books', { id: '7' })
  await remove('books/7')
  assert.equal(told(await get(`/v1/books/changes?after=${next}`)), [
    { op: 'put', id: 'a "b" ä', row: { id: 'a "b" ä', title: null, wait: null } },
    { op: 'remove', id: '7' },
  ])
})

test('parameters out of bounds, and cursors of something else, are 422', async () => {
  const registry = registryFrom({ books: resource('Book', books), films: resource('Film', { title: text() }) })
  const { get } = await startService({ registry })
  const { next } = (await get('/v1/books/changes')).body.meta
  const issues = async (query: string) => issuesOf(await get(`/v1/books/changes?${query}`))
  assert.equal(await issues('limit=0&wait=51'), ['greater_than_equal query limit', 'less_than_equal query wait'])
  assert.equal(await issues('limit=1001&wait=-1'), ['less_than_equal query limit', 'greater_than_equal query wait'])
  assert.equal(await issues('limit=x'), ['int_parsing query limit'])
  const cursor = ['value_error query after']
  assert.equal(await issues('after='), cursor)
  assert.equal(await issues('after=x&wait=30'), cursor)
  const other = (await get('/v1/films/changes')).body.meta.next
  assert.equal(await issues(`after=${other}`), cursor)
  for (let at = 0; at < next.length; at += 7) {
    const changed = `${next.slice(0, at)}${next[at] === 'A' ? 'B' : 'A'}${next.slice(at + 1)}`
    assert.equal(await issues(`after=${changed}`), cursor, `changed at ${at}`)
  }
  assert.equal(await issues(`after=${next}A`), cursor)
  assert.is((await get(`/v1/books/changes?after=${next}&limit=1000&unknown=1`)).status, 200)
})

test('the documents and the index have it, of resources with changes alone', async () => {
  const registry = registryFrom({
    books: resource('Book', books),
    films: resource('Film', { title: text() }, { changes: false }),
  })
  const { get, send } = await startService({ registry })
  const { paths } = (await get('/openapi.json')).body
  assert.is(paths['/v1/books/changes'].get.operationId, 'followBooks')
  assert.equal(Object.keys(paths['/v1/books/changes'].get.responses).sort(), [
    '200',
    '400',
    '410',
    '422',
    '503',
    'default',
  ])
  assert.not('/v1/films/changes' in paths)
  assert.ok(
    '/v1/books/changes' in (await send('/swagger.json')).body.paths ||
      '/api/v1/books/changes' in (await send('/swagger.json')).body.paths,
  )
  const { resources } = (await get('/')).body
  assert.equal(
    resources.map(({ changes }: { changes?: true }) => changes),
    [true, undefined],
  )
  // Elsewhere it is the id of a row.
  assert.is((await get('/v1/films/changes')).status, 404)
  assert.is((await send('/api/v1/books/changes', { method: 'POST' })).status, 405)
})

test('a wait ends on a change, and in its time without one', async () => {
  const { get, create } = await startService({ registry: registryFrom({ books: resource('Book', books) }) })
  const { next } = (await get('/v1/books/changes')).body.meta
  const begun = performance.now()
  const empty = await get(`/v1/books/changes?after=${next}&wait=1`)
  assert.equal(told(empty), [])
  assert.ok(performance.now() - begun > 990)
  const waiting = get(`/v1/books/changes?after=${empty.body.meta.next}&wait=30`)
  await sleep(300)
  await create('books', { title: 'New' })
  const stored = performance.now()
  assert.equal(told(await waiting), [{ op: 'put', id: 1, row: { id: 1, title: 'New', wait: null } }])
  assert.ok(performance.now() - stored < 3_000)
  // Without a cursor there is nothing to wait for.
  const asked = performance.now()
  assert.equal(told(await get('/v1/books/changes?wait=30')), [])
  assert.ok(performance.now() - asked < 1_000)
})

test('who may not read is refused; a key that is revoked, or has other rights, ends the wait so', async () => {
  const { service, callers, changes, now, write } = await startGuarded()
  assert.is((await service.send('/api/v1/loans/changes')).status, 401)
  assert.is((await changes('stranger', 'loans')).status, 401)
  assert.is((await changes('nothing', 'loans')).status, 403)
  const after = await now('one', 'loans')
  const of = { staff: await now('staff', 'loans'), two: await now('two', 'loans') }
  for (const cursor of Object.values(of)) {
    const refused = await changes('one', 'loans', `after=${cursor}&wait=30`)
    assert.equal([refused.status, refused.body.error.code], [410, 'resync'])
  }
  // A field of that name is hidden from this caller.
  assert.is((await changes('one', 'loans', `after=${after}&wait=0`)).status, 200)

  const revoked = changes('one', 'loans', `after=${after}&wait=30`)
  const changed = changes('two', 'loans', `after=${of.two}&wait=30`)
  await sleep(300)
  delete callers['one']
  callers['two'] = { roles: [], claims: { owner: 1 } }
  await write('POST', 'loans', { owner: 1 })
  await write('POST', 'loans', { owner: 2 })
  assert.is((await revoked).status, 401)
  assert.is((await changed).status, 410)
})

test('a cursor survives another order of claims and roles that allow the same', async () => {
  const { callers, changes, now } = await startGuarded()
  callers['one'] = { roles: [], claims: { owner: [1, 2] } }
  const after = await now('one', 'loans')
  callers['one'] = { roles: ['other'], claims: { owner: [2, 1], more: true } }
  assert.is((await changes('one', 'loans', `after=${after}`)).status, 200)
  callers['one'] = { roles: [], claims: { owner: [2, 3] } }
  assert.is((await changes('one', 'loans', `after=${after}`)).status, 410)
})

test('a row that leaves the view is removed, and one that was never in it is not mentioned', async () => {
  const { write, changes, now } = await startGuarded()
  for (const owner of [1, 2]) await write('POST', 'loans', { owner, wait: 'secret' })
  const [one, two] = [await now('one', 'loans'), await now('two', 'loans')]
  const seen = (id: number, owner: number, note: string | null) => ({
    op: 'put',
    id,
    row: { id, owner, note, wait: null },
  })
  await write('PATCH', 'loans/1', { note: 'read it' })
  await write('PATCH', 'loans/1', { owner: 2 })
  await write('PATCH', 'loans/2', { note: 'not yours' })
  await write('POST', 'loans', { owner: 2 })
  await write('DELETE', 'loans/3')
  assert.equal(told(await changes('one', 'loans', `after=${one}`)), [{ op: 'remove', id: 1 }])
  assert.equal(told(await changes('two', 'loans', `after=${two}`)), [
    seen(1, 2, 'read it'),
    seen(2, 2, 'not yours'),
    { op: 'remove', id: 3 },
  ])
  const after = await now('one', 'loans')
  await write('PATCH', 'loans/1', { note: 'later' })
  await write('DELETE', 'loans/1')
  // A change of a hidden field alone is none.
  const of = await now('two', 'loans')
  await write('PATCH', 'loans/2', { wait: 'other' })
  assert.equal(told(await changes('one', 'loans', `after=${after}`)), [])
  assert.equal(told(await changes('two', 'loans', `after=${of}`)), [])
})

test('hidden changes do not end a wait; a change of a referenced row that moves a row does', async () => {
  const { write, changes, now } = await startGuarded()
  for (const owner of [1, 2]) await write('POST', 'loans', { owner })
  for (const loan_id of [1, 2]) await write('POST', 'items', { name: `of ${loan_id}`, loan_id })
  let answered: TestResponse | undefined
  const waiting = changes('one', 'items', `after=${await now('one', 'items')}&wait=30`).then((response) => {
    answered = response
  })
  await sleep(300)
  await write('PATCH', 'items/2', { name: 'hidden' })
  await sleep(1_500)
  await write('PATCH', 'loans/2', { note: 'hidden' })
  await sleep(1_500)
  assert.is(answered, undefined)
  await write('PATCH', 'loans/2', { owner: 1 })
  await waiting
  assert.equal(told(answered as unknown as TestResponse), [
    { op: 'put', id: 2, row: { id: 2, name: 'hidden', loan_id: 2 } },
  ])
})

test('a hundred clients that wait cost one check a second, and one read for a change', async () => {
  const calls = { changes: 0, versions: 0 }
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    changes(...query) {
      calls.changes++
      return storage.changes(...query)
    },
    versions(resources: readonly Resource[]) {
      calls.versions++
      return storage.versions(resources)
    },
  })
  const { write, changes, now } = await startGuarded(wrapStorage)
  const after = await now('one', 'loans')
  calls.changes = 0
  const pages = Array.from({ length: 100 }, () => changes('one', 'loans', `after=${after}&wait=30`))
  await sleep(2_500)
  const before = calls.changes
  assert.ok(before <= 2, `${before} reads`)
  await write('POST', 'loans', { owner: 1 })
  const responses = await Promise.all(pages)
  assert.equal(new Set(responses.map((response) => response.text)).size, 1)
  assert.is(calls.changes, before + 1)
  assert.ok(calls.versions <= 6, `${calls.versions} checks`)
})

test('a client that leaves is forgotten', async () => {
  const read: number[] = []
  const registry: Registry = registryFrom({ books: resource('Book', books) })
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    versions(resources) {
      read.push(resources.length)
      return storage.versions(resources)
    },
  })
  const { address, get } = await startService({ registry, wrapStorage })
  const { next } = (await get('/v1/books/changes')).body.meta
  const left = request(`${address}/api/v1/books/changes?after=${next}&wait=50`).end()
  left.on('error', () => {})
  await until(() => read.length > 0)
  left.destroy()
  await sleep(1_500)
  const { length } = read
  await sleep(2_500)
  assert.is(read.length, length)
})

test('a page of the explorer follows its table as the person who has signed in, until the key is revoked', async () => {
  const { service, callers, write } = await startGuarded(undefined, true)
  const cookie = await sessionOf(service.address, 'one')
  const read = (path: string, headers: Record<string, string> = { cookie }) => service.send(path, { headers })
  const { text: html } = await read('/explore/loans')
  const [, url = '', after = ''] = /data-changes="([^"]+)" data-after="([^"]+)"/.exec(html) ?? []
  assert.is(url, '/explore/loans/changes')
  await write('POST', 'loans', { owner: 2 })
  await write('POST', 'loans', { owner: 1 })
  const page = await read(`${url}?after=${after}&wait=30`)
  assert.equal(told(page), [{ op: 'put', id: 2, row: { id: 2, owner: 1, note: null, wait: null } }])
  assert.is(page.headers['access-control-allow-origin'], undefined)
  const { status, body } = await read(url, {})
  assert.equal([status, body.error.code], [401, 'unauthorized'])
  const waiting = read(`${url}?after=${page.body.meta.next}&wait=3`)
  await sleep(300)
  delete callers['one']
  assert.is((await waiting).status, 401)
  assert.not.match((await read('/explore/loans', {})).text, /data-changes/)
})

test.after(closeServices)
test.run()
