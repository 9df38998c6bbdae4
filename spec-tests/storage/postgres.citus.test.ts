/** A Citus cluster, if CITUS_DATABASE_URL leads to its coordinator: deploy/citus.sql distributes tables, and every operation works on them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { integer, now, text, timestamp } from '../../engine/descriptor/index.js'
import type { Registry, Resource, RowValues } from '../../engine/descriptor/registry.js'
import { loadMigrations } from '../../engine/storage/migration/migrationFiles.js'
import { migrateStorage, openStorage, planStorage } from '../../engine/storage/open.js'
import type { Table, Transaction } from '../../engine/storage/storage.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { storageOptions } from '../../support/storageOptions.js'
import { cluster, distribute, dropSchemas, freshSchema } from '../support/citus.js'
import { runOn } from '../support/database.js'
import { listQuery } from '../support/listQuery.js'
import { resourceIn } from '../support/registryFrom.js'
import { sessionOf, startService } from '../support/service.js'

const all = { create: true, update: true, delete: true } as const
const registry: Registry = [
  resourceIn('teams', { name: text({ unique: true }) }, all),
  resourceIn('people', { name: text(), team_id: integer({ references: 'teams', filter: true }) }, all),
  resourceIn(
    'tasks',
    {
      title: text({ sort: true }),
      team_id: integer({ references: 'teams', onDelete: 'cascade', filter: true }),
      owner_id: integer({ references: 'people', onDelete: 'set null', filter: true }),
      effort: integer({ range: true, sort: true }),
      changed: timestamp({ managed: now, onUpdate: now }),
    },
    all,
  ),
  resourceIn('notes', { words: text(), person_id: integer({ references: 'people' }) }, all),
  // Nothing references it, and it references nothing.
  resourceIn('events', { what: text(), at: timestamp({ range: true }) }, all),
]

const options = { ...storageOptions, derivedObjects: false }
const prepare = async (url: string) => (await openStorage(registry, url, options)).close()
const plannedSteps = async (url: string) => (await planStorage(registry, url, 30_000, options)).steps

const distributed = 'tasks notes,events'

const placesIn = async (url: string) => {
  const rows = await runOn(
    url,
    `select relname as name, case when partmethod = 'h' then 'distributed' else 'reference' end as place
      from pg_dist_partition join pg_class on pg_class.oid = logicalrelid where relnamespace = current_schema()::regnamespace order by 1`,
  )
  return rows.map(({ name, place }) => `${name} ${place}`)
}
const keysIn = (url: string) =>
  runOn(
    url,
    `select conname as name, pg_get_constraintdef(pg_constraint.oid) as sql from pg_constraint join pg_class on pg_class.oid = conrelid
      where contype = 'f' and relnamespace = current_schema()::regnamespace order by 1`,
  )

const test = suite('Citus')
const onCluster = cluster ? test : test.skip

test.after(dropSchemas)

onCluster('deploy/citus.sql distributes tables and keeps their keys; a start then changes nothing', async () => {
  const url = await freshSchema()
  await prepare(url)
  const keys = await keysIn(url)
  for (let run = 0; run < 2; run++) {
    const { status, stderr } = distribute(url, distributed)
    assert.is(status, 0, stderr)
    assert.equal(await placesIn(url), [
      'events distributed',
      'notes distributed',
      'people reference',
      'tasks distributed',
      'teams reference',
    ])
    assert.equal(await keysIn(url), keys)
    assert.equal(await plannedSteps(url), [])
  }
})

const refusals: readonly (readonly [tables: string, message: RegExp])[] = [
  ['', /Name the tables to distribute/],
  ['teams', /The table teams cannot be distributed: it has a unique key/],
  ['people', /The table people cannot be distributed: \w+ references it/],
  ['notes taks', /There is no table "taks" of the service/],
]
onCluster('a start needs no setting once tables are distributed, and loads no demo rows into them', async () => {
  const url = await freshSchema()
  const demo = [
    resourceIn('badges', { person_id: integer({ references: 'people' }) }, { demo: [{ id: 1, person_id: 1 }] }),
    resourceIn('people', { name: text() }, { demo: [{ id: 1, name: 'Ana' }] }),
  ]
  await (await openStorage(demo, url, { ...options, demo: false })).close()
  assert.is(distribute(url, 'badges').status, 0)
  const storage = await openStorage(demo, url, { ...storageOptions, derivedObjects: true })
  assert.equal([...(await storage.counts()).values()], [0, 0])
  await storage.close()
})

onCluster('a file of migrations/ changes distributed tables and reference tables', async () => {
  const url = await freshSchema()
  await prepare(url)
  assert.is(distribute(url, distributed).status, 0)
  await runOn(url, `insert into teams (name) values ('north'), ('south')`)
  await runOn(url, `insert into events (what) select 'event ' || i from generate_series(1, 20) as i`)
  await runOn(url, `insert into tasks (title, team_id) select 'task ' || i, 1 + i % 2 from generate_series(1, 20) as i`)
  const changed = registry.map((resource) => {
    if (resource.path === 'events')
      return resourceIn('events', { title: text({ filter: true, sort: true }), at: timestamp({ range: true }) }, all)
    return resource.path === 'teams'
      ? resourceIn('teams', { name: text({ unique: true }), short: text() }, all)
      : resource
  })
  const { path } = temporaryFolder('migrations')
  mkdirSync(join(path, 'migrations'))
  const file = `update events set title = upper(what);
alter table events drop column what;
update teams set short = left(name, 1);
update tasks set title = 'first' where team_id = 1;
delete from teams where name = 'south';`
  writeFileSync(join(path, 'migrations', '1.sql'), file)
  const files = loadMigrations(path)
  await migrateStorage(changed, url, {
    ...options,
    files,
    waitMs: 30_000,
    command: { accepted: [], done() {} },
  })
  assert.equal(await runOn(url, 'select count(*) as n, min(title) as first from events'), [{ n: 20, first: 'EVENT 1' }])
  assert.equal(await runOn(url, 'select name, short from teams'), [{ name: 'north', short: 'n' }])
  assert.equal(await runOn(url, `select count(*) as n from tasks where title = 'first'`), [{ n: 10 }])
  assert.equal(await runOn(url, 'select count(*) as n from tasks'), [{ n: 10 }])
  assert.equal((await planStorage(changed, url, 30_000, { ...options, files })).steps, [])
})

onCluster('deploy/citus.sql says what cannot be distributed, and changes nothing', async () => {
  const url = await freshSchema()
  await prepare(url)
  for (const [tables, message] of refusals) {
    const { status, stderr } = distribute(url, tables)
    assert.is(status, 3)
    assert.match(stderr, message)
  }
  assert.equal(await placesIn(url), [])
  await runOn(url, `select create_reference_table('notes')`)
  assert.match(distribute(url, 'notes').stderr, /Citus, which takes no table with an identity column back/)
})

onCluster('every operation works on distributed and reference tables', async () => {
  const url = await freshSchema()
  await prepare(url)
  assert.is(distribute(url, distributed).status, 0)
  const service = await startService({ registry, url, derivedObjects: false, explorer: true })
  const { get, change, remove, send } = service
  const create = async (path: string, body: object, headers?: Record<string, string>) => {
    const created = await service.create(path, body, headers)
    assert.is(created.status, 201, created.text)
    return created.body
  }
  const [red, blue] = [await create('teams', { name: 'Red' }), await create('teams', { name: 'Blue' })]
  const [ana, bo] = [
    await create('people', { name: 'Ana', team_id: blue.id }),
    await create('people', { name: 'Bo', team_id: blue.id }),
  ]
  const tasks = []
  for (let n = 0; n < 8; n++)
    tasks.push(
      await create('tasks', { title: `Task ${n}`, team_id: n < 4 ? red.id : blue.id, owner_id: ana.id, effort: n }),
    )
  const key = { 'idempotency-key': 'task' }
  const again = await create('tasks', { title: 'Once', effort: 100 }, key)
  assert.equal(await create('tasks', { title: 'Once', effort: 100 }, key), again)
  const note = await create('notes', { words: 'A note', person_id: bo.id })
  await create('events', { what: 'An event' })

  assert.is((await service.create('tasks', { title: 'x', owner_id: 99 })).status, 422)
  assert.is((await service.create('teams', { name: 'Red' })).status, 422)
  const found = async (query: string) => (await get(`/v1/tasks?${query}`)).body
  assert.is((await found('limit=3&offset=2')).meta.total, 9)
  assert.is((await found('q=task%205')).meta.total, 1)
  assert.is((await found(`team_id=${red.id}&effort.gte=2`)).meta.total, 2)
  assert.equal(
    (await found('sort=-effort&limit=2')).data.map((row: { title: string }) => row.title),
    ['Once', 'Task 7'],
  )
  assert.is((await send('/api/v1/tasks', { headers: { accept: 'text/csv' } })).text.trim().split('\n').length, 10)

  const row = `tasks/${tasks[0].id}`
  const { headers } = await get(`/v1/${row}`)
  assert.is((await change(row, { effort: 50 }, { 'if-match': String(headers['etag']) })).status, 200)
  assert.is((await change(row, { effort: 51 }, { 'if-match': String(headers['etag']) })).status, 412)
  assert.is((await change(`people/${ana.id}`, { name: 'Anna' })).status, 200)
  assert.is((await remove(row)).status, 204)
  assert.is((await get(`/v1/${row}`)).status, 404)

  // A distributed table references these rows.
  const refused = await remove(`people/${bo.id}`)
  assert.equal(refused.body.error.details.references, [{ resource: 'notes', field: 'person_id', count: 1 }])
  assert.is((await remove(`notes/${note.id}`)).status, 204)
  assert.is((await remove(`people/${bo.id}`)).status, 204)
  while (new Date().toISOString() <= tasks[7].changed) await setImmediate()
  const session = { cookie: await sessionOf(service.address) }
  assert.match((await send(`/explore/people/${ana.id}/delete`, { headers: session })).text, /These stay/)
  assert.is((await remove(`people/${ana.id}`)).status, 204)
  const cleared = (await get(`/v1/tasks/${tasks[7].id}`)).body
  assert.is(cleared.owner_id, null)
  assert.ok(cleared.changed > tasks[7].changed)
  assert.is((await remove(`teams/${red.id}`)).status, 204)
  assert.is((await found('')).meta.total, 5)
  assert.is((await get('/v1/health')).status, 200)
})

onCluster('a transaction changes rows of several servers, and locks those that it reads by their ids', async () => {
  const url = await freshSchema()
  await prepare(url)
  assert.is(distribute(url, distributed).status, 0)
  const storage = await openStorage(registry, url, { ...storageOptions, derivedObjects: true })
  const [teams, tasks] = ['teams', 'tasks'].map((path) => registry.find((one) => one.path === path)) as [
    Resource,
    Resource,
  ]
  const inTransaction = <T>(work: (transaction: Transaction) => Promise<T>) =>
    storage.transaction(work, { timeoutMs: 20_000 })
  const create = async (table: Table, values: RowValues): Promise<string> => {
    const outcome = await table.write({ kind: 'insert', values })
    if (!('id' in outcome)) throw new Error(JSON.stringify(outcome))
    return outcome.id
  }
  const effortOf = async (table: Table, id: string) => JSON.parse(String((await table.get(id))?.body)).effort as number
  const change = (table: Table, id: string, effort: number) =>
    table.write({ kind: 'update', id, values: { effort }, stamps: {} })
  const task = { title: 'A task', team_id: null, owner_id: null, effort: 0, changed: null }
  const ids = await inTransaction(async ({ table, undoable }) => {
    const made = [await create(table(tasks), task), await create(table(tasks), task)]
    await undoable(async () => {
      await change(table(tasks), String(made[0]), 9)
      throw new Error('undone')
    }).catch(() => {})
    // A reference table, after a read of several servers that reference it.
    await table(tasks).list(listQuery())
    const team = await create(table(teams), { name: 'Red' })
    assert.ok('conflicts' in (await table(teams).write({ kind: 'insert', values: { name: 'Red' } })))
    assert.ok('id' in (await table(teams).write({ kind: 'delete', id: team })))
    return made
  })
  const increments = Array.from({ length: 10 }, () =>
    inTransaction(async ({ table }) => {
      for (const id of ids) await change(table(tasks), id, (await effortOf(table(tasks), id)) + 1)
    }),
  )
  await Promise.all(increments)
  assert.equal(await Promise.all(ids.map((id) => effortOf(storage.table(tasks), id))), [10, 10])
  await inTransaction(async ({ table }) => {
    await change(table(tasks), String(ids[0]), 99)
    throw new Error('undone')
  }).catch(() => {})
  assert.is(await effortOf(storage.table(tasks), String(ids[0])), 10)
  await storage.close()
})

onCluster('a table that Citus has made its own because of a foreign key stays a table of the service', async () => {
  const url = await freshSchema()
  await prepare(url)
  await runOn(url, `select create_reference_table('teams')`)
  await prepare(url)
  assert.equal(await plannedSteps(url), [])
  const { status, stderr } = distribute(url, 'events')
  assert.is(status, 0, stderr)
  assert.equal(await placesIn(url), [
    'events distributed',
    'notes reference',
    'people reference',
    'tasks reference',
    'teams reference',
  ])
})

onCluster(
  'a start adds a foreign key to a distributed table, or says which table must be a reference table',
  async () => {
    const url = await freshSchema()
    await prepare(url)
    const keys = await keysIn(url)
    await runOn(url, 'alter table notes drop constraint registry_notes_references_person_id')
    await runOn(url, `select create_distributed_table('notes', 'id')`)
    const error = await prepare(url).catch((caught: Error) => caught)
    assert.match((error as Error).message, /create_reference_table\('people'\)/)
    await runOn(url, `select create_reference_table('people')`)
    await prepare(url)
    assert.equal(await keysIn(url), keys)
  },
)

test.run()
