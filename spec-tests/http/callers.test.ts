/** Who may see and do what: every operation by every caller against an oracle, and the ways in which a hidden row could show. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim } from '../../engine/descriptor/define.js'
import { integer, number, text } from '../../engine/descriptor/index.js'
import { callersNamed } from '../support/callers.js'
import { ordered, resourceIn } from '../support/registryFrom.js'
import { authorized, followPages, issuesOf, startService, type TestResponse } from '../support/service.js'

const all = { create: true, update: true, delete: true, summary: true, import: true } as const
const people = resourceIn(
  'people',
  {
    name: text({ sort: true }),
    boss_id: integer({ references: 'people', filter: true }),
    team: text({ filter: true, sort: true }),
    salary: number({ readBy: ['hr'], filter: true, sort: true, range: true }),
    code: text({ unique: true }),
    low: integer(),
    high: integer(),
  },
  {
    required: ['name'],
    rules: [ordered('low', 'high')],
    ...all,
    access: {
      read: ['hr', { id: claim('person_id') }, { boss_id: claim('person_id') }],
      create: ['hr', { boss_id: claim('person_id') }],
      update: ['hr', { boss_id: claim('person_id') }],
      delete: 'hr',
    },
  },
)
const leave = resourceIn(
  'leave',
  {
    person_id: integer({ references: 'people', filter: true, onDelete: 'restrict' }),
    days: integer({ range: true, sort: true }),
    state: text({ filter: true }),
  },
  {
    ...all,
    access: {
      read: ['hr', { person_id: claim('person_id') }],
      create: ['hr', { person_id: claim('person_id') }],
      update: ['hr', { person_id: claim('person_id'), state: claim('states') }],
      delete: ['hr', { person_id: claim('person_id') }],
    },
  },
)
const documents = resourceIn(
  'documents',
  { tenant: text({ filter: true }), title: text() },
  { id: 'text', create: true, access: { read: { tenant: claim('tenants') }, create: { tenant: claim('tenants') } } },
)
const inbox = resourceIn(
  'inbox',
  { message: text(), person_id: integer({ references: 'people' }) },
  { create: true, import: true, access: { read: 'hr', create: 'signed-in' } },
)
const rooms = resourceIn(
  'rooms',
  {
    name: text(),
    cost: integer({ readBy: ['hr'], range: true }),
    person_id: integer({ references: 'people', filter: true }),
  },
  { create: true, access: { read: 'public', create: 'hr' } },
)
const open = resourceIn('open', { name: text(), person_id: integer({ references: 'people' }) }, { create: true })
const registry = [people, leave, documents, inbox, rooms, open]

type Row = Record<string, unknown> & { id: number | string }

const rows: Record<string, Row[]> = {
  people: Array.from({ length: 60 }, (_, n) => ({
    id: n + 1,
    name: `Person ${n + 1} of ${n % 7}`,
    boss_id: n === 0 ? null : Math.floor((n - 1) / 3) + 1,
    team: n % 3 === 0 ? null : `team ${n % 4}`,
    salary: n % 5 === 0 ? null : 1_000 + n,
    code: `C${n + 1}`,
    low: 1,
    high: 10,
  })),
  leave: Array.from({ length: 150 }, (_, n) => ({
    id: n + 1,
    person_id: (n % 20) + 1,
    days: n % 9,
    state: n % 2 === 0 ? 'new' : 'done',
  })),
  documents: Array.from({ length: 30 }, (_, n) => ({ id: `d${n}`, tenant: `t${n % 4}`, title: `Title ${n}` })),
  inbox: [{ id: 1, message: 'hello', person_id: 3 }],
  rooms: Array.from({ length: 8 }, (_, n) => ({ id: n + 1, name: `Room ${n}`, cost: n * 10, person_id: n + 1 })),
  open: [{ id: 1, name: 'Open', person_id: 2 }],
}

const callers = {
  hr: { roles: ['hr'] },
  boss: { roles: ['boss'], claims: { person_id: 2, states: ['new', 'old'] } },
  worker: { roles: [], claims: { person_id: 20 } },
  tenant: { roles: [], claims: { tenants: ['t1', 't2'], person_id: '2' } },
  guest: { roles: ['guest'] },
  gone: { roles: ['hr'], expires: 0 },
}
const { hr: _, ...others } = callers
const credentials = callersNamed(callers)
const service = await startService({ registry, credentials, batch: true })
await service.fill(registry.map((resource) => ({ resource, rows: (rows[resource.path] ?? []) as never })))

type Name = keyof typeof callers | 'nobody' | 'service'
const headersOf = (name: Name): Record<string, string> => {
  if (name === 'nobody') return {}
  return name === 'service' ? authorized : { authorization: `Bearer ${name}`, 'content-type': 'application/json' }
}
const read = (name: Name, path: string, headers: Record<string, string> = {}): Promise<TestResponse> =>
  service.send(`/api/v1/${path}`, { headers: { ...headersOf(name), ...headers } })
const write = (name: Name, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  service.send(`/api/v1/${path}`, {
    method,
    headers: { ...headersOf(name), 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })

const everybody = Object.fromEntries(
  ['nobody', 'service', 'hr', 'boss', 'worker', 'tenant', 'guest'].map((name) => [name, () => true]),
)
/** What each caller sees, written apart from the engine: all, some rows, or undefined where it may not read at all. */
const sees: Record<string, Partial<Record<Name, (row: Row) => boolean>>> = {
  people: {
    hr: () => true,
    service: () => true,
    boss: (row) => row.id === 2 || row['boss_id'] === 2,
    worker: (row) => row.id === 20 || row['boss_id'] === 20,
  },
  leave: {
    hr: () => true,
    service: () => true,
    boss: (row) => row['person_id'] === 2,
    worker: (row) => row['person_id'] === 20,
  },
  documents: { service: () => true, tenant: (row) => ['t1', 't2'].includes(String(row['tenant'])) },
  inbox: { hr: () => true, service: () => true },
  rooms: everybody,
  open: everybody,
}
const secrets: Record<string, string[]> = { people: ['salary'], rooms: ['cost'] }
const names = ['nobody', 'service', ...Object.keys(callers)] as Name[]

const shown = (name: Name, path: string, row: Row): Row => {
  if (name === 'hr' || name === 'service') return row
  return { ...row, ...Object.fromEntries((secrets[path] ?? []).map((field) => [field, null])) }
}
const visible = (name: Name, path: string): Row[] =>
  (rows[path] ?? []).filter((row) => sees[path]?.[name]?.(row)).map((row) => shown(name, path, row))
const byId = (list: readonly Row[]) => [...list].sort((a, b) => (a.id < b.id ? -1 : 1))

const test = suite('callers')

for (const resource of registry) {
  const { path } = resource
  for (const name of names) {
    test(`${name} reads ${path} as the oracle says, three times`, async () => {
      const expected = byId(visible(name, path))
      const isAllowed = sees[path]?.[name] !== undefined
      const isPublic = path === 'rooms' || path === 'open'
      const status = isAllowed || isPublic ? 200 : name === 'nobody' || name === 'gone' ? 401 : 403
      for (let round = 0; round < 3; round++) {
        const found = await read(name, `${path}?limit=200`)
        assert.is(found.status, status)
        if (status !== 200) {
          assert.is(found.body.error.code, status === 401 ? 'unauthorized' : 'forbidden')
          assert.is((await read(name, `${path}/1`)).status, status)
          continue
        }
        assert.equal(
          found.body.data,
          isPublic ? byId((rows[path] ?? []).map((row) => shown(name, path, row))) : expected,
        )
        assert.is(found.body.meta.total, found.body.data.length)
        const isPrivate = path !== 'open'
        assert.is(found.headers['cache-control'], isPrivate ? 'private, no-cache' : 'no-cache')
        assert.is(/authorization/i.test(found.headers.vary ?? ''), isPrivate)
      }
    })
    if (sees[path]?.[name] === undefined) continue
    test(`${name} reads single rows, pages, exports and searches of ${path} as the oracle says`, async () => {
      const expected = byId(visible(name, path))
      for (const row of rows[path] ?? []) {
        const hidden = !expected.some(({ id }) => id === row.id)
        for (let round = 0; round < 2; round++) {
          const found = await read(name, `${path}/${row.id}`)
          assert.is(found.status, hidden ? 404 : 200, String(row.id))
          if (!hidden) assert.equal(found.body, shown(name, path, row))
        }
      }
      const onPage = (page: TestResponse) => assert.is(page.body.meta.total, expected.length)
      const pages = { headers: headersOf(name), onPage }
      assert.equal(await followPages(service, `/api/v1/${path}?limit=3&sort=-id`, pages), expected.toReversed())
      const offset = await read(name, `${path}?limit=2&offset=1`)
      assert.equal(offset.body.data, expected.slice(1, 3))
      const lines = await read(name, path, { accept: 'application/x-ndjson' })
      assert.equal(JSON.parse(`[${lines.text.trim().replaceAll('\n', ',')}]`), expected)
      const csv = await read(name, path, { accept: 'text/csv' })
      assert.is(csv.text.trim().split('\r\n').length, expected.length + 1)
      for (const word of ['1', 'of 3', 'Title 1', 'new', '1001']) {
        const searched = await read(name, `${path}?q=${encodeURIComponent(word)}&limit=200`)
        const texts = resource.fields.filter((field) => field.kind === 'text' && !field.readBy && field.name !== 'id')
        const textOf = (row: Row) => texts.flatMap((field) => row[field.name] ?? []).join(' ')
        const isMatch = (row: Row) => textOf(row).includes(word)
        assert.equal(searched.body.data, expected.filter(isMatch), word)
      }
    })
  }
}

test('sorts, filters and bounds of visible rows', async () => {
  for (const name of ['boss', 'worker', 'hr'] as const) {
    const sorted = await read(name, 'people?sort=-name&limit=200')
    const expected = [...visible(name, 'people')].sort((a, b) => (String(a['name']) < String(b['name']) ? 1 : -1))
    assert.equal(sorted.body.data, expected)
    const teams = await read(name, 'people?team=team%201&limit=200')
    assert.equal(teams.body.data, byId(visible(name, 'people').filter((row) => row['team'] === 'team 1')))
    const long = await read(name, 'leave?days.gte=5&limit=200')
    assert.equal(long.body.data, byId(visible(name, 'leave').filter((row) => Number(row['days']) >= 5)))
  }
})

test('a summary counts visible rows', async () => {
  for (const name of ['boss', 'hr'] as const) {
    const { body } = await read(name, 'leave/summary?by=state&sum=days')
    const own = visible(name, 'leave')
    assert.is(body.meta.rows, own.length)
    const sums = body.data.map(({ sum }: { sum: { days: number } }) => sum.days)
    const daysOf = (values: number[]) => values.reduce((sum, days) => sum + days, 0)
    assert.is(daysOf(sums), daysOf(own.map((row) => Number(row['days']))))
  }
  assert.is((await read('guest', 'leave/summary')).status, 403)
  assert.is((await read('nobody', 'leave/summary')).status, 401)
})

test('fields with readBy: null, and refused in parameters and bodies', async () => {
  // biome-ignore format: one list
  for (const query of [
    'salary=1001', 'salary.gte=1', 'sort=salary', 'sort=-salary', 'salary.null=true', 'salary.in=1',
  ]) {
    const found = await read('boss', `people?${query}`)
    assert.is(found.status, 422, query)
    assert.equal(found.body.detail[0].type, 'extra_forbidden')
    assert.equal(found.body.detail[0].loc, ['query', query.split('=')[0]])
    assert.is((await read('hr', `people?${query}`)).status, 200, query)
  }
  assert.is((await read('nobody', 'rooms?cost.gte=1')).status, 422)
  for (const query of ['by=salary', 'sum=salary', 'max=salary']) {
    assert.is((await read('boss', `people/summary?${query}`)).body.detail[0].type, 'extra_forbidden', query)
  }
  const body = { name: 'X', boss_id: 2, salary: 5 }
  const [hidden] = issuesOf(await write('boss', 'POST', 'people', body))
  assert.is(hidden, 'extra_forbidden body salary')
  assert.is((await write('boss', 'PATCH', 'people/5', { salary: 5 })).status, 422)
  assert.match(issuesOf(await write('boss', 'POST', 'people/import', [body]))[0] ?? '', / body 0 salary/)
})

test('expanded rows are those that the caller may read', async () => {
  const own = await read('boss', 'people?expand=boss_id&limit=200')
  for (const row of own.body.data) {
    const target = visible('boss', 'people').find(({ id }) => id === row.boss_id)
    assert.equal(row.expanded.boss_id, target ?? null)
  }
  const publicRooms = await read('nobody', 'rooms?expand=person_id')
  assert.ok(publicRooms.body.data.every((row: { expanded: { person_id: unknown } }) => row.expanded.person_id === null))
  const hrRooms = await read('hr', 'rooms?expand=person_id')
  assert.is(hrRooms.body.data[0].expanded.person_id.salary, rows['people']?.[0]?.['salary'])
  const openRow = await read('boss', 'open/1?expand=person_id')
  assert.is(openRow.body.expanded.person_id.salary, null)
  const lists = await read('boss', 'people/2?expand=leave.person_id&expand=people.boss_id')
  assert.is(lists.body.expanded['leave.person_id'].meta.total, visible('boss', 'leave').length)
  assert.is(lists.body.expanded['people.boss_id'].meta.total, 3)
  const none = await read('worker', 'people/20?expand=rooms.person_id')
  assert.is(none.body.expanded['rooms.person_id'].meta.total, 0)
})

test('a wrong, expired or missing key: 401 where a caller is needed, ignored where not', async () => {
  for (const authorization of ['Bearer unknown', 'Bearer gone', 'Bearer a.b.c', 'Basic hr', 'Bearer ']) {
    const found = await service.send('/api/v1/people', { headers: { authorization } })
    assert.is(found.status, 401, authorization)
    assert.match(String(found.headers['www-authenticate']), /^Bearer realm="api"/)
    assert.is((await service.send('/api/v1/rooms', { headers: { authorization } })).status, 200)
    assert.is((await service.send('/api/v1/open', { headers: { authorization } })).status, 200)
  }
  assert.is((await write('hr', 'POST', 'open', { name: 'x' })).status, 403)
  assert.is((await write('gone', 'POST', 'open', { name: 'x' })).status, 401)
  assert.is((await write('nobody', 'POST', 'open', { name: 'x' })).status, 401)
})

test('a create must leave the row inside the rows of create and read', async () => {
  const made = await write('boss', 'POST', 'leave', { person_id: 2, days: 3, state: 'new' })
  assert.is(made.status, 201)
  assert.is((await write('boss', 'POST', 'leave', { person_id: 40, days: 3 })).status, 422)
  assert.is((await write('boss', 'POST', 'leave', { person_id: 5, days: 3 })).status, 403)
  assert.is((await write('boss', 'POST', 'leave', { days: 3 })).status, 403)
  assert.is((await write('worker', 'POST', 'leave', { person_id: 20 })).status, 201)
  assert.is((await write('guest', 'POST', 'leave', { person_id: 20 })).status, 403)
  const hired = await write('boss', 'POST', 'people', { name: 'New', boss_id: 2, code: 'NEW' })
  assert.is(hired.status, 201)
  assert.is(hired.body.salary, null)
  assert.is((await write('boss', 'POST', 'people', { name: 'New', code: 'NEW2' })).status, 403)
  assert.is((await write('hr', 'DELETE', `people/${hired.body.id}`)).status, 204)
  const total = (await read('hr', 'people')).body.meta.total
  assert.is(total, rows['people']?.length)
  await write('hr', 'DELETE', `leave/${made.body.id}`)
})

test('order of a write: 401, 403 by role, 404, 403 of the row, 412, 422, 403 by value', async () => {
  const wrong = { 'if-match': '"x"' }
  assert.is((await write('nobody', 'PATCH', 'leave/1', '{', wrong)).status, 401)
  assert.is((await write('guest', 'PATCH', 'leave/1', '{', wrong)).status, 403)
  assert.is((await write('boss', 'PATCH', 'leave/1', '{', wrong)).status, 404)
  // Row 22 is of person 2 and done, which the boss may not change; 42 too.
  const done = await read('boss', 'leave?state=done')
  const fresh = await read('boss', 'leave?state=new')
  const [closed, openOne] = [done.body.data[0]?.id, fresh.body.data[0]?.id]
  if (closed) assert.is((await write('boss', 'PATCH', `leave/${closed}`, '{', wrong)).status, 403)
  const made = await write('boss', 'POST', 'leave', { person_id: 2, days: 3, state: 'new' })
  const row = `leave/${openOne ?? made.body.id}`
  assert.is((await write('boss', 'PATCH', row, '{', wrong)).status, 412)
  assert.is((await write('boss', 'PATCH', row, '{')).status, 422)
  assert.is((await write('boss', 'PATCH', row, { days: 'x' })).status, 422)
  assert.is((await write('boss', 'PATCH', row, { person_id: null })).status, 403)
  assert.is((await write('boss', 'PATCH', row, { state: 'done' })).status, 403)
  const moved = await write('boss', 'PATCH', row, { state: 'old' })
  assert.is(moved.status, 200)
  assert.equal((await read('boss', row)).body.state, 'old')
  await write('hr', 'DELETE', `leave/${made.body.id}`)
  await write('hr', 'PATCH', row, { state: 'new' })
})

test('tags digest what the caller sees', async () => {
  const [mine, theirs] = [await read('boss', 'people/5'), await read('hr', 'people/5')]
  assert.is.not(mine.headers.etag, theirs.headers.etag)
  const save = ({ headers }: TestResponse) =>
    write('boss', 'PATCH', 'people/5', { team: 'x' }, { 'if-match': String(headers.etag) })
  assert.is((await save(theirs)).status, 412)
  const saved = await save(mine)
  assert.is(saved.status, 200)
  assert.is(saved.body.salary, null)
  await write('hr', 'PATCH', 'people/5', { team: rows['people']?.[4]?.['team'] })
  // What changes elsewhere does not show in the tag of a list.
  const [list, hrList] = [await read('boss', 'people'), await read('hr', 'people')]
  await write('hr', 'PATCH', 'people/40', { team: 'other' })
  await write('hr', 'PATCH', 'people/5', { salary: 77 })
  assert.is((await read('boss', 'people')).headers.etag, list.headers.etag)
  assert.is.not((await read('hr', 'people')).headers.etag, hrList.headers.etag)
  const notModified = await read('boss', 'people', { 'if-none-match': String(list.headers.etag) })
  assert.is(notModified.status, 304)
  await write('hr', 'PATCH', 'people/40', { team: rows['people']?.[39]?.['team'] })
  await write('hr', 'PATCH', 'people/5', { salary: rows['people']?.[4]?.['salary'] })
})

test('a rule between fields holds for every caller', async () => {
  const operations = [{ method: 'PATCH', path: '/v1/people/5', body: { low: 50 } }]
  for (const broken of [
    await write('boss', 'PATCH', 'people/5', { low: 50 }),
    await write('boss', 'POST', 'batch', { operations }),
    await write('boss', 'POST', 'people/import?match=code', [{ code: 'C5', low: 50 }]),
  ])
    assert.match(issuesOf(broken)[0] ?? '', /^rule /)
})

test('a caller that may create but not read gets the id', async () => {
  const made = await write('guest', 'POST', 'inbox', { message: 'psst' })
  assert.is(made.status, 201)
  assert.equal(Object.keys(made.body), ['id'])
  assert.is(made.headers.location, `/api/v1/inbox/${made.body.id}`)
  assert.is((await read('guest', `inbox/${made.body.id}`)).status, 403)
  const operations = [{ method: 'POST', path: '/v1/inbox', body: { message: 'in a batch' } }]
  const many = await write('guest', 'POST', 'batch', { operations })
  assert.equal(Object.keys(many.body.results[0].body), ['id'])
  const imported = await write('guest', 'POST', 'inbox/import', [{ message: 'imported' }])
  assert.is(imported.status, 201)
  assert.is((await write('guest', 'POST', 'inbox', { person_id: 3 })).status, 422)
  const { body } = await read('hr', 'inbox?limit=200')
  for (const { id } of body.data.slice(1)) await write('service', 'DELETE', `inbox/${id}`)
})

test('409 lists only references that the caller may read, and stays 409', async () => {
  const removed = await write('hr', 'DELETE', 'people/20')
  assert.is(removed.status, 409)
  assert.ok(removed.body.error.details.references.some(({ resource }: { resource: string }) => resource === 'leave'))
})

test('an import stays inside the rows of the caller, all or none', async () => {
  const before = (await read('hr', 'leave')).body.meta.total
  const mixed = await write('boss', 'POST', 'leave/import', [{ person_id: 2, state: 'new' }, { state: 'new' }])
  assert.is(mixed.status, 403)
  assert.is((await read('hr', 'leave')).body.meta.total, before)
  assert.is((await write('guest', 'POST', 'leave/import', [])).status, 403)
  assert.is((await write('worker', 'POST', 'leave/import?match=id', [{ id: 20, days: 1 }])).status, 403)
  const mine =
    (await read('boss', 'leave?state=new')).body.data[0] ??
    (await write('boss', 'POST', 'leave', { person_id: 2, state: 'new' })).body
  const changed = await write('boss', 'POST', 'leave/import?match=id', [{ id: mine.id, days: 5 }])
  assert.is(changed.status, 201)
  const foreign = await write('boss', 'POST', 'leave/import?match=id', [{ id: 1, days: 5 }])
  assert.is(foreign.status, 422)
  const closing = await write('boss', 'POST', 'leave/import?match=id', [{ id: mine.id, state: 'done' }])
  assert.is(closing.status, 403)
  assert.is((await read('hr', `leave/${mine.id}`)).body.state, 'new')
  const csv = await write('boss', 'POST', 'people/import', 'name,salary\na,1\n', { 'content-type': 'text/csv' })
  assert.match(issuesOf(csv)[0] ?? '', / body salary/)
})

test('a batch needs the right of each operation, and undoes all', async () => {
  const before = (await read('hr', 'leave')).body.meta.total
  const batch = (operations: unknown[]) => write('boss', 'POST', 'batch', { operations })
  const allowed = { method: 'POST', path: '/v1/leave', body: { person_id: 2, state: 'new' } }
  for (const second of [
    { method: 'DELETE', path: '/v1/people/5' },
    { method: 'POST', path: '/v1/leave', body: { state: 'new' } },
  ]) {
    const { status, body } = await batch([allowed, second])
    assert.equal([status, body.error.details.operation], [403, 1])
  }
  const hidden = await batch([{ method: 'PATCH', path: '/v1/leave/1', body: { days: 1 } }])
  assert.is(hidden.status, 404)
  assert.is((await read('hr', 'leave')).body.meta.total, before)
  assert.is((await write('nobody', 'POST', 'batch', { operations: [] })).status, 401)
})

test('an idempotency key belongs to its caller, and a replay shows what the caller may see now', async () => {
  const key = { 'idempotency-key': 'same-key' }
  const mine = await write('boss', 'POST', 'leave', { person_id: 2, state: 'new' }, key)
  const theirs = await write('worker', 'POST', 'leave', { person_id: 20, state: 'new' }, key)
  assert.equal([mine.status, theirs.status], [201, 201])
  assert.is.not(mine.body.id, theirs.body.id)
  const again = await write('boss', 'POST', 'leave', { person_id: 2, state: 'new' }, key)
  assert.is(again.headers['idempotency-replayed'], 'true')
  assert.equal(again.body, mine.body)
  await write('hr', 'PATCH', `leave/${mine.body.id}`, { person_id: 7 })
  const moved = await write('boss', 'POST', 'leave', { person_id: 2, state: 'new' }, key)
  assert.equal([moved.status, moved.body], [201, { id: mine.body.id }])
  for (const { body } of [mine, theirs]) await write('hr', 'DELETE', `leave/${body.id}`)
})

test('a hidden row and a missing one have the same response', async () => {
  const [hidden, missing] = [await read('boss', 'people/40'), await read('boss', 'people/4000')]
  assert.equal(
    [hidden.status, hidden.text.replaceAll('40', '#'), Object.keys(hidden.headers).sort()],
    [missing.status, missing.text.replaceAll('4000', '#'), Object.keys(missing.headers).sort()],
  )
  const change = (id: number) => write('boss', 'PATCH', `people/${id}`, {})
  const [first, second] = [await change(40), await change(4_000)]
  assert.equal([first.status, first.text.replaceAll('40', '#')], [second.status, second.text.replaceAll('4000', '#')])
})

test('the documents are the same for everybody, and say who may', async () => {
  const texts = await Promise.all(names.map((name) => service.send('/api/openapi.json', { headers: headersOf(name) })))
  assert.is(new Set(texts.map(({ text: one }) => one)).size, 1)
  const { paths, components } = texts[0]?.body ?? {}
  assert.ok(components.securitySchemes.caller)
  assert.equal(paths['/v1/leave'].get.security, [{ caller: [] }])
  assert.equal(paths['/v1/leave'].get['x-access'], ['hr', { person_id: { claim: 'person_id' } }])
  assert.ok(paths['/v1/leave'].get.responses['401'] && paths['/v1/leave'].get.responses['403'])
  assert.equal(paths['/v1/rooms'].get.security, [{}, { caller: [] }])
  assert.equal(paths['/v1/open'].get.security, [])
})

for (const name of Object.keys(others) as Name[]) {
  test(`${name} finds nothing of others by conditional or odd requests`, async () => {
    for (const path of ['people?limit=0', 'people?sort=x', 'people/x', 'leave?after=x', 'people?expand=x']) {
      const status = sees['people']?.[name] ? 422 : name === 'gone' ? 401 : 403
      const found = await read(name, path)
      assert.ok([status, path === 'people/x' ? 404 : status].includes(found.status), `${path} ${found.status}`)
    }
  })
}

test.run()
