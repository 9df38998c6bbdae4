/** Counts, sums, averages and extremes of groups of rows: exact, in order, with the filters of the list. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { boolean, date, decimal, integer, number, text, timestamp } from '../../engine/descriptor/index.js'
import type { RowValues } from '../../engine/descriptor/registry.js'
import { possibleGroups } from '../../engine/descriptor/summary.js'
import { publicRow } from '../../support/samples.js'
import { resourceIn } from '../support/registryFrom.js'
import { authorized, startService } from '../support/service.js'
import { registry } from '../support/tested.js'

const days = resourceIn(
  'days',
  {
    status: text({ filter: true }),
    is_paid: boolean({ filter: true }),
    on: date({ range: true, filter: true }),
    at: timestamp({ range: true }),
    due: text({ format: 'date', range: true }),
    hours: integer({ range: true, filter: true }),
    weight: number({ range: true }),
    price: decimal({ digits: 18, places: 2, range: true, filter: true }),
    plain: integer(),
    secret: text({ redacted: true }),
  },
  { summary: true, update: true, delete: true },
)
const { get, send, fill, create } = await startService({ registry: [days] })
const none = Object.fromEntries(days.fields.flatMap(({ name }) => (name === 'id' ? [] : [[name, null]])))
const largest = Number.MAX_SAFE_INTEGER
// biome-ignore format: one table
const rows: RowValues[] = [
  ['open', true, '2026-03-01', '2026-03-01T00:00:00.000Z', '2026-03-01', 3, 0.5, '10.01'],
  ['open', false, '2026-03-31', '2026-02-28T23:59:59.999Z', 'tomorrow', -1, 1.25, '0.02'],
  ['Done', null, '2025-12-31', null, '2026-13-01', null, null, null],
  ['done', true, null, '2026-03-01T12:00:00.000Z', null, 4, 2, '-3.33'],
  [null, true, '2026-03-01', null, '2026-12-24T18:00', 0, -0.25, '999999999999999.99'],
].map(([status, is_paid, on, at, due, hours, weight, price], n) =>
  ({ ...none, id: n + 1, status, is_paid, on, at, due, hours, weight, price }) as RowValues)
await fill([{ resource: days, rows: rows.map((row) => ({ ...row, secret: 'hunter2' })) }])

const summary = async (query: string) => {
  const { status, body, text: sent } = await get(`/v1/days/summary?${query}`)
  assert.is(status, 200, sent)
  return body
}
/** The values of the groups and their counts, by turns. */
const groups = async (query: string, name: string) =>
  (await summary(`${query}&by=${name}`)).data.flatMap(({ by, count }: { by: RowValues; count: number }) => [
    by[name],
    count,
  ])

const test = suite('summary')

const grouped: [fact: string, name: string, query: string, ...groups: unknown[]][] = [
  [
    'the most rows first, then by value, null before all others',
    'status',
    '',
    'open',
    2,
    null,
    1,
    'Done',
    1,
    'done',
    1,
  ],
  ['booleans', 'is_paid', '', true, 3, null, 1, false, 1],
  ['integers', 'hours', '', null, 1, -1, 1, 0, 1, 3, 1, 4, 1],
  [
    ...(['decimals', 'price', 'hours.null=false'] as const),
    ...['-3.33', 1, '0.02', 1, '10.01', 1, '999999999999999.99', 1],
  ],
  ['months', 'on.month', '', '2026-03', 3, null, 1, '2025-12', 1],
  ['years', 'on.year', '', '2026', 3, null, 1, '2025', 1],
  ['days', 'at.day', '', null, 2, '2026-03-01', 2, '2026-02-28', 1],
  ['what is no date has no month', 'due.month', '', null, 3, '2026-03', 1, '2026-12', 1],
  ['q and a range', 'status', 'q=OPEN&hours.gte=0', 'open', 1],
  ['filters and a range', 'status', 'status.in=open&status.in=done&price.lt=10', 'done', 1, 'open', 1],
]
for (const [fact, name, query, ...expected] of grouped)
  test(`groups by ${name}: ${fact}`, async () => {
    assert.equal(await groups(query, name), expected)
  })

test('two groups, sums, averages and extremes', async () => {
  const { data, meta } = await summary('by=on.month&by=is_paid&sum=hours&sum=price&avg=price&min=on&max=at&max=weight')
  assert.equal(data[0], {
    by: { 'on.month': '2026-03', is_paid: true },
    count: 2,
    sum: { hours: 3, price: '1000000000000010.00' },
    avg: { price: '500000000000005.0000' },
    min: { on: '2026-03-01' },
    max: { at: '2026-03-01T00:00:00.000Z', weight: 0.5 },
  })
  assert.equal(data.at(-1), {
    by: { 'on.month': '2026-03', is_paid: false },
    count: 1,
    sum: { hours: -1, price: '0.02' },
    avg: { price: '0.0200' },
    min: { on: '2026-03-31' },
    max: { at: '2026-02-28T23:59:59.999Z', weight: 1.25 },
  })
  assert.equal(meta, { total: 4, limit: 50, rows: 5 })
})

test('without groups all rows are one; without values the results are null', async () => {
  const all = await summary('sum=hours&avg=hours&avg=weight&min=price&max=price&min=due&max=due')
  assert.equal(all, {
    data: [
      {
        by: {},
        count: 5,
        sum: { hours: 6 },
        avg: { hours: 1.5, weight: 0.875 },
        min: { due: '2026-03-01', price: '-3.33' },
        max: { due: 'tomorrow', price: '999999999999999.99' },
      },
    ],
    meta: { total: 1, limit: 50, rows: 5 },
  })
  for (const query of ['hours=99', 'status=%00', 'q=nothing'])
    assert.equal(await summary(`${query}&sum=hours&avg=price&min=on`), {
      data: [{ by: {}, count: 0, sum: { hours: null }, avg: { price: null }, min: { on: null } }],
      meta: { total: 1, limit: 50, rows: 0 },
    })
  for (const query of ['hours=99', 'status=%00', 'q=nothing'])
    assert.equal(await summary(`${query}&by=status`), { data: [], meta: { total: 0, limit: 50, rows: 0 } })
})

test('the other parameters of a list have no effect', async () => {
  const plain = await summary('by=status')
  assert.equal(await summary('by=status&sort=nothing&offset=-1&after=x&expand=x&by=status'), plain)
  const csv = await send('/api/v1/days/summary?by=status', { headers: { accept: 'text/csv' } })
  assert.equal(csv.body, plain)
  const { data, meta } = await summary('by=status&limit=1')
  assert.equal([data.length, meta, plain.meta], [1, { total: 4, limit: 1, rows: 5 }, { total: 4, limit: 50, rows: 5 }])
})

const issuesOf = async (query: string) => {
  const { status, body, text: sent } = await get(`/v1/days/summary?${query}`)
  assert.is(status, 422, sent)
  return body.detail.map(({ type, loc, ctx }: { type: string; loc: string[]; ctx?: object }) => [type, loc[1], ctx])
}

test('everything else is refused, with what is possible', async () => {
  const expected = possibleGroups(days).map(({ name }) => name)
  assert.equal(expected, [
    ...['status', 'is_paid', 'on', 'on.year', 'on.month', 'on.day', 'at.year', 'at.month', 'at.day'],
    ...['due.year', 'due.month', 'due.day', 'hours', 'price'],
  ])
  for (const name of ['', 'plain', 'secret', 'id', 'at', 'due', 'weight', 'status.year', 'on.week', 'on.Month'])
    assert.equal(await issuesOf(`by=${name}`), [['enum', 'by', { expected }]])
  assert.equal(await issuesOf('by=status&by=hours&by=price'), [['too_long', 'by', { max_length: 2 }]])
  for (const name of ['sum', 'avg'])
    for (const value of ['', 'plain', 'on', 'status', 'id', 'due'])
      assert.equal(await issuesOf(`${name}=${value}`), [['enum', name, { expected: ['hours', 'weight', 'price'] }]])
  assert.equal(await issuesOf('min=status'), [
    ['enum', 'min', { expected: ['on', 'at', 'due', 'hours', 'weight', 'price'] }],
  ])
  assert.equal(await issuesOf('limit=0&hours=x&status.gt=1'), [
    ['greater_than_equal', 'limit', { ge: 1 }],
    ['int_parsing', 'hours', undefined],
    ['extra_forbidden', 'status.gt', undefined],
  ])
})

test('other methods get 405, and a resource without a summary has no such row', async () => {
  for (const method of ['POST', 'PATCH', 'DELETE', 'PUT']) {
    const { status, headers } = await send('/api/v1/days/summary', { method, headers: authorized })
    assert.equal([status, headers['allow']], [405, 'GET, HEAD, OPTIONS'])
  }
  const options = await send('/api/v1/days/summary', { method: 'OPTIONS' })
  assert.equal([options.status, options.headers['allow']], [204, 'GET, HEAD, OPTIONS'])
  assert.is((await send('/api/v1/days/summary?by=status', { method: 'HEAD' })).status, 200)
})

test('the tag changes with the table, and answers conditional requests', async () => {
  const path = '/api/v1/days/summary?by=hours&sum=hours'
  const tags = [await send(path), await send(path), await send(path)].map(({ headers }) => headers['etag'])
  assert.is(new Set(tags).size, 1)
  const headers = { 'if-none-match': String(tags[0]) }
  assert.is((await send(path, { headers })).status, 304)
  assert.is((await create('days', { hours: 7 })).status, 201)
  const after = await send(path, { headers })
  assert.is(after.status, 200)
  assert.equal(after.body.meta.rows, 6)
})

test('sums are exact beyond 2^63 and beyond the digits of the field; numbers do not overflow', async () => {
  const cents = '9999999999999999.99'
  const same = { ...none, hours: largest, weight: 1.7e308, price: cents }
  const many = Array.from({ length: 2_000 }, (_, n) => ({ ...same, id: 100 + n, status: n < 1_999 ? 'many' : 'few' }))
  await fill([{ resource: days, rows: many }])
  const { data } = await summary('status=many&sum=hours&avg=hours&sum=price&avg=price&sum=weight&avg=weight&max=hours')
  const { sum, avg, max, count } = data[0]
  assert.is(count, 1_999)
  assert.is(sum.hours, Number(BigInt(largest) * 1_999n))
  assert.is(avg.hours, sum.hours / 1_999)
  assert.is(sum.price, '19989999999999999980.01')
  assert.is(avg.price, '9999999999999999.9900')
  assert.is(sum.weight, null)
  assert.ok(Math.abs(avg.weight / 1.7e308 - 1) < 1e-12)
  assert.is(max.hours, largest)
  // -0.00333…, -0.005 and -0.00125 of -0.01, each rounded to four places, half away from zero.
  for (const [length, average] of [
    [3, '-0.0033'],
    [2, '-0.0050'],
    [8, '-0.0013'],
  ] as const) {
    const status = `one of ${length}`
    const price = (n: number) => (n === 0 ? '-0.01' : '0.00')
    const parts = Array.from({ length }, (_, n) => ({ ...none, id: length * 10_000 + n, status, price: price(n) }))
    await fill([{ resource: days, rows: parts }])
    assert.is((await summary(`status=${encodeURIComponent(status)}&avg=price`)).data[0].avg.price, average)
  }
})

test('values of many megabytes are refused as groups', async () => {
  for (let n = 0; n < 6; n++) await create('days', { status: `${n}${'x'.repeat(900_000)}`, plain: 5 })
  assert.equal(await issuesOf('by=status'), [['too_long', 'by', undefined]])
  assert.is((await get('/v1/days/summary?by=status&limit=2')).status, 200)
})

test('tiny numbers and the largest ones are added up', async () => {
  const numbers = resourceIn(
    'numbers',
    { weight: number({ range: true }), name: text({ filter: true }) },
    { summary: true },
  )
  const own = await startService({ registry: [numbers] })
  for (const weight of [5e-324, 1e-300, 2.5e-300]) await own.create('numbers', { weight, name: 'tiny' })
  for (const weight of [1.5e308, -1.5e308, 1e10]) await own.create('numbers', { weight, name: 'large' })
  const { body } = await own.get('/v1/numbers/summary?by=name&sum=weight&avg=weight')
  assert.equal(
    body.data.map(({ sum }: { sum: { weight: number } }) => sum.weight),
    [1e10, 3.5e-300],
  )
})

test('no id of a row is the key of a summary', async () => {
  const lands = resourceIn('lands', { name: text() }, { id: 'text', summary: true })
  const own = await startService({ registry: [lands] })
  const ids = ['summary?50&&[[],[[],[],[],[]]]&q=', '&50&&[[],[[],[],[],[]]]&q=', '50&&[[],[[],[],[],[]]]&q=']
  for (let n = 0; n < 3; n++) await own.get('/v1/lands/summary')
  for (const id of ids) assert.is((await own.get(`/v1/lands/${encodeURIComponent(id)}`)).status, 404)
  for (const id of ids) await own.create('lands', { id })
  for (const id of [...ids, ...ids, ...ids])
    assert.is((await own.get(`/v1/lands/${encodeURIComponent(id)}`)).body.id, id)
  assert.is((await own.get('/v1/lands/summary')).body.meta.rows, 3)
})

test('a text begins with a date if that day exists', async () => {
  // biome-ignore format: one list
  const due = [
    '2026-02-31', '2025-02-29', '2024-02-29', '1900-02-29', '2000-02-29x', '2026-04-31', '0000-01-01', '2026-12-31',
  ]
  const days = resourceIn('texts', { due: text({ format: 'date', range: true }) }, { summary: true })
  const own = await startService({ registry: [days] })
  for (const one of due) await own.create('texts', { due: one })
  const { body } = await own.get('/v1/texts/summary?by=due.day')
  assert.equal(
    body.data.map(({ by, count }: { by: RowValues; count: number }) => [by['due.day'], count]),
    [
      [null, 5],
      ['2000-02-29', 1],
      ['2024-02-29', 1],
      ['2026-12-31', 1],
    ],
  )
})

const service = await startService({ registry })
for (const resource of registry.filter(({ summary: isSummarized, existing }) => isSummarized && !existing)) {
  const plain = possibleGroups(resource).filter(({ part }) => !part)
  test(`${resource.path}: the count of every group`, async () => {
    const all = resource.demo.map((row) => publicRow(resource, row))
    for (const { name } of plain) {
      const counts = new Map<unknown, number>()
      for (const row of all) counts.set(row[name] ?? null, (counts.get(row[name] ?? null) ?? 0) + 1)
      const { body } = await service.get(`/v1/${resource.path}/summary?by=${name}&limit=200`)
      const found = body.data.map(({ by, count }: { by: RowValues; count: number }) => [by[name], count])
      assert.equal(new Map(found), counts, name)
      assert.equal(body.meta, { total: counts.size, limit: 200, rows: all.length })
    }
  })
}

test('a resource that declares none has none', async () => {
  const resource = registry.find(({ summary: isSummarized, existing }) => !isSummarized && !existing)
  if (resource) assert.is((await service.get(`/v1/${resource.path}/summary`)).status, 404)
})

test.run()
