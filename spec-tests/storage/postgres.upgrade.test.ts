/** Starts and migrations on PostgreSQL beside other programs: they lock nothing for long, and an interrupted one is continued. */
import { setTimeout } from 'node:timers/promises'
import { Client } from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { text } from '../../engine/descriptor/index.js'
import type { Registry, Resource } from '../../engine/descriptor/registry.js'
import { openStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl, runOn } from '../support/database.js'
import { listQuery } from '../support/listQuery.js'
import { office } from '../support/office.js'
import { resourceIn } from '../support/registryFrom.js'

const registryWith = (fields: Parameters<typeof resourceIn>[1]): Registry => [
  resourceIn('things', fields, { required: ['name'], demo: [{ id: 1, name: 'First' }] }),
]
const registry = registryWith({ name: text() })
const filtered = registryWith({ name: text({ filter: true }) })

const connected = async (url: string): Promise<Client> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  // Far longer than anything here takes: a statement that is stuck behind a lock fails.
  await client.query(`set statement_timeout = '20s'`)
  return client
}

/** Opens the database and closes it; returns the warnings and how many things it finds. */
const start = async (url: string, served: Registry, q = '', warnings: string[] = []) => {
  const storage = await openStorage(served, url, { ...storageOptions, warn: (message) => warnings.push(message) })
  const { body } = await storage.table(served[0] as Resource).list(listQuery({ limit: 1, offset: 0n, q }))
  await storage.close()
  const { meta } = JSON.parse(String(body)) as { meta: { total: number } }
  return { warnings, total: meta.total }
}

const invalidIndexes = (url: string) =>
  runOn(url, `select relname from pg_index join pg_class on pg_class.oid = indexrelid where not indisvalid`)

const test = suite('upgrades on PostgreSQL')

test('25 starts of a database that is up to date take no lock that another transaction could prevent', async () => {
  const url = await freshUrl()
  await (await openStorage(office, url, storageOptions)).close()
  const [holder, writer] = [await connected(url), await connected(url)]
  const tables = (await runOn(url, `select tablename as name from pg_tables where schemaname = 'public'`)).map(
    ({ name }) => `"${name}"`,
  )
  await holder.query('begin')
  // Conflicts with every lock of DDL, vacuum and index builds, but not with reads and writes.
  await holder.query(`lock table ${tables.join(', ')} in share update exclusive mode`)
  for (const table of tables) await holder.query(`select 1 from ${table} for update`)
  let isStarting = true
  const starts = Promise.all(Array.from({ length: 25 }, () => openStorage(office, url, storageOptions))).finally(() => {
    isStarting = false
  })
  while (isStarting) await writer.query(`insert into leave_requests (leave_type, status) values ('Annual', 'Pending')`)
  for (const storage of await starts) await storage.close()
  await Promise.all([holder.end(), writer.end()])
})

test('a migration that fails keeps the batches that are done, and names the table', async () => {
  const url = await freshUrl()
  await start(url, registry)
  await runOn(url, `insert into things (name) select 'Row ' || n from generate_series(1, 2500) as n`)
  await runOn(url, 'alter table things drop column registry_searched cascade')
  await runOn(url, `create function refuse() returns trigger language plpgsql as $$ begin raise 'not this row'; end $$`)
  await runOn(
    url,
    `create trigger refuse before update on things for each row when (old.id = 1500) execute function refuse()`,
  )
  const error = await start(url, registry).catch((thrown: Error) => thrown)
  assert.match(String(error), /cannot compute the searched text of things \(table "things"\): not this row/)
  assert.equal(await runOn(url, 'select 1 from things where id <= 1000 and registry_searched is null'), [])
  assert.equal((await runOn(url, 'select 1 from things where id = 1500 and registry_searched is null')).length, 1)
  await runOn(url, 'drop trigger refuse on things')
  assert.is((await start(url, registry, 'ROW 24')).total, 111)
})

test('an index build that is interrupted is repeated by the next start', async () => {
  const url = await freshUrl()
  await start(url, registry)
  const holder = await connected(url)
  await holder.query('begin')
  await holder.query(`insert into things (name) values ('uncommitted')`)
  const interrupted = start(url, filtered).catch((error: Error) => error)
  const building = `from pg_stat_progress_create_index where datname = current_database()`
  while ((await runOn(url, `select 1 ${building}`)).length === 0) await setTimeout(20)
  await runOn(url, `select pg_terminate_backend(pid) ${building}`)
  assert.instance(await interrupted, Error)
  await holder.query('commit')
  assert.is((await invalidIndexes(url)).length, 1)
  assert.is((await start(url, filtered)).total, 2)
  assert.equal(await invalidIndexes(url), [])
  await holder.end()
})

test('the index before stays in use until the new one is complete', async () => {
  const url = await freshUrl()
  await start(url, filtered)
  const stale = `comment on index registry_things_filter_name is 'Made by the service: ${'0'.repeat(64)}'`
  await runOn(url, stale)
  const holder = await connected(url)
  await holder.query('begin')
  await holder.query(`insert into things (name) values ('uncommitted')`)
  const warnings: string[] = []
  const started = start(url, filtered, '', warnings)
  while (warnings.length === 0) await setTimeout(20)
  const valid = `select indisvalid as is from pg_index where indexrelid = 'registry_things_filter_name'::regclass`
  assert.equal(await runOn(url, valid), [{ is: true }])
  await holder.query('commit')
  await started
  assert.equal(await runOn(url, valid), [{ is: true }])
  await holder.end()
})

test.run()
