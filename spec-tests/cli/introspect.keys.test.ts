/** Tables whose keys are UUIDs, texts, large integers or several columns are served from what introspection writes. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { server } from '../support/database.js'
import { schemaOf } from '../support/foreignTables.js'
import { serveIntrospected } from '../support/introspected.js'
import { followPages } from '../support/service.js'

const [json, uuid, big] = server ? ['jsonb', 'uuid', 'bigint'] : ['json', 'uuid', 'integer']
const ids = {
  ann: '0190d8a1-6f2e-7c3a-9b1d-000000000001',
  order: '0190d8a1-6f2e-7c3a-9b1d-000000000002',
  nobody: '0190d8a1-6f2e-7c3a-9b1d-00000000000f',
}

const shop = await serveIntrospected(
  [
    'create table countries (code char(2) primary key, name text not null)',
    `create table customers (id ${uuid} ${server ? 'default gen_random_uuid() ' : ''}primary key, name text not null, country char(2) references countries (code), ref ${uuid} unique)`,
    `create table products ("SKU" varchar(20) primary key, price numeric(10,2) not null default 0, share decimal(15, 5) check (share >= 0.5), rest numeric(30,2), details ${json} not null default '{}', secret_token ${uuid})`,
    `create table orders (id ${uuid} primary key, customer_id ${uuid} not null references customers (id), sku varchar(20) references products ("SKU"), customer_ref ${uuid} references customers (ref))`,
    `create table receipts (id ${uuid} primary key references orders (id), total numeric(12,2))`,
    `insert into countries values ('DE', 'Germany'), ('X', 'Elsewhere'), ('ÄÖ', 'Umlaut')`,
    `insert into customers (id, name, country) values ('${ids.ann}', 'Ann', 'DE')`,
    `insert into products values ('a/b c', 1.5, 0.75, 1.25, '{"b": 1, "a": [true]}', null)`,
    `insert into orders values ('${ids.order}', '${ids.ann}', 'a/b c', null)`,
    `insert into receipts values ('${ids.order}', 3)`,
  ],
  { update: true, delete: true },
)

const test = suite('introspected keys')

test('the key of a table becomes its id', () => {
  assert.equal(
    shop.registry.map(({ path, id, idColumn, create }) => [path, id, idColumn, create]),
    [
      ['countries', 'text', 'code', true],
      ['customers', 'uuid', undefined, true],
      ['orders', 'uuid', undefined, true],
      ['products', 'text', 'SKU', true],
      ['receipts', 'uuid', undefined, false],
    ],
  )
})

test('what no descriptor can express is noted', () => {
  const type = 'numeric(30,2)'
  assert.equal(shop.notes, [
    'orders: the reference of "customer_ref" to "customers" is left out, because it references "ref", not the id.',
    `products: "rest" is of type ${type}; as number() it has the precision of a double.`,
    'receipts: create is false, because its ids are those of "orders".',
  ])
})

const rows: readonly (readonly [row: string, body: object])[] = [
  ['countries/DE', { id: 'DE', name: 'Germany' }],
  ['countries/X', { id: 'X', name: 'Elsewhere' }],
  ['countries/%C3%84%C3%96', { id: 'ÄÖ', name: 'Umlaut' }],
  [`customers/${ids.ann.toUpperCase()}`, { id: ids.ann, name: 'Ann', country: 'DE', ref: null }],
  [
    'products/a%2Fb%20c',
    { id: 'a/b c', price: '1.50', share: '0.75000', rest: 1.25, details: { b: 1, a: [true] }, secret_token: null },
  ],
  [`orders/${ids.order}`, { id: ids.order, customer_id: ids.ann, sku: 'a/b c', customer_ref: null }],
  [`receipts/${ids.order}`, { id: ids.order, total: '3.00' }],
]

for (const [row, body] of rows) {
  test(`a row is found by its key, and listed: ${row}`, async () => {
    assert.equal((await shop.service.get(`/v1/${row}`)).body, body)
    const { data } = (await shop.service.get(`/v1/${row.split('/')[0]}`)).body
    assert.ok(data.some(({ id }: { id: string }) => id === (body as { id: string }).id))
  })
}

const writes: readonly (readonly [path: string, body: object, change: object, wrong: string, issue: object])[] = [
  ['countries', { id: 'FR', name: 'France' }, { name: 'FRANCE' }, 'unique', { id: 'DE', name: 'Germany' }],
  ['customers', { name: 'Bob', country: 'X' }, { country: 'DE' }, 'reference', { name: 'Bob', country: 'QQ' }],
  [
    'products',
    { id: '%-x', price: '2.00' },
    { details: [1], share: '7.00000' },
    'greater_than_equal',
    { id: 'y', share: '0.1' },
  ],
  ['orders', { customer_id: ids.ann, sku: 'a/b c' }, { sku: null }, 'reference', { customer_id: ids.nobody }],
]

for (const [path, body, change, wrong, issue] of writes) {
  test(`rows are created, changed and deleted: ${path}`, async () => {
    const { service } = shop
    const created = await service.create(path, body)
    assert.is(created.status, 201, created.text)
    const row = String(created.headers['location']).replace('/api/v1/', '')
    assert.equal({ ...created.body, ...body }, created.body)
    assert.equal((await service.get(`/v1/${row}`)).body, created.body)
    assert.equal((await service.change(row, change)).body, { ...created.body, ...change })
    assert.is((await service.remove(row)).status, 204)
    assert.is((await service.get(`/v1/${row}`)).status, 404)
    const refused = await service.create(path, issue)
    assert.equal([refused.status, refused.body.error.details.issues[0].type], [422, wrong], refused.text)
  })
}

test('a row that others reference is not deleted', async () => {
  const referenced = await shop.service.remove('countries/DE')
  assert.is(referenced.status, 409)
  const { references } = referenced.body.error.details
  assert.equal(references, [{ resource: 'customers', field: 'country', count: 1 }])
})

test('a filter finds rows by the key that they reference', async () => {
  const filters = ['customers?country=DE', `orders?customer_id=${ids.ann}`, 'orders?sku.in=a%2Fb%20c&sku.in=z']
  for (const filter of filters) assert.is((await shop.service.get(`/v1/${filter}`)).body.meta.total, 1, filter)
})

test('pages continue in the order of the key', async () => {
  const rows = await followPages(shop.service, '/api/v1/countries?limit=1')
  assert.equal(
    rows.map(({ id }) => id),
    ['DE', 'X', 'ÄÖ'],
  )
})

test('the database is not changed', async () => {
  assert.equal(await schemaOf(shop.database), shop.before)
})

test('integers that JSON cannot hold are texts, in the order of the integers', async () => {
  const { service, registry, notes } = await serveIntrospected(
    [
      `create table events (id ${big} primary key, name text)`,
      `create table notes (id ${server ? 'serial' : 'integer'} primary key, event_id ${big} references events (id))`,
      `insert into events values (9007199254740993, 'c'), (10, 'b'), (9, 'a')`,
      'insert into notes (event_id) values (9007199254740993)',
    ],
    { update: true },
  )
  const [events] = registry
  assert.equal([events?.id, events?.create], ['text', false])
  assert.equal(notes, [
    'events: create is false, because its ids are integers, some beyond 2^53 - 1, and are served as texts.',
  ])
  const { data } = (await service.get('/v1/events')).body
  assert.equal(
    data.map(({ id }: { id: string }) => id),
    ['9', '10', '9007199254740993'],
  )
  assert.equal((await service.get('/v1/events/9007199254740993')).body, { id: '9007199254740993', name: 'c' })
  for (const id of ['9007199254740992', '09', 'abc', '99999999999999999999'])
    assert.is((await service.get(`/v1/events/${id}`)).status, 404, id)
  assert.is((await service.get('/v1/notes/1')).body.event_id, '9007199254740993')
  const created = await service.create('notes', { event_id: '10' })
  assert.equal(created.body, { id: 2, event_id: '10' }, created.text)
  assert.is((await service.create('notes', { event_id: '11' })).status, 422)
  assert.is((await service.create('notes', { event_id: 'x' })).status, 422)
  assert.is((await service.get('/v1/notes?event_id=10')).body.meta.total, 1)
})

test('the view that is suggested for a table is served, with an id for each row', async () => {
  const { database, notes } = await serveIntrospected([
    'create table pairs (a text not null, b varchar(9) not null, n integer not null, primary key (a, b))',
    'create table parts (id integer not null, lang char(2) not null, title text, primary key (id, lang))',
    'create table slots (day date not null, room integer not null, note text, unique (day, room))',
    'create table rates (rate numeric(4,1) primary key, name text)',
    'create table marks (code varchar(9) primary key)',
    'create table logs (line text, at integer)',
    `insert into pairs values ('a-b', 'c', 1), ('a', 'b-c', 2), ('a%2Db', 'c', 3)`,
    `insert into parts values (1, 'de', 'eins'), (1, 'en', 'one')`,
    `insert into slots values ('2026-03-01', 1, null), ('2026-03-01', 2, null)`,
    'insert into rates values (1.5, null)',
    `insert into marks values ('m')`,
    `insert into logs values ('x', 1), ('x', 1), (null, 2)`,
  ])
  const views = notes.map((note) => /\n {2}(create view .*);$/.exec(note)?.[1] ?? note)
  assert.is(views.length, 6)
  const again = await serveIntrospected(views, {}, database)
  assert.ok(again.notes.every((note) => note.endsWith('_by_id" can be served.')))
  const cases: readonly (readonly [path: string, ...rows: object[]])[] = [
    ['logs-by-id', ...(server ? [] : [{ id: 1, line: null, at: 2 }]), { id: server ? 1 : 2, line: 'x', at: 1 }],
    ['marks-by-id', { id: 'm', code: 'm' }],
    [
      'pairs-by-id',
      { id: 'a%252Db-c', a: 'a%2Db', b: 'c', n: 3 },
      { id: 'a%2Db-c', a: 'a-b', b: 'c', n: 1 },
      { id: 'a-b-c', a: 'a', b: 'b-c', n: 2 },
    ],
    [
      'parts-by-id',
      { id: '1-de', own_id: 1, lang: 'de', title: 'eins' },
      { id: '1-en', own_id: 1, lang: 'en', title: 'one' },
    ],
    ['rates-by-id', { id: '1.5', rate: '1.5', name: null }],
    ['slots-by-id', { id: '2026-03-01-1', day: '2026-03-01', room: 1, note: null }],
  ]
  for (const [path, ...expected] of cases) {
    const { data } = (await again.service.get(`/v1/${path}`)).body
    for (const row of expected) {
      const found = data.find(({ id }: { id: string }) => id === (row as { id: string }).id)
      assert.equal(found, row, `${path} ${JSON.stringify(data)}`)
      assert.equal((await again.service.get(`/v1/${path}/${encodeURIComponent(found.id)}`)).body, row)
    }
  }
})

test('rows that reference their own table, or a row with the id 0, can be created', async () => {
  const id = server ? 'serial' : 'integer'
  const { service } = await serveIntrospected([
    `create table languages (id ${id} primary key, name text)`,
    `create table nodes (id ${id} primary key, root integer not null references nodes (id), language_id integer not null default 0 references languages (id))`,
    `insert into languages values (0, 'any')`,
    'insert into nodes (root) values (1)',
  ])
  assert.equal((await service.create('nodes', { root: 1 })).body, { id: 2, root: 1, language_id: 0 })
})

test.run()
