/** Ids that are UUIDs, or texts that clients choose: what they may be, their order, references, pages, addresses. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { decimal, integer, json, text, uuid } from '../../engine/descriptor/index.js'
import { byId, type Registry, type RowValues } from '../../engine/descriptor/registry.js'
import { server } from '../support/database.js'
import { resourceIn } from '../support/registryFrom.js'
import { followPages, issuesOf, sessionOf, startService } from '../support/service.js'
import { testTranscripts, transcriptWith } from '../support/transcript.js'

const open = { create: true, update: true, delete: true } as const
const countries = resourceIn(
  'countries',
  { name: text({ sort: true }), rank: integer({ sort: true, range: true, filter: true }) },
  { id: 'text', required: ['name'], ...open },
)
const orders = resourceIn(
  'orders',
  { title: text({ sort: true }), country: text({ references: 'countries', filter: true }) },
  { id: 'uuid', ...open },
)
const lines = resourceIn(
  'lines',
  {
    order_id: uuid({ references: 'orders', onDelete: 'cascade', filter: true }),
    bought_in: text({ references: 'countries', onDelete: 'set null', filter: true }),
  },
  open,
)
const regions = resourceIn(
  'regions',
  { country: text({ references: 'countries', onDelete: 'cascade', filter: true }) },
  { id: 'uuid', ...open },
)
const cities = resourceIn(
  'cities',
  {
    country: text({ references: 'countries' }),
    region_id: uuid({ references: 'regions', onDelete: 'cascade', filter: true }),
    size: decimal({ digits: 12, places: 2 }),
    extra: json(),
    secret: json({ redacted: true }),
  },
  { id: 'text', ...open },
)
const registry: Registry = [countries, orders, lines, cities, regions]

const addressOf = (path: string, id: string): string => `${path}/${encodeURIComponent(id)}`

// biome-ignore format: one list
const oddIds = [
  'a/b', 'a b', 'ä', '%', '%2F', '?', '#', '+', '"', '\\', "'", '0', '007', '-1', '1e3', 'new', 'edit', 'filters', 'download.csv', 'null',
  '\u{1f600}', '\uffee', '\ue000', 'Z', 'a', 'A', '...', ' ', 'x'.repeat(200), '\u{1f600}'.repeat(200), '__proto__', 'id', '1', '10', '9',
]

const missingOrder = '0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d'

for (const derivedObjects of server ? [true, false] : [true]) {
  const test = suite(derivedObjects ? 'keys' : 'keys, without triggers')
  const service = await startService({ registry, explorer: true, derivedObjects })
  const { get, create, change, remove, send } = service

  test('a text id is any text of 1 to 200 characters, stored and found as it was sent', async () => {
    for (const id of oddIds) {
      const { status, headers, body, text: sent } = await create('countries', { id, name: 'Land' })
      assert.equal([status, body?.id, headers.location], [201, id, `/api/v1/${addressOf('countries', id)}`], sent)
      const read = await send(String(headers.location))
      assert.equal([read.status, read.body], [200, body], id)
      const patched = await change(addressOf('countries', id), { rank: 1 })
      assert.equal([patched.status, patched.headers['content-location']], [200, headers.location], id)
      const page = await send(`/explore/countries/rows/${encodeURIComponent(id)}`)
      assert.is(page.status, 200, `the page of ${id}`)
    }
    const { data } = (await get('/v1/countries?limit=200')).body
    const ordered = oddIds.map((id) => ({ id })).sort(byId)
    assert.equal(
      data.map(({ id }: RowValues) => ({ id })),
      ordered,
    )
  })

  test('other ids are refused', async () => {
    const refused: [unknown, string][] = [
      [undefined, 'missing'],
      [null, 'missing'],
      [7, 'string_type'],
      ['', 'string_too_short'],
      ['x'.repeat(201), 'string_too_long'],
      ['\u{1f600}'.repeat(201), 'string_too_long'],
      ['a\0', 'string_unicode'],
      ...['.', '..', 'summary', 'import'].map((id): [string, string] => [id, 'reserved']),
      ['ä', 'unique'],
    ]
    for (const [id, type] of refused) {
      const response = await create('countries', { id, name: 'Land' })
      assert.equal(issuesOf(response), [`${type} body id`], String(id))
    }
    const id = '0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d'
    assert.equal(issuesOf(await create('orders', { id })), ['extra_forbidden body id'])
    assert.equal(issuesOf(await change('countries/a', { id: 'b' })), ['extra_forbidden body id'])
    for (const id of ['b', 'x'.repeat(201), 'A%20']) assert.is((await get(`/v1/countries/${id}`)).status, 404, id)
  })

  test('UUIDs are of version 7, in the order in which they were made, and found in any case', async () => {
    const ids: string[] = []
    for (let n = 0; n < 30; n++) ids.push((await create('orders', { title: `Order ${n % 3}` })).body.id)
    for (const id of ids) assert.match(id, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    assert.equal(ids, [...ids].sort())
    const [first = ''] = ids
    const upper = await get(`/v1/orders/${first.toUpperCase()}`)
    assert.equal([upper.status, upper.body.id], [200, first])
    for (const id of ['1', 'abc', first.slice(1), `${first}0`, first.replaceAll('-', '')])
      assert.is((await get(`/v1/orders/${id}`)).status, 404, id)
    assert.equal(
      (await followPages(service, '/api/v1/orders?limit=7')).map(({ id }) => id),
      ids,
    )
  })

  test('pages continue in every order', async () => {
    const orderings = {
      countries: ['&sort=name', '&sort=-rank', '&rank.gte=1&sort=rank', '&q=land'],
      orders: ['&sort=title', '&sort=-title'],
    }
    for (const path of ['countries', 'orders'] as const)
      for (const query of ['', '&sort=-id', ...orderings[path]]) {
        const whole = await send(`/api/v1/${path}?limit=200${query}`)
        const parts = await followPages(service, `/api/v1/${path}?limit=7${query}`)
        assert.equal(parts, whole.body.data, `${path} ${query}`)
        assert.is(whole.body.meta.total, parts.length)
        const skipped = await send(`/api/v1/${path}?limit=5&offset=6${query}`)
        assert.equal(skipped.body.data, whole.body.data.slice(6, 11), `${path} ${query}`)
      }
  })

  test('cursors with ids and values that no row can have are refused', async () => {
    const first = await send('/api/v1/countries?limit=1&sort=name')
    const [, cursor = ''] = /after=([\w-]+)>; rel="next"/.exec(String(first.headers['link'])) ?? []
    const [digest, offset, id, value] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    for (const parts of [
      [digest, offset, 'a\0', value],
      [digest, offset, '\ud800', value],
      [digest, offset, id, 'a\0'],
      [digest, offset, id, '\ud800'],
      [digest, '-5', id, value],
    ]) {
      const after = Buffer.from(JSON.stringify(parts)).toString('base64url')
      const response = await send(`/api/v1/countries?limit=1&sort=name&after=${after}`)
      assert.equal([response.status, response.body.detail?.[0].loc], [422, ['query', 'after']], JSON.stringify(parts))
    }
  })

  test('the explorer shows JSON as it was sent, and edits it so', async () => {
    const sent = '{"id":"shown","extra":{"b":123456789012345678901234567890,"a":1e999,"10":1.10,"e":"\\u0041"}}'
    assert.is((await create('cities', sent)).status, 201)
    const headers = { cookie: await sessionOf(service.address) }
    for (const path of ['rows/shown', 'rows/shown/edit']) {
      const page = (await send(`/explore/cities/${path}`, { headers })).text.replaceAll('&quot;', '"')
      for (const line of ['"b": 123456789012345678901234567890,', '"a": 1e999,', '"10": 1.10,', '"e": "\\u0041"'])
        assert.ok(page.includes(line), `${path}: ${line}`)
    }
    await remove('cities/shown')
  })

  testTranscripts(test, transcriptWith(service), {
    'a text id can be used again after a delete': `
      POST countries {"id":"again","name":"First"} -> 201
      DELETE countries/again -> 204
      GET countries/again -> 404
      POST countries {"id":"again","name":"Second"} -> 201 {"name":"Second"}`,
    'references are checked, filtered, and followed by deletes': `
      order = POST orders {"title":"Parent","country":"ä"} -> 201
      other = POST orders {"title":"Other"} -> 201
      own = POST lines {"order_id":"{order}","bought_in":"a/b"} -> 201
      kept = POST lines {"order_id":"{other}","bought_in":"a/b"} -> 201
      POST lines {"order_id":"${missingOrder}","bought_in":"nowhere"} -> 422 reference body order_id, reference body bought_in
      GET lines?order_id={order} -> 200 {"data":[{"id":{own}}]}
      GET lines?bought_in.in=a%2Fb&bought_in.in=x -> 200 {"meta":{"total":2}}
      GET lines?order_id.null=true -> 200 {"meta":{"total":0}}
      GET lines?order_id=7 -> 422 uuid_parsing query order_id
      DELETE countries/%C3%A4 -> 409 {"error":{"details":{"references":[{"resource":"orders","field":"country","count":1}]}}}
      DELETE orders/{order} -> 204
      GET lines/{own} -> 404
      DELETE countries/a%2Fb -> 204
      GET lines/{kept} -> 200 {"bought_in":null}`,
    'a row that goes by a cascade does not prevent the delete': `
      POST countries {"id":"gone","name":"Gone"} -> 201
      region = POST regions {"country":"gone"} -> 201
      POST cities {"id":"c","region_id":"{region}","country":"gone"} -> 201
      DELETE countries/gone -> 204
      GET cities -> 200 {"meta":{"total":0}}`,
    'a redacted JSON value is changed': `
      POST cities {"id":"secret","secret":{"a":1}} -> 201
      PATCH cities/secret {"secret":[1]} -> 200
      DELETE cities/secret -> 204`,
    'the tables fit their descriptors': `
      GET /readyz -> 200
      GET orders -> 200`,
    'tags and idempotency keys work as with integers': `
      POST countries idempotency-key=text {"id":"keyed/1","name":"Once"} -> 201
      POST countries idempotency-key=text {"id":"keyed/1","name":"Once"} -> 201 replayed {"id":"keyed/1","name":"Once"}
      order = POST orders idempotency-key=uuid {"title":"Once"} -> 201
      POST orders idempotency-key=uuid {"title":"Once"} -> 201 replayed {"id":"{order}","title":"Once"}
      order = GET orders/{order} -> 200
      PATCH orders/{order} if-match={order.tag} {"title":"Changed"} -> 200
      PATCH orders/{order} if-match={order.tag} {"title":"Again"} -> 412
      DELETE countries/keyed%2F1 idempotency-key=delete-text -> 204
      DELETE countries/keyed%2F1 idempotency-key=delete-text -> 204`,
  })

  test('UUIDs are referenced, and found by a reference, in any case', async () => {
    const { id } = (await create('orders', { title: 'Any case' })).body
    const line = (await create('lines', { order_id: id.toUpperCase() })).body
    assert.is(line.order_id, id)
    assert.equal((await get(`/v1/lines?order_id=${id.toUpperCase()}`)).body.data, [line])
  })

  test.run()
}
