/** Starts and migrations on PostgreSQL: what they recreate and refuse, and that they stop no other program for long. */
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { text } from '../../engine/descriptor/index.js'
import { StorageError } from '../../engine/storage/failures.js'
import { openStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl, roleOn, runOn, sessionOn } from '../support/database.js'
import { office } from '../support/office.js'
import { startOnce, thingsWith } from '../support/things.js'

const registry = thingsWith()
const filtered = thingsWith({ name: text({ filter: true }) })
const extended = thingsWith({ name: text(), more: text() })

/** A session whose statements fail if they are stuck behind a lock: far longer than anything here takes. */
const connected = async (url: string) => {
  const session = await sessionOn(url)
  await session.query(`set statement_timeout = '20s'`)
  return session
}

/** A session with a row that is not committed yet: whoever changes the table waits for it. */
const holderOf = async (url: string) => {
  const holder = await connected(url)
  await holder.query(`begin; insert into things (name) values ('uncommitted')`)
  return holder
}

const invalidIndexes = (url: string) =>
  runOn(url, `select relname from pg_index join pg_class on pg_class.oid = indexrelid where not indisvalid`)

const test = suite('starts on PostgreSQL')

test('dropped indexes, triggers and columns are recreated', async () => {
  const url = await freshUrl()
  const keyed = thingsWith({ name: text({ filter: true, unique: true }) })
  await startOnce(keyed, url)
  for (const sql of [
    'drop index registry_things_search',
    'drop trigger registry_things_insert on things',
    'alter table things drop column registry_searched cascade',
    'alter table things disable trigger user',
  ]) {
    await runOn(url, sql)
    await runOn(url, `insert into things (name) values ('After: ' || $1)`, [sql])
    const [{ count } = {}] = await runOn(url, 'select count(*) from things')
    assert.is((await startOnce(keyed, url)).total, count, sql)
  }
  for (const table of ['registry_keys', 'registry_states']) {
    await runOn(url, `drop table ${table}`)
    await startOnce(keyed, url)
    const triggers = await runOn(url, `select tgname from pg_trigger where tgrelid = '${table}'::regclass`)
    assert.is(triggers.length, 1, table)
  }
})

test('a view of all columns does not prevent a migration', async () => {
  const url = await freshUrl()
  await startOnce(registry, url)
  await runOn(url, 'create view everything as select * from things')
  assert.match((await startOnce(extended, url, { q: 'HIR' })).body, /"name":"Third","more":null/)
})

test('a view that prevents a migration is named', async () => {
  const url = await freshUrl()
  await startOnce(registry, url)
  await runOn(url, 'alter table things add column registry_json text')
  await runOn(url, `comment on column things.registry_json is 'Made by the service: ${'0'.repeat(64)}'`)
  await runOn(url, 'create view everything as select registry_json from things')
  const error = await startOnce(registry, url).catch((thrown: Error) => thrown)
  assert.instance(error, StorageError)
  assert.match(
    String(error),
    /cannot drop the column registry_json \(table "things"\): .*view everything depends on column.*Drop what depends on it/,
  )
})

test('a start that has to wait for a lock does not stop the creates of other programs', async () => {
  const url = await freshUrl()
  await startOnce(registry, url)
  const [holder, writer] = [await holderOf(url), await connected(url)]
  const warnings: string[] = []
  const started = startOnce(filtered, url, { warnings })
  while (warnings.length < 1) await writer.query(`insert into things (name) values ('beside')`)
  await holder.query('commit')
  assert.match((await started).body, /"name":"uncommitted"/)
  await Promise.all([holder.end(), writer.end()])
})

test('without pg_trgm a search scans the table, with a warning at start', async () => {
  const url = await freshUrl()
  const { role, address, drop } = await roleOn(url)
  await runOn(url, `grant create, usage on schema public to ${role}`)
  const { body, warnings } = await startOnce(registry, address, { q: 'HIR' })
  assert.match(body, /"name":"Third".*"total":1,/)
  assert.is(warnings.length, 1)
  assert.match(String(warnings[0]), /pg_trgm/)
  await drop()
})

test('a table of another program with the name of ours is refused', async () => {
  const url = await freshUrl()
  await runOn(url, 'create table registry_keys (id bigint primary key, secret text)')
  const error = await startOnce(registry, url).catch(String)
  assert.match(
    String(error),
    /cannot be used: another program has created "registry_keys", which has no column "key", "digest", "body", "at"\./,
  )
})

test('a database that is not UTF-8 is rejected', async () => {
  const url = new URL(await freshUrl())
  const name = `${url.pathname.slice(1)}_latin`
  await runOn(url.href, `create database ${name} template template0 encoding 'LATIN1' locale_provider libc locale 'C'`)
  url.pathname = `/${name}`
  assert.match(String(await startOnce(registry, url.href).catch(String)), /its encoding is LATIN1/)
})

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
  await startOnce(registry, url)
  await runOn(url, `insert into things (name) select 'Row ' || n from generate_series(1, 2500) as n`)
  await runOn(url, 'alter table things drop column registry_searched cascade')
  await runOn(url, `create function refuse() returns trigger language plpgsql as $$ begin raise 'not this row'; end $$`)
  await runOn(
    url,
    `create trigger refuse before update on things for each row when (old.id = 1500) execute function refuse()`,
  )
  const error = await startOnce(registry, url).catch(String)
  assert.match(String(error), /cannot compute the searched text of things \(table "things"\): not this row/)
  assert.equal(await runOn(url, 'select 1 from things where id <= 1000 and registry_searched is null'), [])
  assert.equal((await runOn(url, 'select 1 from things where id = 1500 and registry_searched is null')).length, 1)
  await runOn(url, 'drop trigger refuse on things')
  assert.is((await startOnce(registry, url, { q: 'ROW 24' })).total, 111)
})

test('an index build that is interrupted is repeated by the next start', async () => {
  const url = await freshUrl()
  await startOnce(registry, url)
  const holder = await holderOf(url)
  const interrupted = startOnce(filtered, url).catch((error: Error) => error)
  const building = `from pg_stat_progress_create_index where datname = current_database()`
  while ((await runOn(url, `select 1 ${building}`)).length === 0) await setTimeout(20)
  await runOn(url, `select pg_terminate_backend(pid) ${building}`)
  assert.instance(await interrupted, Error)
  await holder.query('commit')
  assert.is((await invalidIndexes(url)).length, 1)
  assert.is((await startOnce(filtered, url)).total, 2)
  assert.equal(await invalidIndexes(url), [])
  await holder.end()
})

test('the index before stays in use until the new one is complete', async () => {
  const url = await freshUrl()
  await startOnce(filtered, url)
  const stale = `comment on index registry_things_filter_name is 'Made by the service: ${'0'.repeat(64)}'`
  await runOn(url, stale)
  const holder = await holderOf(url)
  const warnings: string[] = []
  const started = startOnce(filtered, url, { warnings })
  while (warnings.length === 0) await setTimeout(20)
  const valid = `select indisvalid as is from pg_index where indexrelid = 'registry_things_filter_name'::regclass`
  assert.equal(await runOn(url, valid), [{ is: true }])
  await holder.query('commit')
  await started
  assert.equal(await runOn(url, valid), [{ is: true }])
  await holder.end()
})

test.run()
