/** The history of rows: what it tells, to whom, and what is left of it once it is erased. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim } from '../../engine/descriptor/define.js'
import {
  decimal,
  defineHook,
  defineOperation,
  defineResource,
  integer,
  json,
  number,
  text,
  timestamp,
  uuid,
  z,
} from '../../engine/descriptor/index.js'
import { callersNamed } from '../support/callers.js'
import { sharedDatabase } from '../support/database.js'
import { hooksNamed, operationsNamed } from '../support/ownOperations.js'
import { registryFrom } from '../support/registryFrom.js'
import { authorized, clientOf, startService, type TestResponse } from '../support/service.js'

const open = { create: true, update: true, delete: true, import: true } as const
const stamp = { managed: () => '2026-01-01T00:00:00.000Z' } as const

const things = defineResource({
  name: 'Thing',
  area: 'Test',
  table: 'things',
  fields: {
    title: text({ filter: true }),
    owner: text({ filter: true }),
    price: decimal({ digits: 12, places: 2 }),
    big: number(),
    data: json(),
    made: timestamp(stamp),
    secret: text({ redacted: true }),
    note: text({ readBy: ['chief'] }),
  },
  required: [],
  history: true,
  access: {
    read: ['reader', 'chief', { owner: claim('owner') }],
    create: 'signed-in',
    update: 'signed-in',
    delete: 'signed-in',
  },
  ...open,
})
const labels = defineResource({
  name: 'Label',
  area: 'Test',
  table: 'labels',
  id: 'text',
  fields: { owner: text({ filter: true }), text: text() },
  required: [],
  history: { days: 10 },
  access: {
    read: ['reader', { owner: claim('owner') }],
    create: 'signed-in',
    update: 'signed-in',
    delete: 'signed-in',
  },
  ...open,
})
const houses = defineResource({
  name: 'House',
  area: 'Test',
  table: 'houses',
  fields: { owner: text({ filter: true }) },
  required: [],
  ...open,
})
const rooms = defineResource({
  name: 'Room',
  area: 'Test',
  table: 'rooms',
  fields: { house_id: integer({ references: 'houses', onDelete: 'cascade', filter: true }), name: text() },
  required: [],
  history: true,
  access: {
    read: ['reader', { 'house_id.owner': claim('owner') }],
    create: 'reader',
    update: 'reader',
    delete: 'reader',
  },
  ...open,
})
const plans = defineResource({
  name: 'Plan',
  area: 'Test',
  table: 'plans',
  id: 'uuid',
  fields: { title: text(), other: uuid() },
  required: [],
  history: true,
  ...open,
})
const registry = registryFrom({ things, labels, houses, rooms, plans })

const operations = operationsNamed({
  rename: defineOperation({
    method: 'POST',
    path: '/v1/rename',
    about: 'Renames a thing with all rights.',
    access: 'signed-in',
    body: z.object({ id: z.int(), title: z.string() }),
    response: z.looseObject({}),
    async handle({ body, asService }) {
      return { renamed: await asService.of(things).update(body.id, { title: body.title }) }
    },
  }),
})
const hooks = hooksNamed({
  house: defineHook({
    resource: houses,
    on: ['create'],
    async handle({ row, asService }) {
      await asService.of(rooms).create({ house_id: row?.id ?? null, name: 'hall' })
    },
  }),
})
const database = await sharedDatabase()
const service = await startService({
  registry,
  operations,
  hooks,
  batch: true,
  url: database.url,
  credentials: callersNamed({
    ana: { roles: [], claims: { owner: 'ana' } },
    bob: { roles: [], claims: { owner: 'bob' } },
    reader: { roles: ['reader'] },
    chief: { roles: ['chief'] },
  }),
})
const { send } = clientOf(service.address)
const request = (method: string, path: string, caller?: string, body?: unknown, headers: Record<string, string> = {}) =>
  service.send(`/api/v1/${path}`, {
    method,
    headers: { ...authorized, ...(caller && { authorization: `Bearer ${caller}` }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
const created = async (path: string, body: object, caller?: string, headers?: Record<string, string>) =>
  (await request('POST', path, caller, body, headers)).body.id as number | string
const historyOf = (row: string, caller?: string, query = '') => request('GET', `${row}/history${query}`, caller)
/** The entries in short: `update ana {"title":["A","B"]}`. */
const inShort = ({ body, text: source }: TestResponse): string[] => {
  if (!body.data) throw new Error(source)
  return body.data.map((entry: { op: string; by: string; changed: Record<string, unknown> }) => {
    const { id: _, made: __, ...changed } = entry.changed
    return `${entry.op} ${entry.by} ${JSON.stringify(changed)}`
  })
}

const test = suite('history')

test('tells the changes, the newest first, and who has made them', async () => {
  const id = await created('things', { title: 'A', price: '1.50', owner: 'ana' }, 'ana')
  await request('PATCH', `things/${id}`, 'reader', { title: 'B' })
  await request('PATCH', `things/${id}`, undefined, { title: 'C', price: null })
  const answer = await historyOf(`things/${id}`, 'reader')
  assert.equal(inShort(answer), [
    'update API_TOKEN {"title":["B","C"],"price":["1.50",null]}',
    'update reader {"title":["A","B"]}',
    'create ana {"title":[null,"A"],"owner":[null,"ana"],"price":[null,"1.50"]}',
  ])
  assert.equal(answer.body.meta, { total: 3, limit: 50, offset: 0 })
  assert.match(answer.body.data[0].at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.is(answer.headers['cache-control'], 'private, no-cache')
  const page = await historyOf(`things/${id}`, 'reader', '?limit=1&offset=1')
  assert.equal(inShort(page), ['update reader {"title":["A","B"]}'])
  assert.equal(page.body.meta, { total: 3, limit: 1, offset: 1 })
  assert.equal(inShort(await historyOf(`things/${id}`, 'reader', '?offset=99999999999999999999')), [])
  assert.is((await historyOf(`things/${id}`, 'reader', '?limit=201')).status, 422)
})

test('values keep their digits and their order', async () => {
  const id = await created('things', {}, 'reader')
  const body = '{"data":{"b":1.10,"a":12345678901234567890},"big":0.1}'
  await request('PATCH', `things/${id}`, 'reader', body)
  const { text: source } = await historyOf(`things/${id}`, 'reader')
  assert.match(source, '"data":[null,{"b":1.10,"a":12345678901234567890}]')
  assert.match(source, '"big":[null,0.1]')
  for (const big of ['0.30000000000000004', '1e+21', '123456789012345680', '-1.5e-07', '3', '1e+300']) {
    await request('PATCH', `things/${id}`, 'reader', `{"big":${big}}`)
    const [, served] = /"big":([^,}]*)/.exec((await request('GET', `things/${id}`, 'reader')).text) ?? []
    const [, logged] = /"big":\[[^,]*,([^\]]*)\]/.exec((await historyOf(`things/${id}`, 'reader')).text) ?? []
    assert.is(logged, served)
  }
})

test('hidden fields are left out, and an update of nothing else is not listed or counted', async () => {
  const id = await created('things', { title: 'A', note: 'n1' }, 'chief')
  await request('PATCH', `things/${id}`, 'chief', { note: 'n2' })
  await request('PATCH', `things/${id}`, 'chief', { secret: 's' })
  assert.equal(inShort(await historyOf(`things/${id}`, 'chief')), [
    'update chief {"note":["n1","n2"]}',
    'create chief {"title":[null,"A"],"note":[null,"n1"]}',
  ])
  const answer = await historyOf(`things/${id}`, 'reader')
  assert.equal(inShort(answer), ['create chief {"title":[null,"A"]}'])
  assert.is(answer.body.meta.total, 1)
})

test('who may read the row reads what it was under former owners', async () => {
  const id = await created('things', { title: 'A', owner: 'ana' }, 'ana')
  assert.is((await historyOf(`things/${id}`, 'bob')).status, 404)
  await request('PATCH', `things/${id}`, 'reader', { owner: 'bob' })
  assert.is((await historyOf(`things/${id}`, 'ana')).status, 404)
  assert.equal(inShort(await historyOf(`things/${id}`, 'bob')), [
    'update reader {"owner":["ana","bob"]}',
    'create ana {"title":[null,"A"],"owner":[null,"ana"]}',
  ])
})

test('that of a deleted row is for those who might have read its last state', async () => {
  const id = await created('things', { title: 'A', owner: 'ana' }, 'ana')
  await request('DELETE', `things/${id}`, 'ana')
  assert.is((await request('GET', `things/${id}`, 'ana')).status, 404)
  assert.equal(inShort(await historyOf(`things/${id}`, 'ana')), [
    'delete ana {"title":["A",null],"owner":["ana",null]}',
    'create ana {"title":[null,"A"],"owner":[null,"ana"]}',
  ])
  assert.is((await historyOf(`things/${id}`, 'bob')).status, 404)
  assert.is((await historyOf(`things/${id}`)).body.meta.total, 2)
  assert.is((await historyOf('things/99999', 'reader')).status, 404)
  assert.is((await historyOf('things/x', 'reader')).status, 404)
  assert.is((await send(`/api/v1/things/${id}/history`)).status, 401)
})

test('of an id that was used again it begins with the last create, except for those who might have read the former row', async () => {
  const change = (method: string, by: string, body?: object) =>
    request(method, method === 'POST' ? 'labels' : 'labels/x', by, body)
  await change('POST', 'ana', { id: 'x', owner: 'ana', text: 'first' })
  await change('DELETE', 'ana')
  await change('POST', 'bob', { id: 'x', owner: 'bob', text: 'second' })
  await change('DELETE', 'bob')
  await change('POST', 'bob', { id: 'x', owner: 'bob', text: 'third' })
  assert.equal(inShort(await historyOf('labels/x', 'bob')), [
    'create bob {"owner":[null,"bob"],"text":[null,"third"]}',
    'delete bob {"owner":["bob",null],"text":["second",null]}',
    'create bob {"owner":[null,"bob"],"text":[null,"second"]}',
  ])
  assert.is((await historyOf('labels/x', 'reader')).body.meta.total, 5)
  assert.is((await historyOf('labels/x', 'ana')).status, 404)
  await request('PATCH', 'labels/x', 'reader', { owner: 'ana' })
  assert.is(inShort(await historyOf('labels/x', 'ana')).length, 2)
})

test('a rule through references decides by the referenced row as it is now', async () => {
  const house = await created('houses', { owner: 'ana' })
  const room = await created('rooms', { house_id: house, name: 'attic' }, 'reader')
  await request('DELETE', `rooms/${room}`, 'reader')
  assert.equal(inShort(await historyOf(`rooms/${room}`, 'ana')).length, 2)
  await request('PATCH', `houses/${house}`, undefined, { owner: 'bob' })
  assert.is((await historyOf(`rooms/${room}`, 'ana')).status, 404)
  assert.equal(inShort(await historyOf(`rooms/${room}`, 'bob')).length, 2)
  await request('DELETE', `houses/${house}`)
  assert.is((await historyOf(`rooms/${room}`, 'bob')).status, 404)
  assert.equal(inShort(await historyOf(`rooms/${room}`, 'reader')).length, 2)
})

test('code is shown under the name of its caller, cascades too, and other programs under none', async () => {
  const id = await created('things', { title: 'A' }, 'reader')
  await request('POST', 'rename', 'ana', { id, title: 'B' })
  await database.run(`update things set title = 'C' where id = ${id}`)
  await request('POST', 'batch', 'bob', {
    operations: [{ method: 'POST', path: '/v1/labels', body: { id: 'by-bob', owner: 'bob' } }],
  })
  await request('POST', 'labels/import', 'ana', [{ id: 'by-ana', owner: 'ana' }])
  assert.equal(inShort(await historyOf(`things/${id}`, 'reader')), [
    'update null {"title":["B","C"]}',
    'update ana {"title":["A","B"]}',
    'create reader {"title":[null,"A"]}',
  ])
  assert.equal(inShort(await historyOf('labels/by-bob')), ['create bob {"owner":[null,"bob"]}'])
  assert.equal(inShort(await historyOf('labels/by-ana')), ['create ana {"owner":[null,"ana"]}'])
  const house = await created('houses', {}, undefined)
  const hall = (await request('GET', 'rooms?sort=-id&limit=1', 'reader')).body.data[0].id
  await request('DELETE', `houses/${house}`)
  assert.equal(
    inShort(await historyOf(`rooms/${hall}`, 'reader')).map((line) => line.split('{')[0]),
    ['delete API_TOKEN ', 'create API_TOKEN '],
  )
})

test('a public resource has a public history', async () => {
  const id = await created('plans', { title: 'A' })
  assert.equal(inShort(await send(`/api/v1/plans/${id}/history`)), ['create API_TOKEN {"title":[null,"A"]}'])
})

test('entries that are too old are not shown', async () => {
  await created('labels', { id: 'old', text: 'A' }, 'reader')
  await request('PATCH', 'labels/old', 'reader', { text: 'B' })
  await database.run(`update registry_log set at = at - 10 * 86400000 where id = 'old' and op = 'create'`)
  assert.equal(inShort(await historyOf('labels/old', 'reader')), ['update reader {"text":["A","B"]}'])
})

const erase = (row: string, caller?: string) => request('DELETE', `${row}/history`, caller)
/** Everything that the tables of the service have of changes, as one text. */
const kept = async (): Promise<string> => {
  const tables = await Promise.all(
    ['registry_log', 'registry_keys'].map((name) => database.run(`select * from ${name}`)),
  )
  return JSON.stringify(tables, (_, value) => (value?.type === 'Buffer' ? String(Buffer.from(value.data)) : value))
}

test('only the write token erases', async () => {
  const id = await created('things', { title: 'A', owner: 'ana' }, 'ana')
  assert.is((await erase(`things/${id}`, 'ana')).status, 403)
  assert.is((await send(`/api/v1/things/${id}/history`, { method: 'DELETE' })).status, 401)
  assert.is((await erase(`things/${id}`)).status, 204)
  assert.is((await erase('things/99999')).status, 404)
})

test('erasing leaves who and when, and no value in the log or in the responses of retries', async () => {
  const key = (name: string) => ({ 'idempotency-key': name })
  const sent = { title: 'erased-1', owner: 'ana' }
  const id = await created('things', sent, 'ana', key('create'))
  const change = (caller: string) => request('PATCH', `things/${id}`, caller, { title: 'erased-2' }, key('update'))
  await change('reader')
  const operation = { id, title: 'erased-3' }
  await request('POST', 'rename', 'reader', operation, key('rename'))
  const batch = { operations: [{ method: 'PATCH', path: `/v1/things/${id}`, body: { title: 'erased-4' } }] }
  await request('POST', 'batch', 'reader', batch, key('batch'))
  const other = await created('things', { title: 'other' }, 'reader', key('other'))
  await request('PATCH', `things/${id}`, 'reader', { title: 'now' })
  assert.match(await kept(), 'erased-1')
  assert.is((await erase(`things/${id}`)).status, 204)
  assert.is(/erased-\d/.test(await kept()), false)
  const lines = ['update reader {}', 'update reader {}', 'update reader {}', 'update reader {}', 'create ana {}']
  assert.equal(inShort(await historyOf(`things/${id}`)), lines)
  assert.equal(inShort(await historyOf(`things/${id}`, 'chief')), lines)
  // Which of the updates show something to them is not known any more.
  assert.equal(inShort(await historyOf(`things/${id}`, 'reader')), ['create ana {}'])
  const replays = [
    await request('POST', 'things', 'ana', sent, key('create')),
    await change('reader'),
    await request('POST', 'batch', 'reader', batch, key('batch')),
  ]
  assert.equal(
    replays.map(({ status, headers }) => [status, headers['idempotency-replayed']]),
    [
      [201, 'true'],
      [200, 'true'],
      [200, 'true'],
    ],
  )
  assert.equal(
    [replays[0]?.body.title, replays[1]?.body.title, replays[2]?.body.results[0].body.title],
    ['now', 'now', 'now'],
  )
  const { status, body } = await request('POST', 'rename', 'reader', operation, key('rename'))
  assert.equal([status, body.error.code], [410, 'erased'])
  assert.is((await request('GET', `things/${id}`, 'reader')).body.title, 'now')
  assert.is(await created('things', { title: 'other' }, 'reader', key('other')), other)
  await request('PATCH', `things/${id}`, 'reader', { title: 'later' })
  assert.is(inShort(await historyOf(`things/${id}`, 'reader'))[0], 'update reader {"title":["now","later"]}')
})

test('what is erased of a deleted row is only for the write token', async () => {
  const id = await created('things', { title: 'A', owner: 'ana' }, 'ana')
  await request('DELETE', `things/${id}`, 'ana')
  await erase(`things/${id}`)
  assert.equal(inShort(await historyOf(`things/${id}`)), ['delete ana {}', 'create ana {}'])
  assert.is((await historyOf(`things/${id}`, 'ana')).status, 404)
  assert.is((await historyOf(`things/${id}`, 'reader')).status, 404)
  const plan = await created('plans', { title: 'A' })
  await request('DELETE', `plans/${plan}`)
  assert.is((await send(`/api/v1/plans/${plan}/history`)).status, 200)
  await erase(`plans/${plan}`)
  assert.is((await send(`/api/v1/plans/${plan}/history`)).status, 404)
  assert.is((await historyOf(`plans/${plan}`)).status, 200)
})

test('a token cannot have the name of the write token, nor a resource another name of its operations', async () => {
  const document = await service.get('/openapi.json')
  const operationsAt = document.body.paths['/v1/things/{item_id}/history']
  assert.equal(
    [operationsAt.get.operationId, operationsAt.delete.operationId],
    ['getThingHistory', 'eraseThingHistory'],
  )
  assert.is(document.body.paths['/v1/houses/{item_id}/history'], undefined)
  const index = await service.get('')
  const { history, eraseHistory } = index.body.resources.find(({ name }: { name: string }) => name === 'Thing')
  assert.equal([history, eraseHistory], [true, undefined])
})

test.run()
