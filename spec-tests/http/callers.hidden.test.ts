/** Ways in which hidden rows and fields could show, or stand in the way. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim } from '../../engine/descriptor/define.js'
import { integer, text } from '../../engine/descriptor/index.js'
import { callersNamed } from '../support/callers.js'
import { freshUrl, runOn, server, sessionOn } from '../support/database.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService } from '../support/service.js'
import { testTranscripts, transcriptWith } from '../support/transcript.js'

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
const run = transcriptWith(service)

const test = suite('what is hidden from callers')

testTranscripts(test, run, {
  'a hidden field with the name of a parameter of summaries is no filter': `
    ana GET teams?max=1 -> 422 extra_forbidden query max
    ana GET teams?max.in=1 -> 422 extra_forbidden query max.in
    ana GET teams?m%61x=1 -> 422 extra_forbidden query max
    hr GET teams?max=1 -> 200 {"meta":{"total":1}}
    ana GET teams?by=max -> 200 {"meta":{"total":2}}
    ana GET teams/1?e%78pand=items.team_id -> 422 {"detail":[{"msg":"items.team_id is a field that you may not use."}]}`,
  'only references that are sent are looked at, in imports too': `
    ana POST items/import [{"owner":"ana","vault_id":1}] -> 422 reference body 0 vault_id
    ana POST items/import [{"owner":"ana","code":"I1"},{"owner":"ana","code":"I2","vault_id":null}] -> 201 {"ids":[4,5]}
    hr GET items/4 -> 200 {"code":"I1","vault_id":1}
    hr GET items/5 -> 200 {"code":"I2","vault_id":null}`,
  'an import that keeps a row needs the right to change it': `
    ana PATCH items/2 {"rank":1} -> 403
    ana POST items/import?match=code [{"code":"B","rank":1}] -> 403
    ana POST items/import?match=code [{"code":"A","rank":1}] -> 201 {"unchanged":1}`,
  'an operation of a batch that its resource does not have is 422 for everybody': `
    ana BATCH DELETE items/1 -> 422 enum body operations 0 method`,
})

test('409 does not tell about a reference that the caller may not see', async () => {
  const removed = await run('cleaner DELETE teams/2 -> 409 {"error":{"details":{"references":[]}}}')
  assert.not.match(removed.text, /team_id|items/)
})

test('a replay needs the rights of its operations', async () => {
  const again = 'ana BATCH idempotency-key=replayed POST items {"owner":"ana","code":"R"}'
  await run(`${again} -> 200`)
  callers['ana'] = { roles: [] }
  await run(`${again} -> 403 {"error":{"details":{"operation":0}}}`)
  callers['ana'] = ana
  await run(`${again} -> 200 replayed`)
})

test('responses to writes are private too', async () => {
  for (const line of ['POST items {"owner":"ana"}', 'PATCH items/1 {"rank":2}', 'PATCH items/3 {}']) {
    const { headers } = await run(`ana ${line}`)
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
  const all = await run('hr GET items?state=long')
  assert.equal([all.headers.etag, all.body.data.length], [undefined, 30])
  assert.ok((await run('ana GET items?state=long')).headers.etag)
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
  const askSmall = transcriptWith(await startService({ registry: [small], url, credentials: callersNamed(callers) }))
  await askSmall('hr PATCH small/1 {"n":50} -> 422 constraint body')
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
      await run(`${name} GET items?${filter}${query}&limit=${10 + n}`)
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
