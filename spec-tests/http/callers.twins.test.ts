/**
 * Two databases that differ only in rows and fields that are hidden from a caller answer it with the same bytes. Exceptions are those of
 * docs/access.md: values of `unique` fields, the ids in sequence, and whether a delete is refused are the same in both.
 */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim } from '../../engine/descriptor/define.js'
import { date, decimal, integer, number, text } from '../../engine/descriptor/index.js'
import type { Registry } from '../../engine/descriptor/registry.js'
import { withRulePaths } from '../../engine/descriptor/rulePaths.js'
import { callersNamed } from '../support/callers.js'
import { resourceIn } from '../support/registryFrom.js'
import { nextPage, type Send, startService, type TestResponse, type TestService } from '../support/service.js'

const own = { owner: claim('owner') }
const all = { create: true, update: true, delete: true, summary: true, import: true } as const

const mine = ['hr', own]
const ofOwner = { ...all, access: { read: mine, create: mine, update: mine, delete: mine } }

/** A visible row is the same in both databases; a hidden one differs in all but its id and what is unique. */
const twinRegistry = (twin: 'a' | 'b'): Registry => {
  const [other, n] = [`hidden ${twin}`, twin === 'a' ? 1 : 7_777]
  /** Rows with these ids: those of `ana` and of a stranger by turns. Some of the hidden ones are in one database only. */
  const rows = (ids: readonly number[], visible: (id: number) => object, hidden: (id: number) => object) =>
    ids.flatMap((id) => {
      if (id % 2 === 1) return [{ id, owner: 'ana', ...visible(id) }]
      const isLast = id === Math.max(...ids.filter((one) => one % 2 === 0))
      return twin === 'b' && id % 4 === 0 && !isLast ? [] : [{ id, owner: 'bob', ...hidden(id) }]
    })
  const ids = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
  const rooms = resourceIn(
    'rooms',
    {
      name: text({ sort: true }),
      cost: number({ readBy: ['hr'], filter: true, sort: true, range: true }),
      keeper_id: integer({ references: 'people', readBy: ['hr'], filter: true }),
    },
    {
      ...all,
      access: { read: 'public', create: ['hr', 'clerk'], update: ['hr', 'clerk'], delete: ['hr', 'clerk'] },
      demo: ids(6).map((id) => ({ id, name: `Room ${id}`, cost: n * id, keeper_id: twin === 'a' ? 2 : 6 })),
    },
  )
  const people = resourceIn(
    'people',
    {
      owner: text({ filter: true }),
      name: text({ sort: true }),
      code: text({ unique: true, pattern: '[A-Z]\\d+', maxLength: 9 }),
      team: text({ filter: true, sort: true }),
      born: date({ range: true, sort: true }),
      days: integer({ range: true, sort: true }),
      pay: decimal({ digits: 12, places: 2, readBy: ['hr'], filter: true, sort: true, range: true }),
      note: text({ readBy: ['hr'] }),
      room_id: integer({ references: 'rooms', filter: true, onDelete: 'set null' }),
    },
    {
      ...ofOwner,
      rules: [
        {
          fields: ['days', 'team'],
          holds: ({ days, team }) => team !== 'short' || (days as number) < 5,
          message: 'a short team has less than 5 days',
        },
      ],
      // The first row, of which examples could be made, is hidden.
      demo: [
        { id: 100, owner: 'bob', name: other, code: 'Z100', team: other, days: n, pay: `${n}.00`, note: other },
        ...rows(
          ids(40),
          (id) => ({
            name: `Ana ${id}`,
            code: `A${id}`,
            team: id % 3 === 0 ? 'red' : 'short',
            born: `2000-01-${String((id % 28) + 1).padStart(2, '0')}`,
            days: id % 5,
            pay: `${n * id}.50`,
            note: `${other} ${id}`,
            room_id: (id % 5) + 1,
          }),
          (id) => ({ name: `${other} ${id}`, code: `B${id}`, team: other, days: n, pay: '1.00', room_id: 6 }),
        ),
      ].map((row) => ({ born: null, room_id: null, note: null, ...row })),
    },
  )
  /** Refers to people by cascade; what refers to it is reached through hidden rows in one database only. */
  const bags = resourceIn(
    'bags',
    {
      owner: text({ filter: true }),
      name: text(),
      person_id: integer({ references: 'people', filter: true, onDelete: 'cascade' }),
      bag_id: integer({ references: 'bags', filter: true, onDelete: 'cascade' }),
    },
    {
      ...ofOwner,
      demo: [
        { id: 1, owner: 'ana', name: 'Seen', person_id: 1, bag_id: null },
        { id: 2, owner: 'bob', name: other, person_id: twin === 'a' ? 1 : null, bag_id: null },
        // In one database the delete of person 1 reaches it, through a hidden row.
        { id: 3, owner: 'ana', name: 'Behind', person_id: null, bag_id: 2 },
        { id: 5, owner: 'ana', name: 'Inside', person_id: null, bag_id: 1 },
        { id: 6, owner: 'ana', name: 'Of three', person_id: 3, bag_id: null },
        ...ids(twin === 'a' ? 1 : 4).map((id) => ({
          id: id + 10,
          owner: 'bob',
          name: other,
          person_id: 3,
          bag_id: null,
        })),
        { id: 20, owner: 'bob', name: other, person_id: null, bag_id: null },
      ],
    },
  )
  const labels = resourceIn(
    'labels',
    { owner: text({ filter: true }), bag_id: integer({ references: 'bags', filter: true, onDelete: 'restrict' }) },
    {
      ...ofOwner,
      demo: [
        { id: 1, owner: 'ana', bag_id: 5 },
        { id: 2, owner: 'ana', bag_id: 2 },
        { id: 3, owner: 'ana', bag_id: 3 },
        { id: 4, owner: 'bob', bag_id: twin === 'a' ? 3 : 20 },
        // The hidden reason why person 3 cannot be deleted, in both.
        { id: 5, owner: 'bob', bag_id: 11 },
        { id: 30, owner: 'bob', bag_id: null },
      ],
    },
  )
  const vaults = resourceIn(
    'vaults',
    { name: text(), person_id: integer({ references: 'people', filter: true }) },
    {
      ...all,
      id: 'text',
      access: { read: 'hr', create: ['hr', 'clerk'], update: 'hr', delete: 'hr' },
      demo: ids(n % 5).map((id) => ({ id: `${twin}${id}`, name: other, person_id: 2 })),
    },
  )
  const open = resourceIn(
    'open',
    {
      name: text(),
      person_id: integer({ references: 'people', filter: true }),
      vault_id: text({ references: 'vaults' }),
    },
    {
      ...all,
      demo: ids(4).map((id) => ({
        id,
        name: `Open ${id}`,
        person_id: [null, 2, 5, null][id - 1] ?? null,
        vault_id: null,
      })),
    },
  )
  const hrOnly = { read: 'hr', create: 'hr', update: 'hr', delete: 'hr' }
  /** Hidden rows that rules look at: in both they lead to people of the same owner, but to others. */
  const crates = resourceIn(
    'crates',
    { name: text(), person_id: integer({ references: 'people', filter: true, onDelete: 'set null' }) },
    {
      ...all,
      access: hrOnly,
      demo: [
        { id: 1, name: other, person_id: twin === 'a' ? 5 : 7 },
        { id: 2, name: other, person_id: twin === 'a' ? 2 : 6 },
        ...ids(n % 5).map((id) => ({ id: id + 2, name: other, person_id: id % 2 === 0 ? 9 : null })),
        { id: 20, name: other, person_id: twin === 'a' ? 11 : 5 },
      ],
    },
  )
  const throughPerson = ['hr', { 'person_id.owner': claim('owner') }]
  const visits = resourceIn(
    'visits',
    {
      name: text({ sort: true }),
      team: text({ filter: true, sort: true }),
      person_id: integer({ references: 'people', filter: true, onDelete: 'set null' }),
    },
    {
      ...all,
      access: { read: throughPerson, create: throughPerson, update: throughPerson, delete: throughPerson },
      demo: [
        { id: 30, name: other, team: other, person_id: 100 },
        ...rows(
          ids(20),
          (id) => ({ name: `Visit ${id}`, team: id % 3 === 0 ? 'red' : 'blue', person_id: id }),
          (id) => ({ name: `${other} ${id}`, team: other, person_id: [null, 2, 6, 100][(id / 2) % 4] ?? null }),
        ).map(({ owner: _, ...row }) => row),
      ],
    },
  )
  const throughTwo = ['hr', { 'visit_id.person_id.owner': claim('owner') }]
  const notes = resourceIn(
    'notes',
    {
      name: text({ sort: true }),
      days: integer({ range: true, sort: true }),
      visit_id: integer({ references: 'visits', filter: true, onDelete: 'cascade' }),
      crate_id: integer({ references: 'crates', filter: true, onDelete: 'set null' }),
    },
    {
      ...all,
      access: {
        read: [...throughTwo, { 'crate_id.person_id.owner': claim('owner') }],
        create: throughTwo,
        update: throughTwo,
        delete: throughTwo,
      },
      demo: [
        { id: 1, name: 'By a visit', days: 1, visit_id: 1, crate_id: null },
        { id: 3, name: 'By a crate', days: 2, visit_id: null, crate_id: 1 },
        { id: 5, name: 'By both', days: 3, visit_id: 3, crate_id: 20 },
        { id: 7, name: 'By a crate, with a hidden visit', days: 4, visit_id: 30, crate_id: 1 },
        { id: 2, name: other, days: n, visit_id: 2, crate_id: null },
        { id: 4, name: other, days: n, visit_id: null, crate_id: 2 },
        ...ids(n % 5).map((id) => ({ id: id + 10, name: other, days: id, visit_id: null, crate_id: null })),
        { id: 30, name: other, days: n, visit_id: 30, crate_id: 2 },
      ],
    },
  )
  return withRulePaths([rooms, people, bags, labels, vaults, open, crates, visits, notes])
}

const callers = { hr: { roles: ['hr'] }, ana: { roles: [], claims: { owner: 'ana' } }, clerk: { roles: ['clerk'] } }
const settings = {
  explorer: true,
  batch: true,
  credentials: callersNamed(callers),
  sessionSecret: 'the same for both, and at least 32 bytes long',
}
const twins = await Promise.all(
  (['a', 'b'] as const).map((twin) => startService({ registry: twinRegistry(twin), ...settings })),
)
const [first] = twins as [TestService, TestService]

const site = { host: 'twins.test', origin: 'http://twins.test' }
const test = suite('twin databases')

/** Headers that say something about rows; the others are the time and the id of the request. */
const compared = [
  ...['etag', 'link', 'location', 'content-location', 'content-type', 'content-length', 'content-disposition'],
  ...['cache-control', 'vary', 'allow', 'retry-after', 'idempotency-replayed', 'www-authenticate'],
]

/** How often a page is read again: under load it leaves out counts that take too long, and a difference that is none of time stays. */
const maxReads = 10

/** A page without the keys of its forms, each of which is another one. */
const withoutKeys = (text: string): string => text.replaceAll(/name="form\.key" value="[^"]*"/g, '')

/** Sends the same request to both services, compares the responses, and returns one of them. */
const ask = async (path: string, sent: Send = {}) => {
  const request = { ...sent, headers: { ...site, ...sent.headers } }
  const isPage = !path.startsWith('/api') && sent.method === undefined
  const both = async (left: number): Promise<[TestResponse, TestResponse]> => {
    const [a, b] = (await Promise.all(twins.map(({ send }) => send(path, request)))) as [TestResponse, TestResponse]
    return isPage && withoutKeys(a.text) !== withoutKeys(b.text) && left > 0 ? both(left - 1) : [a, b]
  }
  const [a, b] = await both(maxReads)
  const what = `${sent.method ?? 'GET'} ${path} ${String(sent.body ?? '').slice(0, 200)}`
  assert.is(a.status, b.status, `${what}\n${a.text.slice(0, 2_000)}\n${b.text.slice(0, 2_000)}`)
  assert.is(withoutKeys(a.text), withoutKeys(b.text), what)
  // The tag of a whole table has a random part, another in each database; a page that takes long is sent in parts, with other headers.
  const isWhole = path.startsWith('/api/v1/open')
  const timed = ['etag', 'content-length', 'vary', 'cache-control']
  const headers = path.startsWith('/api')
    ? compared.filter((name) => !isWhole || name !== 'etag')
    : compared.filter((name) => !timed.includes(name))
  for (const name of headers) assert.is(a.headers[name], b.headers[name], `${what}: ${name}`)
  assert.ok(a.status < 500, `${what}: ${a.text}`)
  return a
}

type Name = keyof typeof callers | 'nobody'
const names: readonly Name[] = ['ana', 'clerk', 'nobody']
const keyOf = (name: Name): Record<string, string> => (name === 'nobody' ? {} : { authorization: `Bearer ${name}` })

/** The cookie of a visitor, which both services take. */
const cookieOf = async (name: Name): Promise<Record<string, string>> => {
  if (name === 'nobody') return {}
  const headers = { ...site, 'content-type': 'application/x-www-form-urlencoded' }
  const signedIn = await first.send('/explore/sign-in', { method: 'POST', headers, body: `key=${name}` })
  return { cookie: String(signedIn.headers['set-cookie']?.[0]).split(';')[0] as string }
}

const paths = twinRegistry('a').map(({ path }) => path)
const itemIds = ['1', '2', '3', '4', '5', '6', '11', '12', '14', '100', '999', 'a1', 'b1', 'x']

/** Queries that name every field in every way, allowed or not. */
const queries = [
  ...['', 'limit=3', 'limit=3&offset=2', 'offset=30', 'sort=-id', 'limit=0'],
  ...['a', 'ana 1', 'hidden', 'hidden a', 'red', '7777'].map((q) => `q=${encodeURIComponent(q)}`),
  ...['owner', 'team', 'room_id', 'keeper_id', 'person_id', 'bag_id', 'visit_id', 'crate_id', 'cost', 'pay'].flatMap(
    (field) => [`${field}=1`, `${field}.in=1&${field}.in=ana`, `${field}.null=true`, `${field}=bob`].map((one) => one),
  ),
  ...['name', 'team', 'born', 'days', 'pay', 'cost'].flatMap((field) => [`sort=${field}&limit=4`, `sort=-${field}`]),
  ...['days', 'born', 'pay', 'cost'].flatMap((field) => [`${field}.gte=2`, `${field}.lt=2001-01-01`]),
  ...['room_id', 'keeper_id', 'person_id', 'bag_id', 'vault_id', 'visit_id', 'crate_id'].map(
    (field) => `expand=${field}&limit=5`,
  ),
]
const summaries = [
  ...[
    '',
    'by=team',
    'by=owner&by=team',
    'by=room_id',
    'by=person_id',
    'by=born.month',
    'by=pay',
    'by=keeper_id',
    'by=visit_id',
    'by=crate_id',
  ],
  ...['sum=days', 'avg=pay', 'max=cost', 'min=born', 'by=team&sum=days&max=born&q=ana'],
]

for (const name of names) {
  test(`${name}: lists, totals, searches, filters, orders, links, expanded rows, summaries and exports`, async () => {
    const headers = keyOf(name)
    for (const path of paths) {
      for (const query of queries) await ask(`/api/v1/${path}?${query}`, { headers })
      for (const query of summaries) await ask(`/api/v1/${path}/summary?${query}`, { headers })
      for (const accept of ['text/csv', 'application/x-ndjson'])
        for (const query of ['', 'q=hidden', 'sort=-id', 'expand=person_id'])
          await ask(`/api/v1/${path}?${query}`, { headers: { ...headers, accept } })
      for (let next: string | undefined = `/api/v1/${path}?limit=3`; next; )
        next = nextPage(await ask(next, { headers }))
      const list = await ask(`/api/v1/${path}`, { headers })
      if (list.headers.etag && path !== 'open')
        await ask(`/api/v1/${path}`, { headers: { ...headers, 'if-none-match': list.headers.etag } })
    }
  })

  test(`${name}: single rows, and what refers to them`, async () => {
    const headers = keyOf(name)
    // biome-ignore format: one list
    const reverse = [
      'people.room_id', 'rooms.keeper_id', 'bags.person_id', 'bags.bag_id', 'labels.bag_id', 'vaults.person_id',
      'crates.person_id', 'visits.person_id', 'notes.visit_id', 'notes.crate_id',
    ]
    for (const path of paths)
      for (const id of itemIds) {
        await ask(`/api/v1/${path}/${id}`, { headers })
        await ask(`/api/v1/${path}/${id}`, { headers: { ...headers, 'if-match': '"wrong"' } })
        for (const one of reverse) await ask(`/api/v1/${path}/${id}?expand=${one}`, { headers })
      }
  })

  test(`${name}: documents, the index and health`, async () => {
    for (const path of ['/api', '/api/openapi.json', '/swagger.json', '/api/v1/health', '/readyz'])
      await ask(path, { headers: keyOf(name) })
  })

  test(`${name}: pages of the explorer`, async () => {
    const headers = await cookieOf(name)
    for (const page of ['/', '/explore/-/find?q=ana', '/explore/-/find?q=hidden', '/explore/sign-in'])
      await ask(page, { headers })
    for (const path of paths) {
      const at = `/explore/${path}`
      for (const query of queries) await ask(`${at}?${query}`, { headers })
      // biome-ignore format: one list
      for (const page of [
        'filters', 'new', 'choices?q=a', 'choices?q=hidden', 'import', 'template.csv', 'download.csv',
      ])
        await ask(`${at}/${page}`, { headers })
      for (const field of ['owner', 'team', 'code', 'pay', 'cost', 'note'])
        await ask(`${at}/values?field=${field}&q=h`, { headers })
      for (const grouping of ['team', 'owner', 'room_id', 'person_id', 'visit_id', 'crate_id', 'pay']) {
        await ask(`${at}?group=${grouping}`, { headers })
        await ask(`${at}?by=${grouping}&sum=days`, { headers })
      }
      for (const id of itemIds)
        for (const page of ['', '/edit', '/delete']) await ask(`${at}/${id}${page}`, { headers })
      for (const many of ['delete-many', 'edit-many'])
        for (const query of ['id=1', 'id=1&id=3&id=5', 'id=2&id=4', 'all=true', 'id=999'])
          await ask(`${at}/${many}?${query}`, { headers })
    }
  })
}

test('a hidden row that prevents a delete is not told as too many rows', async () => {
  const cookie = await cookieOf('ana')
  const single = await ask('/explore/people/3/delete', { headers: cookie })
  assert.match(single.text, /It cannot be deleted while other rows refer to it, or to what would be deleted with it\./)
  const many = await ask('/explore/people/delete-many?id=3', { headers: cookie })
  assert.match(many.text, /They cannot be deleted while other rows refer to one of them/)
  const refused = await ask('/api/v1/people/3', { method: 'DELETE', headers: keyOf('ana') })
  assert.equal([refused.status, refused.body.error.details.references], [409, []])
  for (const { text } of [single, many, refused]) assert.not.match(text, /10,?000/)
})

test('a conflict counts what is reached through visible rows', async () => {
  const refused = await ask('/api/v1/people/1', { method: 'DELETE', headers: keyOf('ana') })
  assert.equal(refused.body.error.details.references, [{ resource: 'labels', field: 'bag_id', count: 1 }])
})

/** Bodies that are refused, or that store the same in both. */
const bodies: Readonly<Record<string, readonly object[]>> = {
  rooms: [{ name: 'New' }, { cost: 1 }, { keeper_id: 2 }, { name: 7 }, {}],
  people: [
    { owner: 'ana', name: 'New', code: 'N1' },
    { owner: 'ana', code: 'B2' },
    { owner: 'bob', name: 'Foreign' },
    { owner: 'ana', pay: '1.00' },
    { owner: 'ana', room_id: 4 },
    { owner: 'ana', room_id: 999 },
    { owner: 'ana', days: 9, team: 'short' },
    { days: 9 },
  ],
  bags: [
    { owner: 'ana', person_id: 1, bag_id: 5 },
    ...[2, 4, 8, 100, 999].map((person_id) => ({ owner: 'ana', person_id })),
    ...[2, 11, 12, 999].map((bag_id) => ({ owner: 'ana', bag_id })),
  ],
  labels: [{ owner: 'ana', bag_id: 5 }, { owner: 'ana', bag_id: 12 }, { owner: 'bob' }],
  vaults: [{ id: 'new', name: 'New' }, { id: 'other', person_id: 2 }, { id: 'third', person_id: 999 }, { name: 'x' }],
  open: [{ name: 'x', person_id: 2 }, { vault_id: 'a1' }],
  visits: [{ name: 'New', person_id: 1 }, { person_id: 2 }, { person_id: 4 }, { person_id: 999 }, { name: 'Nobody' }],
  notes: [
    { name: 'New', visit_id: 1 },
    ...[2, 4, 30, 999].map((visit_id) => ({ visit_id })),
    ...[1, 2, 3, 20, 999].map((crate_id) => ({ crate_id, visit_id: 1 })),
    { name: 'Nothing' },
  ],
}

for (const name of names) {
  test(`${name}: writes`, async () => {
    const headers = { ...keyOf(name), 'content-type': 'application/json' }
    const write = (method: string, path: string, body?: unknown, more: Record<string, string> = {}) =>
      ask(path, { method, headers: { ...headers, ...more }, ...(body !== undefined && { body: JSON.stringify(body) }) })
    const cookie = await cookieOf(name)
    const post = (path: string, body: string) =>
      ask(path, {
        method: 'POST',
        headers: { ...cookie, 'content-type': 'application/x-www-form-urlencoded' },
        body: `form.tag=wrong&${body}`,
      })
    for (const [path, sent] of Object.entries(bodies)) {
      await post(`/explore/${path}/import`, 'text=code%0A1')
      for (const id of itemIds) {
        await post(
          `/explore/${path}/${id}/edit`,
          'form.script=true&name=Changed&room_id=hidden&person_id=2&form.opened={}',
        )
        await post(`/explore/${path}/${id}/delete`, '')
        await post(`/explore/${path}/edit-many?field=name`, `name=Changed&form.rows=[["${id}","wrong"]]`)
      }
      for (const query of ['?dryRun=true', '?dryRun=true&match=id', '?dryRun=true&match=code']) {
        for (const one of sent) await write('POST', `/api/v1/${path}/import${query}`, [one])
        for (const id of [1, 2, 4, 12, 14, 100, 999])
          await write('POST', `/api/v1/${path}/import${query}`, [{ id, owner: 'ana' }])
        await write('POST', `/api/v1/${path}/import${query}`, [...sent, ...sent])
      }
      for (const id of itemIds) {
        for (const body of [...sent, { name: 'Changed' }]) {
          await write('PATCH', `/api/v1/${path}/${id}`, body, { 'if-match': '"wrong"' })
          const operation = { method: 'PATCH', path: `/v1/${path}/${id}`, body }
          for (const at of ['/api/v1/batch', '/explore/batch'])
            await write('POST', at, { operations: [operation, { method: 'POST', path: '/v1/nothing', body: {} }] })
        }
        await write('DELETE', `/api/v1/${path}/${id}`, undefined, { 'if-match': '"wrong"' })
      }
      for (const body of sent) await write('POST', `/api/v1/${path}`, body)
    }
  })

  test(`${name}: deletes, whose conflicts name only what is reached through visible rows`, async () => {
    const headers = { ...keyOf(name), 'content-type': 'application/json' }
    const cookie = await cookieOf(name)
    for (const [path, id] of [
      'people/1',
      'people/3',
      'bags/1',
      'bags/5',
      'bags/3',
      'rooms/6',
      'people/2',
      'visits/1',
      'visits/2',
    ].map((one) => one.split('/'))) {
      await ask(`/explore/${path}/${id}/delete`, { headers: cookie })
      await ask(`/explore/${path}/delete-many?id=${id}&id=5`, { headers: cookie })
      const body = JSON.stringify({ operations: [{ method: 'DELETE', path: `/v1/${path}/${id}` }] })
      await ask('/explore/batch', { method: 'POST', headers, body })
      await ask(`/api/v1/${path}/${id}`, { method: 'DELETE', headers })
    }
  })
}

test('a change of hidden rows, those of a rule among them, is not told', async () => {
  const headers = keyOf('ana')
  const asOwner = { ...headers, 'content-type': 'application/json' }
  const reads = [
    'visits',
    'visits?limit=3&sort=-name',
    'visits/5',
    'notes',
    'notes/3',
    'notes/7',
    'notes?expand=visit_id',
  ]
  const tags = await Promise.all(
    reads.map(async (path) => [path, String((await ask(`/api/v1/${path}`, { headers })).headers.etag)] as const),
  )
  // In one of them only, by somebody who may.
  for (const [row, change] of [
    ['visits/2', { name: 'Hidden', team: 'Hidden' }],
    ['notes/30', { days: 5 }],
    ['crates/1', { name: 'Hidden', person_id: 11 }],
    ['crates/2', { person_id: null }],
    ['people/100', { name: 'Hidden', days: 3 }],
  ] as const)
    assert.is((await first.change(row, change)).status, 200, row)
  for (const [path, tag] of tags) {
    const { status } = await ask(`/api/v1/${path}`, { headers: { ...headers, 'if-none-match': tag } })
    assert.is(status, 304, path)
    await ask(`/api/v1/${path}`, { headers })
  }
  const [, tag = ''] = tags.find(([path]) => path === 'visits/5') ?? []
  const changed = await ask('/api/v1/visits/5', {
    method: 'PATCH',
    headers: { ...asOwner, 'if-match': tag },
    body: JSON.stringify({ name: 'Changed' }),
  })
  assert.is(changed.status, 200)
})

test('the twins do differ', async () => {
  const headers = keyOf('hr')
  const totals = await Promise.all(
    twins.map(async ({ send }) => (await send('/api/v1/people', { headers })).body.meta.total),
  )
  assert.is.not(totals[0], totals[1])
})

test.run()
