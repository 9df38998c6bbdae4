/** Migrations, on both databases: what a start adds to a database with rows, and what it leaves alone. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { defineResource, integer, text } from '../../engine/descriptor/index.js'
import { type Registry, type Resource, resourceFrom } from '../../engine/descriptor/registry.js'
import { openStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { server, sharedDatabase } from '../support/database.js'

const team = resourceFrom(
  'teams',
  defineResource({
    name: 'Team',
    area: 'Test',
    table: 'teams',
    required: ['name'],
    create: true,
    fields: { name: text({ unique: true }) },
  }),
  [{ id: 1, name: 'Red' }],
)

const memberWith = (fields: Parameters<typeof defineResource>[0]['fields']): Resource =>
  resourceFrom(
    'members',
    defineResource({ name: 'Member', area: 'Test', table: 'members', required: ['name'], create: true, fields }),
    [{ id: 1, name: 'Ana' }],
  )

const firstVersion: Registry = [team, memberWith({ name: text() })]
const secondVersion: Registry = [
  team,
  memberWith({ name: text({ filter: true }), team_id: integer({ references: 'teams' }) }),
]

const openAndClose = async (url: string, registry: Registry, demo = true): Promise<void> =>
  (await openStorage(registry, url, { ...storageOptions, demo })).close()

/** Every object in the database with its definition; on PostgreSQL its id, which changes when it is recreated. */
const objectsSql = server
  ? `select relname as name, pg_class.oid as definition from pg_class
      join pg_namespace on pg_namespace.oid = relnamespace and nspname = 'public'
      union all select tgname, oid from pg_trigger where not tgisinternal order by 1, 2`
  : 'select name, rootpage as definition from sqlite_schema order by name'

const test = suite('migration')

test('a second start changes nothing', async () => {
  const database = await sharedDatabase()
  await openAndClose(database.url, firstVersion)
  const before = await database.run(objectsSql)
  assert.ok(before.length > 10)
  await openAndClose(database.url, firstVersion)
  assert.equal(await database.run(objectsSql), before)
  database.close()
})

test('a reference that a descriptor gains is a foreign key', async () => {
  const database = await sharedDatabase()
  await openAndClose(database.url, firstVersion)
  await openAndClose(database.url, secondVersion)
  await database.run('insert into members (name, team_id) values (?, ?)', 'Bo', 1)
  try {
    if (!server) await database.run('pragma foreign_keys = ON')
    await database.run('delete from teams where id = ?', 1)
    assert.unreachable('a team with members was deleted')
  } catch (error) {
    assert.match((error as Error).message, /foreign key/i)
  }
  database.close()
})

test('a start says each change of a table in one line, and nothing when it creates the database', async () => {
  const database = await sharedDatabase()
  const changesAt = async (registry: Registry): Promise<readonly string[]> => {
    let reported: readonly string[] = ['not opened']
    const opened = ({ changes }: { changes: readonly string[] }) => {
      reported = changes
    }
    await (await openStorage(registry, database.url, { ...storageOptions, opened })).close()
    return reported
  }
  assert.equal(await changesAt(firstVersion), [])
  assert.equal(await changesAt(firstVersion), [])
  assert.equal(await changesAt(secondVersion), ['members: team_id is added'])
  const unbound = [team, memberWith({ name: text({ unique: true }), team_id: integer() })]
  assert.equal(
    (await changesAt(unbound)).toSorted(),
    [
      ...(server ? ['members: the index registry_members_filter_name is dropped'] : []),
      'members: name must be unique',
      'members: team_id no longer references teams',
    ].toSorted(),
  )
  database.close()
})

test('a unique index that the descriptor no longer asks for is dropped, and indexes of other programs stay', async () => {
  const database = await sharedDatabase()
  const unique: Registry = [team, memberWith({ name: text({ unique: true }) })]
  await openAndClose(database.url, unique)
  await database.run('create index others_index on members (name)')
  await openAndClose(database.url, firstVersion)
  await database.run('insert into members (name) values (?), (?)', 'Bo', 'Bo')
  const names = (await database.run(objectsSql)).map(({ name }) => name)
  assert.ok(names.includes('others_index'))
  assert.not.ok(names.includes('registry_members_unique_name'))
  database.close()
})

test('the demo data is not loaded beside rows that are not counted', async () => {
  const database = await sharedDatabase()
  await openAndClose(database.url, firstVersion, false)
  await database.run('insert into members (name) values (?)', 'Zoe')
  await database.run(`update ${server ? 'registry_states' : 'registry_tables'} set rows = 0`)
  await openAndClose(database.url, firstVersion)
  assert.equal(await database.run('select name from members'), [{ name: 'Zoe' }])
  assert.equal(await database.run('select name from teams'), [])
  database.close()
})

test.run()
