/** Orders, ranges, sets and pages that continue, compared with those that the oracle expects. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { boolean, date, integer, number, text, timestamp } from '../../engine/descriptor/index.js'
import type { RowValues } from '../../engine/descriptor/registry.js'
import { Oracle } from '../../support/oracle.js'
import { seededRandom } from '../../support/random.js'
import { expectedList } from '../support/expectedList.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService } from '../support/service.js'

const fields = {
  name: text({ sort: true, filter: true }),
  kind: text({ filter: true, oneOf: ['talk', 'walk', 'rest'] }),
  on: text({ format: 'date', sort: true, range: true }),
  day: date({ sort: true, range: true, filter: true }),
  at: timestamp({ sort: true, range: true }),
  count: integer({ sort: true, range: true, filter: true }),
  price: number({ sort: true, range: true, filter: true }),
  open: boolean({ sort: true, filter: true }),
  note: text(),
}
const events = resourceIn('events', fields, { required: ['name'], delete: true })

const { below: random, pick } = seededRandom(7)
const long = 'x'.repeat(199)
const odd = ['\u{1f600}', '\uffee', '\ue000', 'a\u0301']
const names = ['Ada', 'ada', 'Äda', '', ' ', 'Z', ...odd, `${long}a`, `${long}b`, `${long}bc`]
const day = (n: number): string => new Date(Date.UTC(2026, 0, 1 + n)).toISOString()

/** More rows than are sorted at once. */
const rows: RowValues[] = Array.from({ length: 5_400 }, (_, n) => ({
  id: 1 + n * 3,
  name: n < 200 ? pick(names) : `Event ${random(900)}`,
  kind: pick(['talk', 'talk', 'walk', null]),
  on: pick([null, day(random(90)).slice(0, 10), 'soon']),
  day: pick([null, day(random(400)).slice(0, 10)]),
  at: pick([null, day(random(400))]),
  count: pick([null, random(20), -random(20), 9_007_199_254_740_991, -5]),
  price: pick([null, random(1_000) / 8, -0.1, 1e300, 5, 1e-9]),
  open: pick([null, true, false]),
  note: pick(['tennis', 'table tennis', 'chess']),
}))

const { address, get, send, create, remove, fill } = await startService({ registry: [events] })
await fill([{ resource: events, rows: rows.map((row) => ({ ...row })) }])

/** A read without the check against the document, which takes longer than the read. */
const read = async (url: string) => {
  const response = await fetch(`${address}${url}`, { headers: { 'accept-encoding': 'identity' } })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as { data: RowValues[]; meta: Record<string, number> },
  }
}

const oracle = new Oracle()
oracle.add(events, rows)

const idsOf = (found: readonly RowValues[]): unknown[] => found.map(({ id }) => id)

type Parameters = [name: string, value: string][]
const path = (parameters: Parameters): string => `/v1/events?${new URLSearchParams(parameters)}`

const expected = (parameters: Parameters) => expectedList(oracle, events, parameters)
const idsOfAll = (parameters: Parameters): unknown[] => idsOf(expected(parameters).all)

const sorted = ['id', ...Object.keys(fields).filter((name) => !['kind', 'note'].includes(name))]
const orders = sorted.flatMap((name) => [name, `-${name}`])

/** Condition by condition, as in a URL. */
const conditions: (() => string)[] = [
  () => '',
  () => '',
  () => `q=${pick(['tennis', 'table', 'nowhere'])}`,
  () => `kind=${pick(['talk', 'walk'])}`,
  () => `count.gte=${random(10)}`,
  () => `count.gt=-3&count.lt=${random(8) - 2}`,
  () => `count.lte=${pick(['9007199254740991', '1'.repeat(40)])}`,
  () => `day.gte=${day(random(300)).slice(0, 10)}&day.lte=${day(300).slice(0, 10)}`,
  () => `at.gt=${day(random(400))}`,
  () => `price.gte=${pick(['5', '-0.1', '1e-9', '100.5'])}`,
  () => `on.lt=${pick(['2026-02', '2026-02-10', 's', 'soon', 'a'])}`,
  () => 'kind.in=walk&kind.in=rest',
  () => `name.in=${encodeURIComponent(pick(names))}&name.in=${long}bc&name.in=Event 7`,
  () => `count.in=3&count.in=-5&count.in=${'9'.repeat(30)}`,
  () => 'price=5',
  () => `open=${pick(['true', 'false'])}`,
  () => `${pick(['kind', 'count', 'day', 'open'])}.null=${pick(['true', 'false'])}`,
]

const test = suite('orders and ranges')

test('arbitrary queries give the expected page and total', async () => {
  for (let tries = 0; tries < 150; tries++) {
    const query = `${pick(conditions)()}&${pick(conditions)()}&sort=${pick(orders)}`
    const parameters = [...new URLSearchParams(query)]
    const { total } = expected(parameters)
    const [limit, offset] = [pick([1, 10, 200]), pick([0, 0, 3, total - 5, total, 5_390, 10 ** 15])]
    const start = Math.max(0, offset)
    const page: Parameters = [...parameters, ['limit', String(limit)], ['offset', String(start)]]
    const { status, body, headers } = await read(`/api${path(page)}`)
    assert.is(status, 200, path(page))
    assert.equal(idsOf(body.data), idsOf(expected(page).data), path(page))
    assert.equal(body.meta, { total, limit, offset: start }, path(page))
    assert.is(/rel="next"/.test(headers.get('link') ?? ''), start + limit < total, path(page))
  }
})

const nextPath = (link: string | undefined): string | undefined => /<([^>]*)>; rel="next"/.exec(link ?? '')?.[1]

/** Follows Link to the end. */
const follow = async (first: string, onPage?: () => Promise<void>): Promise<unknown[]> => {
  const found: unknown[] = []
  for (let url: string | undefined = `/api${first}`; url; ) {
    const { status, body, headers } = await read(url)
    assert.is(status, 200, url)
    if (!onPage) assert.is(body.meta['offset'], found.length, url)
    found.push(...idsOf(body.data))
    await onPage?.()
    url = nextPath(headers.get('link') ?? undefined)
  }
  return found
}

for (const sort of orders) {
  test(`following Link in order of ${sort} gives every row once`, async () => {
    for (const conditions of ['', pick(['count.gte=-5', 'kind=walk', 'q=tennis'])]) {
      const query: Parameters = [...new URLSearchParams(conditions), ['sort', sort]]
      assert.equal(await follow(path([...query, ['limit', '200']])), idsOfAll(query), `${query}`)
    }
  })
}

test('downloads follow the order', async () => {
  for (const query of ['sort=-day', 'sort=name&count.gte=0']) {
    const parameters = [...new URLSearchParams(query)]
    const { text: lines } = await send(`/api${path(parameters)}`, { headers: { accept: 'application/x-ndjson' } })
    const found = lines
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as RowValues)
    assert.equal(idsOf(found), idsOfAll(parameters))
  }
})

const issuesOf = async (query: string) => {
  const { status, body } = await get(`/v1/events?${query}`)
  assert.is(status, 422, query)
  return body.detail
}

test('an order that is not declared is refused', async () => {
  for (const sort of ['note', 'kind', 'name,day', '', '+name', '--name', 'name.desc', 'Name']) {
    const [issue] = await issuesOf(`sort=${encodeURIComponent(sort)}`)
    assert.equal([issue.type, issue.loc, issue.input], ['enum', ['query', 'sort'], sort])
    assert.equal(issue.ctx.expected, orders)
  }
})

const wrong: [query: string, type: string, message: RegExp][] = [
  ['count.gte=x', 'int_parsing', /valid integer/],
  ['price.lt=cheap', 'float_parsing', /valid number/],
  ['price=1e999', 'finite_number', /finite/],
  ['day.lte=2026-02-30', 'date_parsing', /valid date/],
  ['at.gt=yesterday', 'datetime_parsing', /RFC 3339/],
  ['on.gt=%00', 'string_unicode', /NUL/],
  ['kind.in=talk&kind.in=tolk', 'enum', /'talk', 'walk' or 'rest'/],
  ['count.null=maybe', 'bool_parsing', /true or false/],
  ['count.gtee=1', 'extra_forbidden', /Did you mean "count.gte"\?/],
  ['kind.gte=talk', 'extra_forbidden', /kind\.in|Did you mean/],
  ['note.in=x', 'extra_forbidden', /neither a filter nor a range/],
  ['open.gt=true', 'extra_forbidden', /open/],
]
for (const [query, type, message] of wrong) {
  test(`${query} is refused`, async () => {
    const [issue, ...others] = await issuesOf(query)
    assert.is(issue.type, type)
    assert.match(issue.msg, message)
    assert.equal(issue.loc, ['query', query.split('=')[0]])
    assert.equal(others, [])
  })
}

test('a list has at most 100 values', async () => {
  const list = (count: number) => 'count.in=1&'.repeat(count)
  assert.is((await get(`/v1/events?${list(100)}`)).status, 200)
  const [issue] = await issuesOf(list(101))
  assert.equal([issue.type, issue.ctx], ['too_long', { max_length: 100 }])
})

test('a parameter with a dot whose field is unknown is ignored, like any other', async () => {
  assert.is((await get('/v1/events?nothing.gte=1')).body.meta.total, rows.length)
})

test('a contradiction is an empty page', async () => {
  const { body } = await get('/v1/events?count.gte=3&count.lt=3&sort=name')
  assert.equal(body, { data: [], meta: { total: 0, limit: 50, offset: 0 } })
})

test('a cursor of another list, with an offset, or made up is refused', async () => {
  const { headers } = await get('/v1/events?sort=name&limit=5')
  const cursor = /after=([^>]*)>/.exec(headers['link'] as string)?.[1]
  assert.is((await get(`/v1/events?sort=name&limit=7&after=${cursor}`)).status, 200)
  for (const query of ['sort=-name', 'sort=name&q=tennis', '', 'sort=name&offset=0', 'sort=name&count.gte=1']) {
    const [issue] = await issuesOf(`${query}&after=${cursor}`)
    assert.equal(issue.loc, ['query', 'after'], query)
  }
  for (const made of ['', 'x', 'W10', Buffer.from('["",1,2,null]').toString('base64url'), `${cursor}x`, 'é'])
    assert.equal((await issuesOf(`sort=name&after=${encodeURIComponent(made)}`))[0].loc, ['query', 'after'])
})

test('Link repeats the query and leads back to the first page', async () => {
  const { headers } = await get('/v1/events?limit=2&kind.in=talk&kind.in=walk&offset=4&q=a%26b')
  assert.is(headers['link'], '</api/v1/events?limit=2&kind.in=talk&kind.in=walk&q=a%26b>; rel="first"')
  assert.is((await get('/v1/events?limit=200&name=Z')).headers['link'], undefined)
})

test('a long query is not repeated in a header', async () => {
  const link = async (length: number) => (await get(`/v1/events?limit=1&x=${'x'.repeat(length)}`)).headers['link']
  assert.match(String(await link(980)), /rel="next".*rel="first"/)
  assert.not.match(String(await link(5_000)), /rel="first"/)
  assert.match(String(await link(5_000)), /rel="next"/)
  assert.is(await link(7_000), undefined)
})

test('rows that come and go do not make a page skip or repeat a row that stays', async () => {
  const query = [...new URLSearchParams('sort=-price&count.gte=0')]
  const before = idsOfAll(query)
  const gone = new Set<unknown>()
  let page = 0
  const found = await follow(path([...query, ['limit', '200']]), async () => {
    // Rows before, in and after the pages that were read; each page also adds one before them.
    for (const at of [page * 200 + 199, page * 200 + 5, page * 200 + 420, 3]) {
      const id = before[at]
      if (id === undefined || gone.has(id)) continue
      gone.add(id)
      assert.is((await remove(`events/${id}`)).status, 204)
    }
    assert.is((await create('events', { name: 'New', count: 1, price: 1e301 })).status, 201)
    page++
  })
  const stayed = before.filter((id) => !gone.has(id))
  assert.equal(
    found.filter((id) => stayed.includes(id)),
    stayed,
  )
  assert.is(new Set(found).size, found.length)
})

test.run()
