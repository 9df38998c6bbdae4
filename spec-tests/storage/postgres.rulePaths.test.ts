/** Rules of access that follow references, while another program changes what they depend on; and what prevents a start or a lock. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim } from '../../engine/descriptor/define.js'
import { integer, text } from '../../engine/descriptor/index.js'
import type { Resource } from '../../engine/descriptor/registry.js'
import { withRulePaths } from '../../engine/descriptor/rulePaths.js'
import { callersNamed } from '../support/callers.js'
import { freshUrl, roleOn, runOn, sessionOn } from '../support/database.js'
import { resourceIn } from '../support/registryFrom.js'
import { closeServices, startService } from '../support/service.js'
import { until } from '../support/until.js'

const all = { create: true, update: true, delete: true, import: true } as const
const own = { 'loan_id.institution_id': claim('institution') }
const registry = withRulePaths([
  resourceIn('institutions', { name: text() }, all),
  resourceIn('loans', { institution_id: integer({ references: 'institutions', filter: true }) }, all),
  resourceIn(
    'items',
    { title: text(), loan_id: integer({ references: 'loans', filter: true }) },
    { ...all, access: { read: own, create: own, update: own, delete: own } },
  ),
  // Its readers see all rows: only what they write is ruled.
  resourceIn(
    'reports',
    { title: text(), item_id: integer({ references: 'items', filter: true }) },
    {
      ...all,
      access: {
        read: 'signed-in',
        create: { 'item_id.loan_id.institution_id': claim('institution') },
        update: { 'item_id.loan_id.institution_id': claim('institution') },
        delete: { 'item_id.loan_id.institution_id': claim('institution') },
      },
    },
  ),
])
const credentials = callersNamed({ one: { roles: [], claims: { institution: 1 } } })

const rows = {
  institutions: [1, 2].map((id) => ({ id, name: `Institution ${id}` })),
  loans: [1, 2].map((id) => ({ id, institution_id: 1 })),
  items: [1, 2].map((id) => ({ id, title: `Item ${id}`, loan_id: id })),
  reports: [1, 2].map((id) => ({ id, title: `Report ${id}`, item_id: id })),
}
const start = async (url: string, of = registry) => {
  const service = await startService({ registry: of, url, credentials, batch: true })
  if (of === registry)
    for (const resource of registry)
      await service.fill([{ resource, rows: rows[resource.path as keyof typeof rows] as never }])
  return service
}
const headers = { authorization: 'Bearer one', 'content-type': 'application/json' }

const test = suite('rules through references on PostgreSQL')
test.after.each(closeServices)

// What the caller sends while the loan 1 is being moved to another institution, and the status once it was moved.
const writes: readonly (readonly [what: string, method: string, path: string, body: unknown, status: number])[] = [
  ['a create', 'POST', 'items', { title: 'New', loan_id: 1 }, 403],
  ['a create through two references', 'POST', 'reports', { title: 'New', item_id: 1 }, 403],
  ['an update', 'PATCH', 'items/1', { title: 'Changed' }, 404],
  ['an update through two references', 'PATCH', 'reports/1', { title: 'Changed' }, 403],
  ['an update that moves a row there', 'PATCH', 'items/2', { loan_id: 1 }, 403],
  ['a delete', 'DELETE', 'reports/1', undefined, 403],
  [
    'an import',
    'POST',
    'reports/import',
    [
      { title: 'New', item_id: 2 },
      { title: 'New', item_id: 1 },
    ],
    403,
  ],
  ['an import that changes rows', 'POST', 'reports/import?match=id', [{ id: 1, title: 'Changed' }], 403],
  [
    'a batch',
    'POST',
    'batch',
    {
      operations: [
        { method: 'POST', path: '/v1/reports', body: { title: 'New', item_id: 2 } },
        { method: 'POST', path: '/v1/reports', body: { title: 'New', item_id: 1 } },
      ],
    },
    403,
  ],
]
for (const [what, method, path, body, status] of writes)
  test(`${what} waits for a change of the referenced row, and is refused`, async () => {
    const url = await freshUrl()
    const service = await start(url)
    const session = await sessionOn(url)
    await session.query('begin')
    await session.query('update loans set institution_id = 2 where id = 1')
    const sent = service.send(`/api/v1/${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    await until(async () => (await runOn(url, 'select 1 from pg_locks where not granted')).length > 0)
    await session.query('commit')
    await session.end()
    assert.is((await sent).status, status, (await sent).text)
    const stored = await runOn(
      url,
      'select (select count(*) from items) as items, (select count(*) from reports) as reports',
    )
    assert.equal(stored, [{ items: 2, reports: 2 }])
    assert.equal(
      await runOn(
        url,
        "select title from items where title = 'Changed' union all select title from reports where title = 'Changed'",
      ),
      [],
    )
  })

test('writes of callers and moves of what they depend on do not fail together', async () => {
  const service = await start(await freshUrl())
  const statuses = new Map<number, number>()
  const send = async (method: string, path: string, body: unknown, as = headers) => {
    const { status } = await service.send(`/api/v1/${path}`, { method, headers: as, body: JSON.stringify(body) })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  await Promise.all(
    Array.from({ length: 120 }, (_, n) => {
      if (n % 3 === 0) return service.change(`loans/${(n % 2) + 1}`, { institution_id: (n % 2) + 1 })
      return n % 3 === 1
        ? send('POST', 'items', { title: 'x', loan_id: (n % 2) + 1 })
        : send('PATCH', `reports/${(n % 2) + 1}`, { title: `x ${n}` })
    }),
  )
  assert.equal(
    [...statuses.keys()].filter((status) => ![200, 201, 403, 422].includes(status)),
    [],
  )
})

test('batches that change what their earlier writes depend on wait for each other', async () => {
  const service = await start(await freshUrl())
  const batch = (n: number) => {
    const operations = [
      { method: 'POST', path: '/v1/reports', body: { title: 'New', item_id: 1 } },
      { method: 'PATCH', path: '/v1/items/1', body: { title: `Changed ${n}` } },
    ]
    return service.send('/api/v1/batch', { method: 'POST', headers, body: JSON.stringify({ operations }) })
  }
  const answers = await Promise.all(Array.from({ length: 24 }, (_, n) => batch(n)))
  assert.equal(
    answers.map(({ status }) => status).filter((status) => status !== 200),
    [],
  )
  assert.is((await service.rows(registry[3] as Resource)).length, 26)
})

test('updates of rows that refer to each other wait for each other', async () => {
  const tree = withRulePaths([
    resourceIn(
      'nodes',
      { owner: text({ filter: true }), parent_id: integer({ references: 'nodes', filter: true }), n: integer() },
      {
        ...all,
        access: { read: 'signed-in', update: { 'parent_id.parent_id.owner': claim('owner') }, create: 'signed-in' },
        delete: false,
      },
    ),
  ])
  const url = await freshUrl()
  const service = await startService({
    registry: tree,
    url,
    credentials: callersNamed({ one: { roles: [], claims: { owner: 'ann' } } }),
  })
  const nodes = [1, 2].map((id) => ({ id, owner: 'ann', parent_id: 3 - id, n: 0 }))
  await service.fill([{ resource: tree[0] as never, rows: nodes as never }])
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, n) =>
      service.send(`/api/v1/nodes/${(n % 2) + 1}`, { method: 'PATCH', headers, body: JSON.stringify({ n }) }),
    ),
  )
  assert.equal(
    answers.map(({ status }) => status).filter((status) => status !== 200),
    [],
  )
})

test('a role that may only read a referenced table writes without its locks', async () => {
  const url = await freshUrl()
  await start(url)
  const { role, address, drop } = await roleOn(url)
  await runOn(url, `grant select, insert, update, delete on all tables in schema public to ${role}`)
  await runOn(url, `grant usage, select, update on all sequences in schema public to ${role}`)
  await runOn(url, `revoke insert, update, delete on loans from ${role}`)
  const service = await startService({ registry, url: address, credentials })
  const body = JSON.stringify({ title: 'New', loan_id: 1 })
  assert.is((await service.send('/api/v1/items', { method: 'POST', headers, body })).status, 201)
  await closeServices()
  await drop()
})

test('a view that rules follow references to is read, and not locked', async () => {
  const url = await freshUrl()
  await runOn(
    url,
    `create table stock (id bigint generated by default as identity primary key, shelf_id bigint, title text);
     create view shelves as select 1::bigint as id, 'a'::text as room union all select 2, 'b'`,
  )
  const existing = withRulePaths([
    resourceIn('shelves', { room: text({ filter: true }) }, { existing: true, create: false }),
    resourceIn(
      'stock',
      { title: text(), shelf_id: integer({ references: 'shelves', filter: true }) },
      {
        ...all,
        existing: true,
        access: { read: { 'shelf_id.room': claim('room') }, create: { 'shelf_id.room': claim('room') } },
        update: false,
        delete: false,
        import: false,
      },
    ),
  ])
  const service = await startService({
    registry: existing,
    url,
    credentials: callersNamed({ one: { roles: [], claims: { room: 'a' } } }),
  })
  const create = (shelf: number) =>
    service.send('/api/v1/stock', { method: 'POST', headers, body: JSON.stringify({ title: 'x', shelf_id: shelf }) })
  assert.equal([(await create(1)).status, (await create(2)).status], [201, 403])
  assert.is((await service.send('/api/v1/stock', { headers })).body.meta.total, 1)
})

test.run()
