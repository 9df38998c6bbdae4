/** The rights that the service needs on PostgreSQL: once its owner has set the database up, those of an ordinary role. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { text } from '../../engine/descriptor/index.js'
import { newRow, type Resource } from '../../engine/descriptor/registry.js'
import { StorageError } from '../../engine/storage/failures.js'
import { migrateStorage, openStorage, planStorage } from '../../engine/storage/open.js'
import type { Storage } from '../../engine/storage/storage.js'
import { storageOptions } from '../../support/storageOptions.js'
import { readPage } from '../support/consolePage.js'
import { roleOn as createRole, freshUrl, runOn, sessionOn } from '../support/database.js'
import { insertion } from '../support/insertion.js'
import { listQuery } from '../support/listQuery.js'
import { startOffice } from '../support/office.js'
import { startProcess } from '../support/process.js'
import { startOnce, thingsWith } from '../support/things.js'

const registry = thingsWith({ name: text({ unique: true, filter: true }) })
const further = thingsWith({ name: text(), more: text() })
const [things] = registry as [Resource]

/** The statements of docs/postgres.md. */
const documentedGrants = readPage('postgres.md').match(/^grant .*to ordinary;$/gm) ?? []

const grantsTo = (role: string): string[] => documentedGrants.map((grant) => grant.replace('ordinary', role))

const drops: (() => Promise<unknown>)[] = []

const roleOn = async (url: string) => {
  const created = await createRole(url)
  drops.push(created.drop)
  return created
}

/** A database that its owner has set up, and a role that may read and insert. */
const migrated = async () => {
  const url = await freshUrl()
  await migrateStorage(registry, url, { ...storageOptions, waitMs: 5_000 })
  const { role, address } = await roleOn(url)
  for (const grant of grantsTo(role)) await runOn(url, grant.replace(', update, delete', ''))
  return { url, role, address }
}

const listed = async (storage: Storage, q = ''): Promise<string> =>
  String((await storage.table(things).list(listQuery({ limit: 50, offset: 0n, q }))).body)

const test = suite('roles on PostgreSQL')

test('a role with SELECT, INSERT and the sequences starts, loads the demo data and serves', async () => {
  const { url, address } = await migrated()
  const warnings: string[] = []
  const options = { ...storageOptions, warn: (message: string) => warnings.push(message) }
  await (await openStorage(registry, address, options)).close()
  const storage = await openStorage(registry, address, options)
  const table = storage.table(things)
  assert.match(await listed(storage, 'THIRD'), /"total":1,/)

  const plain = await table.write(insertion(newRow(things, { name: 'Fourth' })))
  assert.is('id' in plain && plain.id, '4')
  const retry = { key: 'key', digest: 'digest' }
  const keyed = await table.write(insertion(newRow(things, { name: 'Fifth' }), retry))
  assert.equal(await table.write(insertion(newRow(things, { name: 'Fifth' }), retry)), { ...keyed, replayed: true })
  assert.equal(await table.write(insertion(newRow(things, { name: 'Fifth' }))), {
    conflicts: [{ type: 'unique', field: 'name' }],
  })

  await runOn(url, `update registry_keys set at = 0`)
  const renewed = await table.write(insertion(newRow(things, { name: 'Sixth' }), retry))
  assert.is('id' in renewed && renewed.replayed, false)
  assert.equal(await runOn(url, 'select key from registry_keys where at = 0'), [])

  // Ids that were given while the triggers were disabled are ahead of the sequence.
  await runOn(url, 'alter table things disable trigger user')
  await runOn(url, `insert into things (id, name) values (7, 'Seventh'), (8, 'Eighth')`)
  await runOn(url, 'alter table things enable always trigger registry_things_insert')
  const next = await table.write(insertion(newRow(things, { name: 'Ninth' })))
  assert.is('id' in next && next.id, '9')
  await storage.close()
  assert.equal(warnings, [])
})

test('after a TRUNCATE or a restore, a role with SELECT and INSERT starts, and counts the rows', async () => {
  const { url, address } = await migrated()
  await runOn(url, `insert into things (name) values ('One'), ('Two')`)
  for (const [change, total] of [
    // The states of a restored dump were written by transactions of another server.
    [`update registry_states set bound = bound`, 2],
    ['truncate things', 0],
  ] as const) {
    await runOn(url, change)
    // Nothing has to be changed: the next read has the rows counted.
    assert.equal((await planStorage(registry, url, 5_000)).steps, [])
    assert.is((await startOnce(registry, address, { demo: false })).total, total)
  }
})

/** A database with the office, and a role with the documented grants. */
const officeRole = async (derivedObjects: boolean) => {
  const url = await freshUrl()
  await startOffice({ url, derivedObjects })
  const { role, address } = await roleOn(url)
  assert.is(grantsTo(role).length, 3)
  for (const grant of grantsTo(role)) await runOn(url, grant)
  return { url, role, address }
}

for (const derivedObjects of [true, false]) {
  test(`the documented grants are enough for every write, derived objects: ${derivedObjects}`, async () => {
    const { url, address } = await officeRole(derivedObjects)
    const warnings: string[] = []
    const warn = (message: string) => void warnings.push(message)
    const { create, change, remove } = await startOffice({ url: address, derivedObjects, warn })
    const key = (name: string) => ({ 'idempotency-key': name })
    const { status, body } = await create('leave', { leave_type: 'Annual' }, key('one'))
    assert.is(status, 201)
    assert.is((await change(`leave/${body.id}`, { status: 'Approved' }, key('two'))).status, 200)
    await runOn(url, 'update registry_keys set at = 0')
    assert.is((await remove(`leave/${body.id}`, key('three'))).status, 204)
    assert.equal(await runOn(url, 'select key from registry_keys where at = 0'), [])
    assert.equal(warnings, [])
  })
}

test('a role that may only read starts with writes disabled', async () => {
  const { url, role, address } = await officeRole(true)
  await runOn(url, `revoke insert, update, delete on all tables in schema public from ${role}`)
  const { output, get } = await startProcess({ DATABASE_URL: address, API_TOKEN: 'of-a-role-0123456789' })
  const text = output().replaceAll('\\"', '"')
  assert.match(text, /writes disabled \(the role in DATABASE_URL may only read\)/)
  assert.match(text, /may not insert into .*"leave_requests".* and not update "leave_requests" and not delete/)
  assert.is((await get('/v1/health')).body.writes_enabled, false)
})

test('a role that may not insert reads; its creates get 503 writes_disabled, and health says so', async () => {
  const { url, role, address } = await officeRole(true)
  await runOn(url, `revoke insert, update, delete on all tables in schema public from ${role}`)
  const service = await startOffice({ url: address })
  assert.is((await service.get('/v1/leave/1')).status, 200)
  const { status, body, headers } = await service.create('leave', { leave_type: 'Annual' })
  assert.equal([status, body.error.code, headers['retry-after']], [503, 'writes_disabled', undefined])
  assert.is((await service.get('/v1/health')).body.writes_enabled, false)
  await runOn(url, `grant insert on all tables in schema public to ${role}`)
  assert.is((await service.create('leave', { leave_type: 'Annual' })).status, 201)
  assert.is((await service.get('/v1/health')).body.writes_enabled, true)
})

test('a role that may not change the tables is told what is to be done, and by whom', async () => {
  const { address } = await migrated()
  const error = await startOnce(further, address).catch((thrown: Error) => thrown)
  assert.instance(error, StorageError)
  assert.match(String(error), /cannot .* \(table "things"\): must be owner of .*run npm run migrate as the owner/)
})

test('a missing right is named, with what to grant', async () => {
  const { url, role, address } = await migrated()
  await runOn(url, `revoke insert on registry_keys, registry_states, things from ${role}`)
  const started = () => startOnce(registry, address, { demo: false })
  assert.equal((await started()).warnings, [
    'This role may not insert into "things", "registry_keys", "registry_states", so such writes or the upkeep of totals fail. Grant it INSERT; see "Roles" in docs/postgres.md.',
  ])
  await runOn(url, `revoke select on things from ${role}`)
  const denied = /permission denied for table things\. Grant this role SELECT, INSERT, UPDATE and DELETE on all tables/
  assert.match(String(await started().catch(String)), denied)
  await runOn(url, `revoke usage on schema public from ${role}, public`)
  const hidden = /no schema has been selected.* Grant this role USAGE on the schema/
  assert.match(String(await started().catch(String)), hidden)
  await runOn(url, 'grant usage on schema public to public')
})

test('the functions that run with their owner’s rights do nothing for tables of others', async () => {
  const { url, role, address } = await migrated()
  await runOn(url, `grant create on schema public to ${role}`)
  await runOn(address, 'create table mine (id bigint generated by default as identity primary key)')
  await runOn(address, `insert into mine values (7)`)
  await runOn(address, `insert into registry_states (name) values ('mine'), ('nothing')`)
  assert.equal(await runOn(address, `select pg_sequence_last_value('mine_id_seq') as last`), [{ last: null }])
  assert.equal(await runOn(url, `select name from registry_states where name in ('mine', 'nothing')`), [])
  // A temporary table never takes the place of the engine's own.
  const client = await sessionOn(address)
  await client.query('create temporary table registry_keys (like public.registry_keys)')
  await client.query(`insert into pg_temp.registry_keys values ('mine', '', 1, '', 0)`)
  await client.query(`insert into public.registry_keys values ('mine', '', 1, '', 1)`)
  assert.is((await client.query('select * from pg_temp.registry_keys')).rows.length, 1)
  await client.end()
})

test('a role that may only read changes no total, version, key or sequence', async () => {
  const url = await freshUrl()
  await (await openStorage(registry, url, storageOptions)).close()
  await runOn(url, `insert into registry_keys values ('expired', '', 1, '', 0)`)
  // Without triggers, so that the sequence is behind and the count is wrong.
  await runOn(url, 'alter table things disable trigger user')
  await runOn(url, `insert into things (id, name) values (9, 'Uncounted')`)
  const { role, address } = await roleOn(url)
  await runOn(url, `grant usage on schema public to ${role}`)
  await runOn(url, `grant select on all tables in schema public to ${role}`)
  const contents = async () => [
    await runOn(url, `select to_jsonb(one) as one from registry_states as one`),
    await runOn(url, 'select to_jsonb(one) as one from registry_changes as one'),
    await runOn(url, 'select * from registry_keys'),
    await runOn(url, `select pg_sequence_last_value(pg_get_serial_sequence('things', 'id')::regclass) as last`),
  ]
  const before = await contents()
  const temporary = `create temporary table things (id bigint); create trigger counted after insert on things
    referencing new table as added for each statement execute function public.registry_changed('things');
    insert into things select generate_series(1, 1000)`
  const attempts = [
    temporary,
    `select registry_compact('things')`,
    `select registry_recount('things')`,
    `select registry_advance_sequence('things')`,
    `insert into registry_states (name) values ('things')`,
    `insert into registry_keys values ('another', '', 1, '', 1)`,
    ...['changed', 'upkeep', 'expire_keys'].map((name) => `select registry_${name}()`),
  ]
  for (const sql of attempts) await runOn(address, sql).catch(() => {})
  assert.equal(await contents(), before)
  // Nor does the right to execute every function help.
  await runOn(url, `grant execute on all functions in schema public to ${role}`)
  for (const sql of attempts) await runOn(address, sql).catch(() => {})
  assert.equal(await contents(), before)
  const callable = `select proname as name from pg_proc where proname like 'registry\\_%' and pronamespace = 'public'::regnamespace
    and (prosecdef or provolatile = 'v') and has_function_privilege('public', oid, 'execute')`
  assert.equal(await runOn(url, callable), [])
})

test('a database that is read-only serves reads, and says so', async () => {
  const url = await freshUrl()
  await (await openStorage(registry, url, storageOptions)).close()
  await runOn(url, `alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`)
  const warnings: string[] = []
  const storage = await openStorage(registry, url, { ...storageOptions, warn: (message) => warnings.push(message) })
  assert.match(await listed(storage), /"name":"Third"/)
  assert.is((await storage.ping()).isReadOnly, true)
  assert.equal(warnings, ['The database is read-only: reads work, and writes get 503.'])
  await storage.close()
  const error = await startOnce(further, url).catch(String)
  assert.match(String(error), /cannot add to things: more \(table "things"\): .*run npm run migrate on the primary/)
})

test.after(async () => {
  for (const drop of drops) await drop()
})
test.run()
