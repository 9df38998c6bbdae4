/** Deletes of the explorer that are taken back: rows as they were, with what was deleted with them, or no offer. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { decimal, integer, json, now, text, timestamp, uuid } from '../../engine/descriptor/index.js'
import { callersNamed } from '../support/callers.js'
import { resourceIn } from '../support/registryFrom.js'
import { authorized, startService } from '../support/service.js'

const boxes = resourceIn(
  'boxes',
  {
    name: text({ unique: true }),
    price: decimal({ digits: 12, places: 2 }),
    extra: json(),
    secret: text({ redacted: true }),
    made: timestamp({ managed: now }),
  },
  { delete: true },
)
const orders = resourceIn('orders', { name: text(), extra: json() }, { id: 'text', delete: true } as object)
const parts = resourceIn(
  'parts',
  {
    box_id: integer({ references: 'boxes', onDelete: 'cascade', filter: true }),
    order_id: text({ references: 'orders', onDelete: 'cascade' }),
    tag: uuid(),
  },
  { id: 'uuid', delete: true } as object,
)
const notes = resourceIn('notes', { part_id: uuid({ references: 'parts', onDelete: 'set null' }) }, { delete: true })

const service = await startService({
  registry: [boxes, orders, parts, notes],
  explorer: true,
  credentials: callersNamed({ other: { roles: [] } }),
})
const test = suite('undo')

const post = (path: string, body: object, headers: Record<string, string> = authorized) =>
  service.send(path, { method: 'POST', headers, body: JSON.stringify(body) })
const remove = (...paths: string[]) =>
  post('/explore/batch', { operations: paths.map((path) => ({ method: 'DELETE', path: `/v1/${path}` })) })
const restore = (undo: string, headers?: Record<string, string>) => post('/explore/batch/undo', { undo }, headers)
const read = async (path: string) => (await service.get(`/v1/${path}`)).body

test('a deleted row comes back as it was, with its id and what was deleted with it', async () => {
  const values = { name: 'A', price: '1.50', secret: 'hidden', extra: { b: 1, a: [1.5, 'x', null] } }
  const box = (await service.create('boxes', values)).body
  const [one, two] = await Promise.all(
    [1, 2].map(async () => (await service.create('parts', { box_id: box.id, tag: crypto.randomUUID() })).body),
  )
  const { status, body } = await remove(`boxes/${box.id}`)
  assert.is(status, 200)
  assert.is((await service.get(`/v1/parts/${one.id}`)).status, 404)
  assert.not.match(body.undo, /hidden/)
  assert.is((await restore(body.undo)).body.restored, 3)
  assert.equal(await read(`boxes/${box.id}`), box)
  assert.equal(await read(`parts/${one.id}`), one)
  assert.equal(await read(`parts/${two.id}`), two)
  assert.is((await read('boxes?q=A')).meta.total, 1)
  // Once only: the rows are there.
  assert.is((await restore(body.undo)).status, 422)
  // New rows have new ids.
  assert.ok((await service.create('boxes', { name: 'Next' })).body.id > box.id)
})

test('texts that are ids, and JSON that is a text, come back', async () => {
  const order = (await service.create('orders', { id: 'a b/ü', name: 'x', extra: 'just a "text"' })).body
  const { body } = await remove(`orders/${encodeURIComponent(order.id)}`)
  assert.is((await restore(body.undo)).status, 200)
  assert.equal(await read(`orders/${encodeURIComponent(order.id)}`), order)
})

test('no offer is made where a row would refer to nothing', async () => {
  const part = (await service.create('parts', {})).body
  const note = (await service.create('notes', { part_id: part.id })).body
  const { status, body } = await remove(`parts/${part.id}`)
  assert.is(status, 200)
  assert.is(body.undo, undefined)
  assert.is((await read(`notes/${note.id}`)).part_id, null)
})

test('a row whose unique value was taken meanwhile does not come back', async () => {
  const box = (await service.create('boxes', { name: 'Taken' })).body
  const { body } = await remove(`boxes/${box.id}`)
  await service.create('boxes', { name: 'Taken' })
  const refused = await restore(body.undo)
  assert.is(refused.status, 422)
  assert.match(refused.body.error.details.issues[0].msg, /taken its place/)
})

test('only who has deleted a row takes it back, with what the service has sealed', async () => {
  const box = (await service.create('boxes', { name: 'Mine' })).body
  const { body } = await remove(`boxes/${box.id}`)
  const other = { ...authorized, authorization: 'Bearer other' }
  assert.ok([401, 422].includes((await restore(body.undo, other)).status))
  assert.is((await restore(body.undo, { 'content-type': 'application/json' })).status, 401)
  assert.is((await restore(`A${body.undo.slice(1)}`)).status, 422)
  assert.is((await restore('')).status, 422)
  assert.is((await post('/explore/batch/undo', [])).status, 422)
  assert.is((await service.get(`/v1/boxes/${box.id}`)).status, 404)
})

test('a batch has the tags of its rows', async () => {
  const order = (await service.create('orders', { id: 'tagged', name: 'x', extra: { n: 1.0 } })).body
  assert.ok(order)
  const { body } = await post('/explore/batch', {
    operations: [{ method: 'POST', path: '/v1/orders', body: { id: 'second' } }],
  })
  const { headers } = await service.get('/v1/orders/second')
  assert.is(headers.etag, `"${body.tags[0]}"`)
})

test.run()
