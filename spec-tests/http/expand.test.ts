/** Rows with the rows that they reference, and a row with the rows that reference it: bodies, tags, the cache, wrong values. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expandableFields, expandableReferrers } from '../../engine/descriptor/expansion.js'
import { integer, json, text, uuid } from '../../engine/descriptor/index.js'
import type { Resource, RowValues } from '../../engine/descriptor/registry.js'
import { publicRow } from '../../support/samples.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService, type TestResponse } from '../support/service.js'
import { registry } from '../support/tested.js'

const open = { create: true, update: true, delete: true } as const
const countries = resourceIn('countries', { name: text() }, { id: 'text', ...open })
const groups = resourceIn('groups', { title: text(), secret: text({ redacted: true }) }, { id: 'uuid', ...open })
const people = resourceIn(
  'people',
  {
    name: text({ sort: true }),
    country: text({ references: 'countries', onDelete: 'set null', filter: true }),
    group_id: uuid({ references: 'groups', filter: true }),
    boss_id: integer({ references: 'people', filter: true }),
    hidden_id: integer({ references: 'people', redacted: true }),
    extra: json(),
  },
  open,
)
const notes = resourceIn('notes', { body: text() }, open)
const made = await startService({ registry: [countries, groups, people, notes] })

const idOf = async (resource: string, values: object): Promise<number | string> =>
  (await made.create(resource, values)).body.id
for (const id of ['a/b', 'ü "x"', 'NL']) await idOf('countries', { id, name: `Land ${id}` })
const groupId = await idOf('groups', { title: 'Crew', secret: 'hunter2' })
const boss = await idOf('people', {
  name: 'Ana',
  country: 'a/b',
  extra: { b: [1, '}}'], a: 12345678901234567890n.toString() },
})
const worker = await idOf('people', { name: 'Bo', country: 'ü "x"', group_id: groupId, boss_id: boss, hidden_id: boss })
const loner = await idOf('people', { name: 'Cy', extra: '"}' })

const read = async (path: string): Promise<RowValues> => {
  const { status, body, text: sent } = await made.get(path)
  assert.is(status, 200, sent)
  return body
}
const issueOf = ({ status, body }: TestResponse) => {
  assert.is(status, 422)
  const [{ type, loc, ctx }] = body.detail
  return { type, loc, ctx }
}

const test = suite('expand')

test('a list shows the rows that references name, as their own resource shows them', async () => {
  const [ana, bo] = [await read(`/v1/people/${boss}`), await read(`/v1/people/${worker}`)]
  const page = await made.get('/v1/people?expand=country&expand=boss_id&expand=group_id&expand=country')
  assert.equal(page.body.data, [
    { ...ana, expanded: { country: await read('/v1/countries/a%2Fb'), group_id: null, boss_id: null } },
    {
      ...bo,
      expanded: {
        country: await read('/v1/countries/%C3%BC%20%22x%22'),
        group_id: { id: groupId, title: 'Crew', secret: null },
        boss_id: ana,
      },
    },
    { ...(await read(`/v1/people/${loner}`)), expanded: { country: null, group_id: null, boss_id: null } },
  ])
  assert.equal(page.body.meta, { total: 3, limit: 50, offset: 0 })
  assert.is(page.text.includes('12345678901234567890'), true)
  assert.is(page.text.includes('hunter2'), false)
})

test('NDJSON has the same rows', async () => {
  const query = 'expand=country&expand=boss_id&sort=-name'
  const { body } = await made.get(`/v1/people?${query}`)
  const { text: lines } = await made.send(`/api/v1/people?${query}`, { headers: { accept: 'application/x-ndjson' } })
  assert.equal(
    lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
    body.data,
  )
})

test('a single row also shows the rows that reference it, as a list has them', async () => {
  const row = await read(`/v1/people/${boss}`)
  const expanded = (await made.get(`/v1/people/${boss}?expand=people.boss_id&expand=country`)).body
  assert.equal(expanded, {
    ...row,
    expanded: {
      country: await read('/v1/countries/a%2Fb'),
      'people.boss_id': await read(`/v1/people?boss_id=${boss}`),
    },
  })
  const country = (await made.get('/v1/countries/a%2Fb?expand=people.country')).body
  assert.equal(country.expanded['people.country'], await read('/v1/people?country=a%2Fb'))
  const group = (await made.get(`/v1/groups/${groupId}?expand=people.group_id`)).body
  assert.equal(group.expanded['people.group_id'].meta, { total: 1, limit: 50, offset: 0 })
})

test('the first 50 rows that reference a row are shown, and all are counted', async () => {
  for (let n = 0; n < 53; n++) await idOf('people', { name: `P${n}`, boss_id: loner })
  const { body } = await made.get(`/v1/people/${loner}?expand=people.boss_id`)
  assert.equal(body.expanded['people.boss_id'].meta, { total: 53, limit: 50, offset: 0 })
  assert.is(body.expanded['people.boss_id'].data.length, 50)
})

test('pages continue by Link with their expanded rows, and a cursor without them is the same', async () => {
  const { headers, body } = await made.get('/v1/people?expand=boss_id&limit=2')
  const [, next = ''] = /<([^>]*)>; rel="next"/.exec(String(headers['link'])) ?? []
  assert.match(next, 'expand=boss_id')
  const second = await made.send(next)
  const plain = await made.send(next.replace('expand=boss_id&', ''))
  assert.equal(
    second.body.data.map(({ expanded: _, ...row }: RowValues) => row),
    plain.body.data,
  )
  assert.is(second.body.data[0].expanded.boss_id, null)
  assert.is(body.data.length, 2)
})

test('other values are refused with those that are possible', async () => {
  const expected = ['country', 'group_id', 'boss_id']
  for (const value of ['', 'name', 'id', 'hidden_id', 'people.boss_id', 'notes', 'Country', 'country,boss_id'])
    assert.equal(issueOf(await made.get(`/v1/people?expand=${value}`)), {
      type: 'enum',
      loc: ['query', 'expand'],
      ctx: { expected },
    })
  assert.equal(issueOf(await made.get(`/v1/people/${boss}?expand=people.hidden_id`)), {
    type: 'enum',
    loc: ['query', 'expand'],
    ctx: { expected: [...expected, 'people.boss_id'] },
  })
  assert.equal(issueOf(await made.get('/v1/people/999?expand=x')).type, 'enum')
  assert.is((await made.get('/v1/people/999?expand=boss_id')).status, 404)
  assert.is((await made.get('/v1/people/999?expand=people.boss_id')).status, 404)
  assert.equal(issueOf(await made.get('/v1/countries?expand=people.country')), {
    type: 'enum',
    loc: ['query', 'expand'],
    ctx: { expected: [] },
  })
  const csv = await made.send('/api/v1/people?expand=boss_id', { headers: { accept: 'text/csv' } })
  assert.equal(issueOf(csv), { type: 'extra_forbidden', loc: ['query', 'expand'], ctx: undefined })
})

test('a resource with nothing to expand ignores the parameter, and so do writes', async () => {
  const note = await made.create('notes?expand=x', { body: 'Hi' })
  assert.is(note.status, 201, note.text)
  assert.is((await made.get('/v1/notes?expand=x')).status, 200)
  assert.equal((await made.get(`/v1/notes/${note.body.id}?expand=x`)).body, note.body)
  const changed = await made.change(`people/${worker}?expand=x`, { name: 'Bob' })
  assert.equal([changed.status, changed.body.expanded], [200, undefined])
})

/** The tag of a response, read three times: from the database, into the cache and from the cache. */
const tagOf = async (path: string): Promise<string> => {
  const tags = [await made.get(path), await made.get(path), await made.get(path)].map(({ headers }) => headers['etag'])
  assert.is(new Set(tags).size, 1, path)
  return String(tags[0])
}

test('tags change with the expanded rows, and are no tags of a row', async () => {
  const paths = [
    '/v1/people?expand=group_id',
    `/v1/people/${worker}?expand=group_id`,
    `/v1/groups/${groupId}?expand=people.group_id`,
  ]
  const before = await Promise.all(paths.map(tagOf))
  const [plainList, plainRow] = [await tagOf('/v1/people'), await tagOf(`/v1/people/${worker}`)]
  assert.is(new Set([...before, plainList, plainRow]).size, 5)
  for (const [n, path] of paths.entries()) {
    const headers = { 'if-none-match': String(before[n]) }
    assert.is((await made.send(`/api${path}`, { headers })).status, 304)
    assert.is((await made.send(`/api${path}`, { headers: { 'if-match': plainRow } })).status, 412)
  }
  assert.is((await made.change(`people/${worker}`, { name: 'x' }, { 'if-match': String(before[1]) })).status, 412)
  assert.is((await made.change(`groups/${groupId}`, { title: 'Team' })).status, 200)
  const after = await Promise.all(paths.map(tagOf))
  for (const n of paths.keys()) assert.is.not(after[n], before[n], paths[n])
  assert.is(await tagOf(`/v1/people/${worker}`), plainRow)
  const { body } = await made.get(paths[0] as string)
  assert.is(body.data.find(({ id }: RowValues) => id === worker).expanded.group_id.title, 'Team')
  assert.is((await made.change(`people/${worker}`, { name: 'Bo' })).status, 200)
  assert.is.not(await tagOf(paths[2] as string), after[2])
})

test('a page whose expanded rows have many megabytes is sent in parts, and so is a row that they reference', async () => {
  const long = await idOf('groups', { title: 'x'.repeat(900_000) })
  for (let n = 0; n < 6; n++) await idOf('people', { name: 'Long', group_id: long })
  const page = await made.get(`/v1/people?group_id=${long}&expand=group_id`)
  assert.equal([page.status, page.headers['etag'], page.body.data.length], [200, undefined, 6])
  for (const { expanded } of page.body.data) assert.is(expanded.group_id.title.length, 900_000)
  const described = await idOf('countries', { id: 'long', name: 'x'.repeat(900_000) })
  for (let n = 0; n < 6; n++) await idOf('people', { name: 'y'.repeat(900_000), country: described })
  const row = await made.get('/v1/countries/long?expand=people.country')
  assert.equal([row.status, row.headers['etag'], row.body.expanded['people.country'].data.length], [200, undefined, 6])
})

const service = await startService({ registry })
const rowsOf = (resource: Resource) => resource.demo.map((row) => publicRow(resource, row))
const demoRow = (path: unknown, id: unknown) => {
  const target = registry.find((one) => one.path === path) as Resource
  return rowsOf(target).find((row) => row['id'] === id) ?? null
}

for (const resource of registry.filter(({ existing }) => !existing)) {
  const references = expandableFields(resource)
  const referrers = expandableReferrers(registry, resource)
  if (references.length > 0)
    test(`${resource.path}: every reference`, async () => {
      const query = references.map(({ name }) => `expand=${name}`).join('&')
      const { status, body, text: sent } = await service.get(`/v1/${resource.path}?limit=200&${query}`)
      assert.is(status, 200, sent)
      for (const { expanded, ...row } of body.data)
        assert.equal(
          expanded,
          Object.fromEntries(references.map(({ name, references: path }) => [name, demoRow(path, row[name] ?? 0)])),
        )
    })
  if (referrers.size > 0)
    test(`${resource.path}: every reference to a row`, async () => {
      const [first] = rowsOf(resource)
      if (!first) return
      const query = [...referrers.keys()].map((name) => `expand=${name}`).join('&')
      const id = encodeURIComponent(String(first['id']))
      const { body } = await service.get(`/v1/${resource.path}/${id}?${query}`)
      for (const [name, { resource: other, field }] of referrers)
        assert.equal(
          body.expanded[name].meta.total,
          other.demo.filter((row) => row[field.name] === first['id']).length,
          name,
        )
    })
}

test.run()
