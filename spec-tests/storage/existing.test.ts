/** Tables of another program: what their tags, keys and deletes are, and the values that it has stored. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { decimal, integer, json, now, number, text, timestamp, uuid } from '../../engine/descriptor/index.js'
import { planStorage } from '../../engine/storage/open.js'
import { server } from '../support/database.js'
import { existingTables, foreignDatabase, foreignId } from '../support/foreignTables.js'
import { startService } from '../support/service.js'

const [time, real] = server ? ['timestamp', 'double precision'] : ['datetime', 'real']

const test = suite('existing tables')

test('the tag of a list is a digest that changes with the rows, and an idempotency key is refused, never ignored', async () => {
  const { url, run } = await foreignDatabase(
    `create table teams (${foreignId}, name text)`,
    `insert into teams (name) values ('Red'), ('Blue')`,
  )
  const service = await startService({ url, registry: existingTables({ teams: { fields: { name: text() } } }) })
  const tagOf = async () => (await service.get('/v1/teams')).headers['etag'] as string
  const tag = await tagOf()
  assert.is(await tagOf(), tag)
  assert.is((await service.send('/api/v1/teams', { headers: { 'if-none-match': tag } })).status, 304)
  await run(`update teams set name = 'Green' where id = 2`)
  assert.is.not(await tagOf(), tag)
  const key = { 'idempotency-key': 'k' }
  for (const { status, body } of [
    await service.create('teams', { name: 'x' }, key),
    await service.change('teams/2', {}, key),
    await service.remove('teams/2', key),
  ])
    assert.equal([status, body.error.code], [501, 'not_supported'])
})

test('a delete that sets references to null is a change of these rows, and more than 10,000 others are too many', async () => {
  const numbers = server
    ? 'select n from generate_series(1, 10002) as n'
    : 'with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 10002) select n from numbers'
  const changed = timestamp({ managed: true, onUpdate: now })
  const crew_id = integer({ references: 'crews', onDelete: 'set null', filter: true })
  const registry = existingTables({
    crews: { fields: { name: text() } },
    sailors: { fields: { changed, crew_id } },
  })
  const { url } = await foreignDatabase(
    `create table crews (${foreignId}, name text)`,
    `create table sailors (${foreignId}, changed ${time}, crew_id integer references crews (id) on delete set null)`,
    `insert into crews (name) values ('Red'), ('Blue')`,
    `insert into sailors (changed, crew_id) select '2026-03-01 00:00:00', case when n > 1 then 1 else 2 end from (${numbers}) as numbers`,
  )
  const service = await startService({ url, registry })
  const refused = await service.remove('crews/1')
  assert.equal([refused.status, refused.body.error.code], [409, 'referenced'])
  assert.equal(refused.body.error.details.references, [{ resource: 'sailors', field: 'crew_id', count: 10_001 }])
  assert.is((await service.remove('crews/2')).status, 204)
  const { body } = await service.get('/v1/sailors/1')
  assert.equal([body.crew_id, body.changed > '2026-03-01T00:00:00.000Z'], [null, true])
  for (const row of ['sailors/2', 'crews/1']) assert.is((await service.remove(row)).status, 204)
  assert.is((await service.get('/v1/sailors?crew_id.null=true')).body.meta.total, 10_001)
})

test('rows that are served as null in a required field are reported, and do not prevent a start', async () => {
  const wrong = server ? `'NaN', 'infinity'` : `'long', 'tomorrow'`
  const required = ['length', 'shown']
  const registry = existingTables({ films: { required, fields: { length: number(), shown: timestamp() } } })
  const { url } = await foreignDatabase(
    `create table films (${foreignId}, length ${real} not null, shown ${time} not null)`,
    `insert into films (length, shown) values (1.5, '2026-03-01 09:30:00'), (${wrong}), (${wrong})`,
  )
  const { differences } = await planStorage(registry, url, 5_000, { withValues: true })
  assert.equal(
    differences.map(({ column, message, isBlocking, isError }) => [column, message, isBlocking, isError]),
    ['number', 'timestamp'].map((kind, n) => [
      required[n],
      `the field is required, but 2 rows (id 2, 3) have no value of ${kind}(), so responses show null.`,
      false,
      true,
    ]),
  )
})

test('decimals, JSON and UUIDs that another program has stored', async () => {
  const fields = {
    price: decimal({ digits: 10, places: 2, filter: true, sort: true, range: true }),
    total: decimal({ digits: 15, places: 4, filter: true, range: true }),
    settings: json(),
    tag: uuid({ filter: true }),
  }
  const { url } = await foreignDatabase(
    `create table items (${foreignId}, price decimal(10,2), total decimal(15,4), settings ${server ? 'jsonb' : 'json'}, tag ${server ? 'uuid' : 'text'})`,
    `insert into items (price, total, settings, tag) values
      (0.1, 12345678901.2345, '{"b": 1.50, "a": [1, 2]}', '0190D8A1-6F2E-7C3A-9B1D-2F4E6A8C0B1D'),
      (12, -0.0001, '7', null), (1.1, 99999999999.9999, '"x"', null), (null, 0, null, null)`,
  )
  const { get, change } = await startService({ url, registry: existingTables({ items: { fields } }) })
  const tag = '0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d'
  assert.equal((await get('/v1/items')).body.data, [
    { id: 1, price: '0.10', total: '12345678901.2345', settings: { a: [1, 2], b: 1.5 }, tag },
    { id: 2, price: '12.00', total: '-0.0001', settings: 7, tag: null },
    { id: 3, price: '1.10', total: '99999999999.9999', settings: 'x', tag: null },
    { id: 4, price: null, total: '0.0000', settings: null, tag: null },
  ])
  for (const [query, ids] of [
    ['price=0.10', [1]],
    ['price.gt=0.1', [2, 3]],
    ['price.lte=1.1&sort=-price', [3, 1]],
    ['total=12345678901.2345', [1]],
    ['total.gte=99999999999.9999', [3]],
    [`tag=${tag}`, [1]],
    [`tag=${tag.toUpperCase()}`, [1]],
  ] as const) {
    const { data } = (await get(`/v1/items?${query}`)).body
    assert.equal(
      data.map((row: { id: number }) => row.id),
      ids,
      query,
    )
  }
  const read = await get('/v1/items/1')
  const same = { price: '0.1', total: '12345678901.2345', tag: tag.toUpperCase() }
  assert.is((await change('items/1', same)).headers['etag'], read.headers['etag'])
  const values = { price: '0.30', total: '-12345678901.2345', settings: { z: [1], a: null } }
  const changed = await change('items/1', { ...values, price: '0.3' })
  assert.equal(changed.body, { ...read.body, ...values })
  // jsonb sorts members, so the same object in another order changes nothing.
  assert.is((await change('items/1', { settings: values.settings })).headers['etag'], changed.headers['etag'])
  assert.equal((await get('/v1/items/1')).body, changed.body)
})

test.run()
