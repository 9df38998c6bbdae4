/** Many rows at once: every format, all or nothing, every issue with its row and line, matches, dry runs, keys. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  boolean,
  date,
  decimal,
  integer,
  json,
  now,
  number,
  text,
  timestamp,
  uuid,
} from '../../engine/descriptor/index.js'
import type { RowValues } from '../../engine/descriptor/registry.js'
import { resourceIn } from '../support/registryFrom.js'
import { authorized, issuesOf, startService, type TestResponse } from '../support/service.js'

const open = { create: true, update: true, delete: true, import: true } as const
const teams = resourceIn('teams', { name: text({ unique: true }) }, { required: ['name'], ...open })
const people = resourceIn(
  'people',
  {
    code: text({ unique: true, maxLength: 20 }),
    name: text(),
    age: integer({ min: 0 }),
    weight: number(),
    is_member: boolean(),
    born: date(),
    seen: timestamp(),
    fee: decimal({ digits: 12, places: 2 }),
    tag: uuid(),
    extra: json(),
    secret: text({ redacted: true }),
    state: text({ oneOf: ['new', 'old'], next: { new: ['old'] }, default: 'new' }),
    team_id: integer({ references: 'teams', filter: true }),
    seat: integer({ unique: ['team_id'] }),
    changed: timestamp({ managed: now, onUpdate: now }),
  },
  {
    required: ['name', 'state'],
    rules: [
      {
        fields: ['age', 'seat'],
        holds: ({ age, seat }) => (seat as number) <= (age as number) + 1_000,
        message: 'seat is too high',
      },
    ],
    ...open,
  },
)
const lands = resourceIn('lands', { title: text() }, { id: 'text', ...open })
const categories = resourceIn(
  'categories',
  { title: text(), parent_id: text({ references: 'categories' }) },
  { id: 'text', ...open },
)
const notes = resourceIn('notes', { body: text() }, { create: true, import: true })
const plain = resourceIn('plain', { body: text() }, { create: true })
const { send, get, create, change } = await startService({ registry: [teams, people, lands, categories, notes, plain] })
await create('teams', { name: 'Red' })
await create('teams', { name: 'Blue' })

const importAs = (type: string, path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  send(`/api/v1/${path}`, { method: 'POST', headers: { ...authorized, 'content-type': type, ...headers }, body })
const csv = (path: string, body: string | Buffer, headers?: Record<string, string>) =>
  importAs('text/csv', path, body, headers)
const ndjson = (path: string, rows: readonly object[], headers?: Record<string, string>) =>
  importAs('application/x-ndjson', path, rows.map((row) => JSON.stringify(row)).join('\n'), headers)

const stored = ({ status, body, text: sent }: TestResponse, expected = 201) => {
  assert.is(status, expected, sent)
  return body
}
const rowsOf = async (path: string): Promise<RowValues[]> => (await get(`/v1/${path}?limit=200`)).body.data
const totalOf = async (path: string): Promise<number> => (await get(`/v1/${path}?limit=1`)).body.meta.total

const test = suite('import')

test('CSV: kinds, quotes, empty cells and empty texts, in any order of columns', async () => {
  const body = [
    'name;code;age;weight;is_member;born;seen;fee;tag;extra;team_id',
    'Ana;a1;30;1.5e3;true;2020-02-29;2026-03-01T10:00:00+01:00;012.5;0190D8A1-6F2E-7C3A-9B1D-2F4E6A8C0B1D;"{""b"":[1],""a"":12345678901234567890}";1',
    '"";;;;;;;;;;',
    '',
    '"Bo ""B"";\nsecond line";b2;0;-0.5;false;;;0;;"""text""";2',
    '',
  ].join('\r\n')
  const result = stored(await csv('people/import', body))
  assert.equal([result.created, result.updated, result.unchanged, result.ids.length], [3, 0, 0, 3])
  const [ana, empty, bo] = await rowsOf('people')
  assert.equal([ana?.['id'], empty?.['id'], bo?.['id']], result.ids)
  const valuesOf = (row: RowValues | undefined, ...names: string[]) => names.map((name) => row?.[name])
  assert.equal(valuesOf(ana, 'age', 'weight', 'is_member', 'born', 'seen', 'fee', 'tag'), [
    30,
    1500,
    true,
    '2020-02-29',
    '2026-03-01T09:00:00.000Z',
    '12.50',
    '0190d8a1-6f2e-7c3a-9b1d-2f4e6a8c0b1d',
  ])
  assert.equal(valuesOf(empty, 'name', 'code', 'state', 'extra'), ['', null, 'new', null])
  assert.equal(valuesOf(bo, 'name', 'extra', 'is_member', 'fee'), ['Bo "B";\nsecond line', 'text', false, '0.00'])
  const { text: sent } = await get('/v1/people?limit=1')
  assert.ok(sent.includes('"extra":{"b":[1],"a":12345678901234567890}'), sent)
})

test('CSV: a CR ends the file, and cells keep their white space', async () => {
  const bodies = async (body: string) => {
    const { ids } = stored(await csv('notes/import', body))
    return Promise.all(ids.map(async (id: number) => (await get(`/v1/notes/${id}`)).body.body))
  }
  assert.equal(await bodies('body\r\n"a"\r'), ['a'])
  assert.equal(await bodies('body\r\na\r'), ['a'])
  assert.equal(await bodies('body\n a \n\u00a0b\u00a0\n\u00a0\n\n \n'), [' a ', '\u00a0b\u00a0', '\u00a0', ' '])
  assert.equal(issuesOf(await csv('notes/import', 'body\nx\n"a"\rb\n')), ['csv_parsing body 1 line 3'])
  assert.equal(issuesOf(await csv('notes/import', '\u00a0body\nx\n')), ['extra_forbidden body \u00a0body line 1'])
})

test('a no-break space is no white space of JSON', async () => {
  assert.equal(issuesOf(await importAs('application/x-ndjson', 'notes/import', '{"body":"a"}\n\u00a0\n')), [
    'json_invalid body 1 line 2',
  ])
  for (const body of ['\u00a0[]', '[\u00a0]', '[]\u00a0', '[{"body":"a"}\u00a0]'])
    assert.is(issuesOf(await importAs('application/json', 'notes/import', body)).length, 1, body)
})

test('NDJSON and JSON arrays, with blank lines and white space', async () => {
  const rows = [
    { name: 'N1', age: 1 },
    { name: 'N2', extra: { z: '}],[' } },
  ]
  const texts = rows.map((row) => JSON.stringify(row))
  const lines = `\n${texts.join('\n\n')}\r\n`
  assert.is(stored(await importAs('application/x-ndjson', 'people/import', lines)).created, 2)
  assert.is(stored(await importAs('application/json', 'people/import', ` [ ${texts.join(' , ')} ] `)).created, 2)
  for (const [type, body] of [
    ['text/csv', ''],
    ['text/csv', 'name\n'],
    ['application/x-ndjson', '\n'],
    ['application/json', '[]'],
    ['application/json', ' [ ] '],
  ] as const)
    assert.equal(stored(await importAs(type, 'people/import', body)), { created: 0, updated: 0, unchanged: 0, ids: [] })
})

test('blank lines are counted, whatever they consist of', async () => {
  const blank = ' \r\n\n\t\n\r\r\n'
  for (const mark of ['', '\uFEFF']) {
    const lines = `${mark}${blank}{"body":1}\n${blank} {"body":2}\r\n${blank}{"body":"a"}\n  [`
    assert.equal(issuesOf(await importAs('application/x-ndjson', 'notes/import', lines)), [
      'string_type body 0 body line 5',
      'string_type body 1 body line 10',
      'json_invalid body 3 line 16',
    ])
    const table = `${mark}\r\n\nbody\r\n\n\r\n\na"\r\n\n"b\n\n"\n\r\n"c"d\n\r\r\n"`
    assert.equal(issuesOf(await csv('notes/import', table)), [
      'csv_parsing body 0 line 7',
      'csv_parsing body 2 line 13',
      'csv_parsing body 4 line 15',
    ])
  }
})

test('a byte that is not UTF-8 has its line', async () => {
  const lines = ['body', 'é', '', 'b', '', '']
  for (const type of ['text/csv', 'application/x-ndjson'])
    for (const n of lines.keys()) {
      const bytes = lines.map((line, m) => Buffer.concat([Buffer.from(line), Buffer.from(n === m ? [0xff, 10] : [10])]))
      assert.equal(issuesOf(await importAs(type, 'notes/import', Buffer.concat([...bytes, Buffer.from([0xfe])]))), [
        `string_unicode body line ${n + 1}`,
      ])
    }
})

test('all issues of all rows, with their lines, and nothing is stored', async () => {
  const before = await totalOf('people')
  const body = 'name,age,code,team_id\nA,-1,dup,1\n,x,dup,99\n"B,\nC",1.5,,\nD,1\nE"x,2,,\nF,,a1,\n'
  assert.equal(issuesOf(await csv('people/import', body)), [
    'greater_than_equal body 0 age line 2',
    'missing body 1 name line 3',
    'int_type body 1 age line 3',
    'unique body 1 code line 3',
    'reference body 1 team_id line 3',
    'int_from_float body 2 age line 4',
    'csv_parsing body 3 line 6',
    'csv_parsing body 4 line 7',
    'unique body 5 code line 8',
  ])
  const lines = '{"name":"ok"}\n{"name":5,"x":1}\n[]\n{"name":\n{"name":"y","seat":5000,"age":1}'
  assert.equal(issuesOf(await importAs('application/x-ndjson', 'people/import', lines)), [
    'string_type body 1 name line 2',
    'extra_forbidden body 1 x line 2',
    'object_type body 2 line 3',
    'json_invalid body 3 line 4',
    'rule body 4 seat line 5',
  ])
  assert.equal(issuesOf(await importAs('application/json', 'people/import', '[{"name":1},{"age":"2"}]')), [
    'string_type body 0 name',
    'missing body 1 name',
    'int_type body 1 age',
  ])
  assert.is(await totalOf('people'), before)
})

test('a body that is not of its type, and names that no row can have', async () => {
  for (const body of ['{}', '1', '', '[{}', '[{}]]', '[{}],', 'null'])
    assert.ok(issuesOf(await importAs('application/json', 'people/import', body)).length > 0, body)
  assert.equal(issuesOf(await csv('people/import', 'nam,name,name,id,changed\n1,2,3,4,5\n')), [
    'extra_forbidden body nam line 1',
    'extra_forbidden body name line 1',
    'extra_forbidden body id line 1',
    'extra_forbidden body changed line 1',
  ])
  assert.equal(issuesOf(await csv('people/import', '"name\nA')), ['csv_parsing body line 1'])
  assert.is((await importAs('text/plain', 'people/import', 'name')).status, 422)
  assert.is((await send('/api/v1/people/import', { method: 'POST', body: 'name' })).status, 401)
  for (const method of ['GET', 'PATCH', 'DELETE'])
    assert.equal([(await send('/api/v1/people/import', { method, headers: authorized })).status], [405])
  assert.is((await csv('plain/import', 'body\nx')).status, 405)
})

test('parameters: unknown ones, and wrong values, store nothing', async () => {
  const before = await totalOf('notes')
  for (const [query, type, name] of [
    ['dryrun=true', 'extra_forbidden', 'dryrun'],
    ['dryRun=yes', 'bool_parsing', 'dryRun'],
    ['match=body', 'enum', 'match'],
    ['limit=1', 'extra_forbidden', 'limit'],
    ['=x', 'extra_forbidden', ''],
  ] as const)
    assert.equal(issuesOf(await csv(`notes/import?${query}`, 'body\nx\n')), [`${type} query ${name}`])
  assert.is(await totalOf('notes'), before)
  assert.is(stored(await csv('notes/import?dryRun=false&ignore=other', 'other,body\n1,x\n')).created, 1)
})

test('a dry run checks everything and stores nothing', async () => {
  const before = await totalOf('teams')
  const [rows, key] = [[{ name: 'Green' }, { name: 'Grey' }], { 'idempotency-key': 'dry' }]
  const counts = { created: 2, updated: 0, unchanged: 0, ids: [] }
  assert.equal(stored(await ndjson('teams/import?dryRun=true', rows, key), 200), counts)
  assert.equal(issuesOf(await ndjson('teams/import?dryRun=true', [{ name: 'Red' }])), ['unique body 0 name line 1'])
  assert.is(await totalOf('teams'), before)
  assert.is(stored(await ndjson('teams/import', [{ name: 'Green' }], key)).created, 1)
})

test('the same key gives the same result, and another body with it is refused', async () => {
  const headers = { 'idempotency-key': 'once' }
  const first = await ndjson('teams/import', [{ name: 'Cyan' }], headers)
  const again = await ndjson('teams/import', [{ name: 'Cyan' }], headers)
  assert.equal([again.status, again.body, again.headers['idempotency-replayed']], [201, stored(first), 'true'])
  assert.equal(issuesOf(await ndjson('teams/import', [{ name: 'Pink' }], headers)).length, 1)
  assert.equal(issuesOf(await ndjson('teams/import?ignore=x', [{ name: 'Cyan' }], headers)).length, 1)
})

test('an invalid key is reported with the issues of the rows', async () => {
  const headers = { 'idempotency-key': 'with a space' }
  const before = await totalOf('teams')
  const key = 'idempotency_key header Idempotency-Key'
  assert.equal(issuesOf(await ndjson('teams/import', [{ name: 1 }, { name: 'Red' }], headers)), [
    key,
    'string_type body 0 name line 1',
    'unique body 1 name line 2',
  ])
  assert.equal(issuesOf(await ndjson('teams/import', [{ name: 'Unkeyed' }], headers)), [key])
  assert.is(await totalOf('teams'), before)
})

test('match: rows that are found are changed by the rules of updates, others are created', async () => {
  await ndjson('people/import', [
    { code: 'm1', name: 'One', age: 1, state: 'new', secret: 's1' },
    { code: 'm2', name: 'Two', age: 2, state: 'old' },
    { code: 'm3', name: 'Three', age: 3 },
  ])
  const [one] = (await get('/v1/people?q=m1')).body.data
  const result = stored(await csv('people/import?match=code', 'code,name,age\nm1,Uno,\nm2,Two,2\nm4,Four,4\n'))
  assert.equal([result.created, result.updated, result.unchanged], [1, 1, 1])
  const [changed] = (await get('/v1/people?q=m1')).body.data
  assert.equal([changed.id, changed.name, changed.age], [one.id, 'Uno', 1])
  assert.ok(changed.changed >= one.changed)
  assert.equal(result.ids[0], one.id)
  assert.equal(
    issuesOf(
      await ndjson('people/import?match=code', [
        { code: 'm2', state: 'new' },
        { code: 'm1', seat: 9_000 },
        { name: 'No code' },
        { code: 'm3', age: 1 },
        { code: 'm3', age: 2 },
        { code: 5 },
        { code: 'm9' },
      ]),
    ),
    [
      'transition body 0 state line 1',
      'rule body 1 seat line 2',
      'missing body 2 code line 3',
      'unique body 4 code line 5',
      'string_type body 5 code line 6',
      'missing body 6 name line 7',
    ],
  )
  const byId = stored(await ndjson('people/import?match=id', [{ id: one.id, name: 'Eins' }]))
  assert.equal([byId.updated, byId.ids], [1, [one.id]])
  assert.equal(issuesOf(await ndjson('people/import?match=id', [{ id: 999_999, name: 'x' }])), [
    'reference body 0 id line 1',
  ])
  assert.equal(stored(await ndjson('people/import?match=id', [{ id: one.id, secret: 's2' }])).updated, 1)
})

test('null in a JSON cell is a value, and an empty cell is none', async () => {
  await ndjson(
    'people/import',
    ['j1', 'j2', 'j3'].map((code) => ({ code, name: 'J', extra: [1] })),
  )
  const rows = 'code,name,extra\nj1,J,null\nj2,J,\nj3,J,"null"\nj4,J,null\n'
  const { created, updated, unchanged } = stored(await csv('people/import?match=code', rows))
  assert.equal([created, updated, unchanged], [1, 2, 1])
  for (const [code, extra] of Object.entries({ j1: null, j2: [1], j3: null, j4: null }))
    assert.equal((await get(`/v1/people?q=${code}`)).body.data[0].extra, extra, code)
})

test('ids that clients choose: imported, matched, and unique within the body', async () => {
  assert.equal(stored(await csv('lands/import', 'id,title\nnl,Netherlands\n"a ""b""",Other\n')).ids, ['nl', 'a "b"'])
  assert.equal(issuesOf(await csv('lands/import', 'id,title\nnl,x\nde,y\nde,z\n')), [
    'unique body 0 id line 2',
    'unique body 2 id line 4',
  ])
  const result = stored(await csv('lands/import?match=id', 'id,title\nnl,Nederland\nde,Deutschland\n'))
  assert.equal(result, { created: 1, updated: 1, unchanged: 0, ids: ['nl', 'de'] })
})

test('rows refer to rows of the same import, in any order', async () => {
  const rows = Array.from({ length: 4_500 }, (_, n) => ({ id: `c${n}`, parent_id: n === 4_499 ? null : `c${n + 1}` }))
  assert.is(stored(await ndjson('categories/import', rows)).created, 4_500)
  assert.is((await get('/v1/categories/c7')).body.parent_id, 'c8')
  const matched = [
    { id: 'c4499', parent_id: 'new' },
    { id: 'new', parent_id: 'new' },
  ]
  const { created, updated } = stored(await ndjson('categories/import?match=id', matched))
  assert.equal([created, updated], [1, 1])
  assert.is(stored(await ndjson('categories/import?dryRun=true', [{ id: 'd', parent_id: 'd' }]), 200).created, 1)
})

test('a reference to a row that is neither stored nor imported has its line', async () => {
  const before = await totalOf('categories')
  const body = 'id,parent_id,title\ne1,e2,\ne2,e3,\ne4,e5,\ne5,c0,\n'
  assert.equal(issuesOf(await csv('categories/import', body)), ['reference body 1 parent_id line 3'])
  const wrong = [
    { id: 'f1', title: 1 },
    { id: 'f2', parent_id: 'f1' },
    { id: 'f3', parent_id: 'f4' },
  ]
  assert.equal(issuesOf(await ndjson('categories/import', wrong)), [
    'string_type body 0 title line 1',
    'reference body 2 parent_id line 3',
  ])
  assert.is(await totalOf('categories'), before)
})

test('uniqueness within other fields, and references, also of changed rows', async () => {
  await ndjson('people/import', [
    { code: 's1', name: 'S', team_id: 1, seat: 1, age: 1 },
    { code: 's2', name: 'S', team_id: 2, seat: 1, age: 1 },
  ])
  assert.equal(
    issuesOf(
      await ndjson('people/import', [
        { name: 'T', team_id: 1, seat: 1 },
        { name: 'T', team_id: 1, seat: 2 },
        { name: 'T', team_id: 1, seat: 2 },
        { name: 'T', seat: 1 },
      ]),
    ),
    ['unique body 0 seat line 1', 'unique body 2 seat line 3'],
  )
  assert.equal(
    issuesOf(
      await ndjson('people/import?match=code', [
        { code: 's2', team_id: 1 },
        { code: 's1', team_id: 77 },
      ]),
    ),
    ['unique body 0 seat line 1', 'reference body 1 team_id line 2'],
  )
})

test('the first 100 issues are shown, and all are counted; too many rows are 413', async () => {
  const { status, body } = await ndjson(
    'people/import',
    Array.from({ length: 300 }, () => ({ name: 1 })),
  )
  assert.equal([status, body.error.details.issues.length, body.error.details.total], [422, 100, 300])
  assert.is(body.error.details.issues[99].line, 100)
  for (const many of ['{}\n'.repeat(10_001), Buffer.alloc(16 * 1024 * 1024 + 1, ' ')])
    assert.is((await importAs('application/x-ndjson', 'notes/import', many)).status, 413)
})

test('10,000 rows are stored in order', async () => {
  const before = await totalOf('notes')
  const rows = Array.from({ length: 10_000 }, (_, n) => ({ body: `row ${n}` }))
  const { ids } = stored(await ndjson('notes/import', rows))
  assert.is(await totalOf('notes'), before + 10_000)
  for (const n of [0, 4_999, 9_999]) assert.is((await get(`/v1/notes/${ids[n]}`)).body.body, `row ${n}`)
  assert.is((await get('/v1/notes?q=row%20777')).body.meta.total, 11)
})

test('what was exported can be imported again to equal rows', async () => {
  const ignored = 'ignore=id&ignore=changed&ignore=secret&ignore=code&ignore=seat'
  const export1 = await rowsOf('people')
  for (const type of ['text/csv', 'application/x-ndjson']) {
    const exported = await send('/api/v1/people', { headers: { accept: type } })
    const last = (await rowsOf('people')).length
    const { created, ids } = stored(await importAs(type, `people/import?${ignored}`, exported.text))
    assert.is(created, last)
    const bare = ({ id: _, changed: __, code: ___, seat: ____, ...row }: RowValues) => row
    const copies = (await Promise.all(export1.map((_, n) => get(`/v1/people/${ids[n]}`)))).map(({ body }) => bare(body))
    assert.equal(copies, export1.map(bare))
  }
})

test('a row that changes while it is imported is changed after all', async () => {
  const [one] = (await get('/v1/people?q=m3')).body.data
  const changes = Array.from({ length: 5 }, (_, n) => change(`people/${one.id}`, { age: 50 + n }))
  const imports = Array.from({ length: 3 }, (_, n) =>
    ndjson('people/import?match=code', [{ code: 'm3', name: `Name ${n}` }]),
  )
  for (const { status } of await Promise.all([...changes, ...imports]))
    assert.ok(status === 200 || status === 201, String(status))
  assert.match((await get(`/v1/people/${one.id}`)).body.name, /^Name/)
})

test('a body that ends too early, or has odd brackets, stores nothing', async () => {
  const before = await totalOf('notes')
  for (const body of ['[{"body":"a"},{"body":"b"}}', '[}', '[{"body":"a"}', '[{"body":"a"]', '[{"body":"a"},]'])
    assert.is((await importAs('application/json', 'notes/import', body)).status, 422, body)
  assert.is(await totalOf('notes'), before)
})

test('bodies that are made to take long are refused soon', async () => {
  const started = performance.now()
  for (const [type, body] of [
    ['text/csv', `${'"'.repeat(71)}\n`],
    ['text/csv', `body${','.repeat(2_000_000)}\n`],
    ['text/csv', `${Array.from({ length: 50_000 }, (_, n) => `c${n}`).join()}\n`],
    ['text/csv', `body\n"${'""'.repeat(4_000_000)}"\n`],
    ['text/csv', '\n'.repeat(8_000_000)],
    ['application/x-ndjson', '\n'.repeat(8_000_000)],
    ['application/json', '['.repeat(4_000_000)],
    ['application/json', `[{"body":[${'1,'.repeat(4_000_000)}1]}]`],
    ['application/json', `["${'\\n'.repeat(4_000_000)}"]`],
  ] as const) {
    const { status, text: sent } = await importAs(type, 'notes/import', body)
    assert.ok(
      status === 422 || status === 413 || (status === 201 && sent.includes('"created":0')),
      `${status} ${sent.slice(0, 200)}`,
    )
  }
  // Minutes before, or never.
  assert.ok(performance.now() - started < 60_000)
})

test('the digits of JSON count as a change, and decimals are matched', async () => {
  const own = await startService({
    registry: [resourceIn('items', { price: decimal({ digits: 8, places: 2, unique: true }), extra: json() }, open)],
  })
  const headers = { ...authorized, 'content-type': 'application/x-ndjson' }
  const ndjsonOf = (body: string) => own.send('/api/v1/items/import?match=price', { method: 'POST', headers, body })
  for (const [extra, count] of [
    ['12345678901234567890', 'created'],
    ['12345678901234567891', 'updated'],
    ['12345678901234567891', 'unchanged'],
    ['1', 'updated'],
    ['1.0', 'updated'],
  ] as const)
    assert.is(stored(await ndjsonOf(`{"price":"1.5","extra":${extra}}`))[count], 1, extra)
  assert.ok((await own.get('/v1/items')).text.includes('"price":"1.50","extra":1.0'))
})

test('numbers that have two shortest forms can be imported again', async () => {
  const weights = {
    201: ['1e23', '9.999999999999999e+22', '-3.9624484575434976e+16', '0.1', '5e-324'],
    422: ['0.30000000000000001', '12345678901234567890.5', '1e400'],
  }
  for (const [status, numbers] of Object.entries(weights))
    for (const weight of numbers) {
      const sent = await importAs('application/x-ndjson', 'people/import', `{"name":"w","weight":${weight}}`)
      assert.is(sent.status, Number(status), weight)
    }
})

test('rows that others create at the same time are changed', async () => {
  const rows = Array.from({ length: 50 }, (_, n) => ({ name: `Raced ${n}` }))
  const all = await Promise.all(Array.from({ length: 4 }, () => ndjson('teams/import?match=name', rows)))
  for (const one of all) assert.is(one.status, 201, one.text)
})

test.run()
