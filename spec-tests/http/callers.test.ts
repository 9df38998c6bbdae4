/** Who may see and do what: every operation by every caller against an oracle, and the ways in which a hidden row could show. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim } from '../../engine/descriptor/define.js'
import { integer, number, text } from '../../engine/descriptor/index.js'
import { callersNamed } from '../support/callers.js'
import { ordered, resourceIn } from '../support/registryFrom.js'
import { authorized, followPages, startService, type TestResponse } from '../support/service.js'
import { testTranscripts, transcriptWith } from '../support/transcript.js'

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
const run = transcriptWith(service)

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
})

const hiddenField = ['salary=1001', 'salary.gte=1', 'sort=salary', 'sort=-salary', 'salary.null=true', 'salary.in=1']
/** Row 2 of leave is that of the boss, who may change it no more; row 1 is that of another person. */
const transcripts: Record<string, string> = {
  'a summary needs the right to read': `
    guest GET leave/summary -> 403
    nobody GET leave/summary -> 401`,
  'fields with readBy are refused in parameters and bodies': `
    ${hiddenField.map((query) => `boss GET people?${query} -> 422 extra_forbidden query ${query.split('=')[0]}`).join('\n')}
    ${hiddenField.map((query) => `hr GET people?${query} -> 200`).join('\n')}
    nobody GET rooms?cost.gte=1 -> 422 extra_forbidden query cost.gte
    boss GET people/summary?by=salary -> 422 extra_forbidden query by
    boss GET people/summary?sum=salary -> 422 extra_forbidden query sum
    boss GET people/summary?max=salary -> 422 extra_forbidden query max
    boss POST people {"name":"X","boss_id":2,"salary":5} -> 422 extra_forbidden body salary
    boss PATCH people/5 {"salary":5} -> 422 extra_forbidden body salary
    boss POST people/import [{"name":"X","boss_id":2,"salary":5}] -> 422 extra_forbidden body 0 salary`,
  'an expanded row hides its fields, and lists have visible rows': `
    boss GET open/1?expand=person_id -> 200 {"expanded":{"person_id":{"salary":null}}}
    boss GET people/2?expand=leave.person_id -> 200 {"expanded":{"leave.person_id":{"meta":{"total":8}}}}
    boss GET people/2?expand=people.boss_id -> 200 {"expanded":{"people.boss_id":{"meta":{"total":3}}}}
    worker GET people/20?expand=rooms.person_id -> 200 {"expanded":{"rooms.person_id":{"meta":{"total":0}}}}`,
  'a wrong or expired key is 401 where a caller is needed, and ignored where not': `
    unknown GET people -> 401 unauthorized
    gone GET people -> 401 unauthorized
    a.b.c GET people -> 401 unauthorized
    unknown GET rooms -> 200
    gone GET open -> 200
    hr POST open {"name":"x"} -> 403
    gone POST open {"name":"x"} -> 401
    nobody POST open {"name":"x"} -> 401`,
  'a create must leave the row inside the rows of create and read': `
    made = boss POST leave {"person_id":2,"days":3,"state":"new"} -> 201
    boss POST leave {"person_id":40,"days":3} -> 422 reference body person_id
    boss POST leave {"person_id":5,"days":3} -> 403
    boss POST leave {"days":3} -> 403
    other = worker POST leave {"person_id":20} -> 201
    guest POST leave {"person_id":20} -> 403
    hired = boss POST people {"name":"New","boss_id":2,"code":"NEW"} -> 201 {"salary":null}
    boss POST people {"name":"New","code":"NEW2"} -> 403
    hr DELETE people/{hired} -> 204
    hr GET people -> 200 {"meta":{"total":60}}
    hr DELETE leave/{made} -> 204
    hr DELETE leave/{other} -> 204`,
  'order of a write: 401, 403 by role, 404, 403 of the row, 412, 422, 403 by value': `
    nobody PATCH leave/1 if-match="x" { -> 401
    guest PATCH leave/1 if-match="x" { -> 403
    boss PATCH leave/1 if-match="x" { -> 404
    boss PATCH leave/2 if-match="x" { -> 403
    row = boss POST leave {"person_id":2,"days":3,"state":"new"} -> 201
    boss PATCH leave/{row} if-match="x" { -> 412
    boss PATCH leave/{row} { -> 422 json_invalid body
    boss PATCH leave/{row} {"days":"x"} -> 422 int_type body days
    boss PATCH leave/{row} {"person_id":null} -> 403
    boss PATCH leave/{row} {"state":"done"} -> 403
    boss PATCH leave/{row} {"state":"old"} -> 200
    boss GET leave/{row} -> 200 {"state":"old"}
    hr DELETE leave/{row} -> 204`,
  'tags digest what the caller sees': `
    mine = boss GET people/5 -> 200
    theirs = hr GET people/5 -> 200
    boss PATCH people/5 if-match={theirs.tag} {"team":"x"} -> 412
    boss PATCH people/5 if-match={mine.tag} {"team":"x"} -> 200 {"salary":null}
    hr PATCH people/5 {"team":"team 0"} -> 200`,
  'what changes elsewhere does not show in the tag of a list': `
    mine = boss GET people -> 200
    theirs = hr GET people -> 200
    hr PATCH people/40 {"team":"other"} -> 200
    hr PATCH people/5 {"salary":77} -> 200
    boss GET people if-none-match={mine.tag} -> 304
    hr GET people if-none-match={theirs.tag} -> 200
    hr PATCH people/40 {"team":null} -> 200
    hr PATCH people/5 {"salary":1004} -> 200`,
  'a rule between fields holds for every caller': `
    boss PATCH people/5 {"low":50} -> 422 rule body high
    boss BATCH PATCH people/5 {"low":50} -> 422 rule body operations 0 body high
    boss POST people/import?match=code [{"code":"C5","low":50}] -> 422 rule body 0 high`,
  'a caller that may create but not read': `
    guest POST inbox/import [{"message":"imported"}] -> 201
    guest POST inbox {"person_id":3} -> 422 reference body person_id`,
  '409 lists only references that the caller may read': `
    hr DELETE people/20 -> 409 referenced`,
  'an import stays inside the rows of the caller, all or none': `
    boss POST leave/import [{"person_id":2,"state":"new"},{"state":"new"}] -> 403
    hr GET leave -> 200 {"meta":{"total":150}}
    guest POST leave/import [] -> 403
    worker POST leave/import?match=id [{"id":20,"days":1}] -> 403
    mine = boss POST leave {"person_id":2,"state":"new"} -> 201
    boss POST leave/import?match=id [{"id":{mine},"days":5}] -> 201
    boss POST leave/import?match=id [{"id":1,"days":5}] -> 422 reference body 0 id
    boss POST leave/import?match=id [{"id":{mine},"state":"done"}] -> 403
    hr GET leave/{mine} -> 200 {"state":"new"}
    boss POST people/import content-type=text/csv name,salary -> 422 extra_forbidden body salary line 1
    hr DELETE leave/{mine} -> 204`,
  'a batch needs the right of each operation, and undoes all': `
    boss BATCH POST leave {"person_id":2,"state":"new"} & DELETE people/5 -> 403 {"error":{"details":{"operation":1}}}
    boss BATCH POST leave {"person_id":2,"state":"new"} & POST leave {"state":"new"} -> 403 {"error":{"details":{"operation":1}}}
    boss BATCH PATCH leave/1 {"days":1} -> 404
    hr GET leave -> 200 {"meta":{"total":150}}
    nobody POST batch {"operations":[]} -> 401`,
  'an idempotency key belongs to its caller, and a replay shows what the caller may see now': `
    mine = boss POST leave idempotency-key=same {"person_id":2,"state":"new"} -> 201
    theirs = worker POST leave idempotency-key=same {"person_id":20,"state":"new"} -> 201 {"person_id":20}
    boss POST leave idempotency-key=same {"person_id":2,"state":"new"} -> 201 replayed {"id":{mine},"person_id":2}
    hr PATCH leave/{mine} {"person_id":7} -> 200
    moved = boss POST leave idempotency-key=same {"person_id":2,"state":"new"} -> 201 replayed = {"id":{mine}}
    hr DELETE leave/{mine} -> 204
    hr DELETE leave/{theirs} -> 204`,
}

testTranscripts(test, run, transcripts)

test('a caller that may create but not read gets the id', async () => {
  const { body, headers } = await run('guest POST inbox {"message":"psst"} -> 201')
  assert.equal([Object.keys(body), headers.location], [['id'], `/api/v1/inbox/${body.id}`])
  await run(`guest GET inbox/${body.id} -> 403`)
  const batch = await run('guest BATCH POST inbox {"message":"in a batch"} -> 200')
  assert.equal(Object.keys(batch.body.results[0].body), ['id'])
})

test('other words before a key are no key', async () => {
  for (const authorization of ['Basic hr', 'Bearer ']) {
    const found = await service.send('/api/v1/people', { headers: { authorization } })
    assert.is(found.status, 401, authorization)
    assert.match(String(found.headers['www-authenticate']), /^Bearer realm="api"/)
    for (const path of ['rooms', 'open'])
      assert.is((await service.send(`/api/v1/${path}`, { headers: { authorization } })).status, 200)
  }
})

test('a hidden row and a missing one have the same response', async () => {
  for (const send of [
    (id: number) => read('boss', `people/${id}`),
    (id: number) => run(`boss PATCH people/${id} {}`),
  ]) {
    const [hidden, missing] = [await send(40), await send(4_000)]
    assert.equal(
      [hidden.status, hidden.text.replaceAll('40', '#'), Object.keys(hidden.headers).sort()],
      [missing.status, missing.text.replaceAll('4000', '#'), Object.keys(missing.headers).sort()],
    )
  }
})

test('the documents are the same for everybody, and say who may', async () => {
  const texts = await Promise.all(names.map((name) => service.send('/api/openapi.json', { headers: headersOf(name) })))
  assert.is(new Set(texts.map(({ text: one }) => one)).size, 1)
  const { paths, components } = texts[0]?.body ?? {}
  assert.ok(components.securitySchemes.caller)
  const security = ['leave', 'rooms', 'open'].map((path) => paths[`/v1/${path}`].get.security)
  assert.equal(security, [[{ caller: [] }], [{}, { caller: [] }], []])
  assert.equal(paths['/v1/leave'].get['x-access'], ['hr', { person_id: { claim: 'person_id' } }])
  assert.ok(paths['/v1/leave'].get.responses['401'] && paths['/v1/leave'].get.responses['403'])
})

for (const name of ['boss', 'worker', 'tenant', 'guest', 'gone'] as const) {
  test(`${name} finds nothing of others by odd requests`, async () => {
    const status = sees['people']?.[name] ? 422 : name === 'gone' ? 401 : 403
    for (const path of ['people?limit=0', 'people?sort=x', 'people?expand=x'])
      await run(`${name} GET ${path} -> ${status}`)
    await run(`${name} GET people/x -> ${status === 422 ? 404 : status}`)
    assert.is((await read(name, 'leave?after=x')).status, sees['leave']?.[name] ? 422 : status)
  })
}

test.run()
