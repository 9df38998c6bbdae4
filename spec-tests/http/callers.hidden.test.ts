/** Ways in which hidden rows and fields could show, or stand in the way. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim } from '../../engine/descriptor/define.js'
import { integer, text } from '../../engine/descriptor/index.js'
import { callersNamed } from '../support/callers.js'
import { freshUrl, runOn, server, sessionOn } from '../support/database.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService } from '../support/service.js'

const own = { owner: claim('owner') }
const teams = resourceIn(
  'teams',
  {
    name: text(),
    max: integer({ readBy: ['hr'], filter: true }),
    by: text({ filter: true }),
  },
  { delete: true, access: { read: 'public', create: 'hr', delete: ['hr', 'cleaner'] } },
)
const vaults = resourceIn('vaults', { name: text() }, { access: { read: 'hr', create: 'hr' } })
const items = resourceIn(
  'items',
  {
    owner: text({ filter: true }),
    state: text({ filter: true }),
    code: text({ unique: true }),
    vault_id: integer({ references: 'vaults', default: 1 }),
    team_id: integer({ references: 'teams', readBy: ['hr'], filter: true }),
    essay: text({ readBy: ['hr'] }),
    rank: integer({ sort: true, range: true }),
  },
  {
    import: true,
    update: true,
    access: {
      read: ['hr', 'cleaner', own],
      create: ['hr', own],
      update: ['hr', { ...own, state: claim('state') }],
    },
  },
)
const registry = [teams, vaults, items]
const ana = { roles: [], claims: { owner: 'ana', state: 'open' } }
const callers: Parameters<typeof callersNamed>[0] = { hr: { roles: ['hr'] }, cleaner: { roles: ['cleaner'] }, ana }
const service = await startService({ registry, credentials: callersNamed(callers), batch: true })
await service.fill([
  { resource: teams, rows: [1, 2].map((id) => ({ id, name: `T${id}`, max: id, by: 'max' })) as never },
  { resource: vaults, rows: [{ id: 1, name: 'V' }] as never },
  {
    resource: items,
    rows: [
      { id: 1, owner: 'ana', state: 'open', code: 'A', vault_id: 1, team_id: 2, essay: null, rank: 1 },
      { id: 2, owner: 'ana', state: 'shut', code: 'B', vault_id: 1, team_id: null, essay: null, rank: 1 },
      { id: 3, owner: 'bob', state: 'open', code: 'C', vault_id: 1, team_id: null, essay: null, rank: 1 },
    ] as never,
  },
])
const send = (name: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  service.send(`/api/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${name}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

const test = suite('what is hidden from callers')

test('a hidden field with the name of a parameter of summaries is no filter', async () => {
  for (const query of ['max=1', 'max.in=1', 'm%61x=1'])
    assert.is((await send('ana', 'GET', `teams?${query}`)).status, 422, query)
  assert.is((await send('hr', 'GET', 'teams?max=1')).body.meta.total, 1)
  assert.is((await send('ana', 'GET', 'teams?by=max')).body.meta.total, 2)
  const [issue] = (await send('ana', 'GET', 'teams/1?e%78pand=items.team_id')).body.detail
  assert.is(issue.msg, 'items.team_id is a field that you may not use.')
})

test('409 does not tell about a reference that the caller may not see', async () => {
  const removed = await send('cleaner', 'DELETE', 'teams/2')
  assert.is(removed.status, 409)
  assert.equal(removed.body.error.details.references, [])
  assert.not.match(removed.text, /team_id|items/)
})

test('only references that are sent are looked at, in imports too', async () => {
  assert.is((await send('ana', 'POST', 'items/import', [{ owner: 'ana', vault_id: 1 }])).status, 422)
  const made = await send('ana', 'POST', 'items/import', [
    { owner: 'ana', code: 'I1' },
    { owner: 'ana', code: 'I2', vault_id: null },
    { owner: 'ana', code: 'I3' },
  ])
  assert.is(made.status, 201)
  const rows = await Promise.all(made.body.ids.map((id: number) => send('hr', 'GET', `items/${id}`)))
  assert.equal(
    rows.map(({ body }) => [body.code, body.vault_id]),
    [
      ['I1', 1],
      ['I2', null],
      ['I3', 1],
    ],
  )
})

test('an import that keeps a row needs the right to change it', async () => {
  assert.is((await send('ana', 'PATCH', 'items/2', { rank: 1 })).status, 403)
  assert.is((await send('ana', 'POST', 'items/import?match=code', [{ code: 'B', rank: 1 }])).status, 403)
  assert.is((await send('ana', 'POST', 'items/import?match=code', [{ code: 'A', rank: 1 }])).body.unchanged, 1)
})

test('a replay needs the rights of its operations', async () => {
  const operations = [{ method: 'POST', path: '/v1/items', body: { owner: 'ana', code: 'R' } }]
  const again = () => send('ana', 'POST', 'batch', { operations }, { 'idempotency-key': 'replayed' })
  assert.is((await again()).status, 200)
  callers['ana'] = { roles: [] }
  const refused = await again()
  callers['ana'] = ana
  assert.equal([refused.status, refused.body.error.details.operation], [403, 0])
  assert.is((await again()).headers['idempotency-replayed'], 'true')
})

test('an operation of a batch that its resource does not have is 422 for everybody', async () => {
  const operations = [{ method: 'DELETE', path: '/v1/items/1' }]
  assert.is((await send('ana', 'POST', 'batch', { operations })).status, 422)
})

test('responses to writes are private too', async () => {
  for (const { headers } of [
    await send('ana', 'POST', 'items', { owner: 'ana' }),
    await send('ana', 'PATCH', 'items/1', { rank: 2 }),
    await send('ana', 'PATCH', 'items/3', {}),
  ]) {
    assert.match(String(headers['cache-control']), /private/)
    assert.match(String(headers.vary), /Authorization/)
  }
})

test('the documents say what a batch needs', async () => {
  const { paths } = (await service.send('/api/openapi.json')).body
  assert.match(paths['/v1/batch'].post.description, /Each needs its own right\.$/)
})

test('large texts that few may read are sent in parts to those alone', async () => {
  const essay = 'x'.repeat(200_000)
  const rows = Array.from({ length: 30 }, (_, n) => ({ id: 1_000 + n, owner: 'ana', state: 'long', essay }))
  await service.fill([{ resource: items, rows: rows as never }])
  const all = await send('hr', 'GET', 'items?state=long')
  assert.equal([all.headers.etag, all.body.data.length], [undefined, 30])
  assert.ok((await send('ana', 'GET', 'items?state=long')).headers.etag)
})

test('a row that leaves the rows of a delete meanwhile stays', async () => {
  if (!server) return
  const owned = { read: 'signed-in', delete: own }
  const fields = () => ({ owner: text({ filter: true }) })
  const tables = [false, true].map((existing) =>
    resourceIn('papers', fields(), { delete: true, create: false, access: owned, ...(existing && { existing }) }),
  )
  for (const resource of tables) {
    const url = await freshUrl()
    if (resource.existing) await runOn(url, 'create table papers (id bigint primary key, owner text)')
    const { fill, send: sendTo } = await startService({
      registry: [resource],
      url,
      derivedObjects: false,
      credentials: callersNamed(callers),
    })
    await fill([{ resource, rows: [{ id: 1, owner: 'ana' }] as never }])
    const other = await sessionOn(url)
    await other.query(`begin; update papers set owner = 'bob'`)
    const removing = sendTo('/api/v1/papers/1', { method: 'DELETE', headers: { authorization: 'Bearer ana' } })
    const isWaiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    while ((await runOn(url, isWaiting)).length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    await other.query('commit')
    await other.end()
    assert.is((await removing).status, 403)
  }
})

test('a row that a view does not take is 422 for whoever sees all rows, not 403', async () => {
  if (!server) return
  const url = await freshUrl()
  await runOn(
    url,
    'create table papers (id bigint primary key, n bigint); create view small as select * from papers where n < 10',
  )
  await runOn(url, 'insert into papers values (1, 1)')
  const small = resourceIn(
    'small',
    { n: integer() },
    { existing: true, create: false, update: true, access: { read: 'hr', update: 'hr' } },
  )
  const { send: sendTo } = await startService({ registry: [small], url, credentials: callersNamed(callers) })
  const headers = { authorization: 'Bearer hr', 'content-type': 'application/json' }
  const found = await sendTo('/api/v1/small/1', { method: 'PATCH', headers, body: '{"n":50}' })
  assert.equal([found.status, found.body.error.details?.issues[0].type], [422, 'constraint'])
})

test('a rule finds few rows among many as fast as the same filter does', async () => {
  const count = 40_000
  for (let from = 10_000; from < 10_000 + count; from += 10_000) {
    const rows = Array.from({ length: 10_000 }, (_, n) => ({ id: from + n, owner: 'cat', state: 'many', rank: n }))
    await service.fill([{ resource: items, rows: rows as never }])
  }
  const time = async (name: string, filter: string, query: string) => {
    const times: number[] = []
    for (let n = 0; n < 9; n++) {
      const started = performance.now()
      await send(name, 'GET', `items?${filter}${query}&limit=${10 + n}`)
      times.push(performance.now() - started)
    }
    return times.sort((a, b) => a - b)[4] as number
  }
  for (const query of ['sort=-rank', 'rank.gte=0&sort=rank']) {
    const [filter, rule] = [await time('hr', 'owner=ana&', query), await time('ana', '', query)]
    assert.ok(rule < 5 * filter + 5, `${query}: ${rule} ms instead of ${filter} ms`)
  }
})

test.run()
