/** Totals, versions and searched texts that differ from the rows: how a start notices it, and what counts them again. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { loadDemoRows } from '../../cli/seed/loadDemoRows.js'
import type { Registry, Resource } from '../../engine/descriptor/registry.js'
import { migrateStorage, openStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { type SharedDatabase, server, sharedDatabase } from '../support/database.js'
import { startOnce, thingsWith } from '../support/things.js'

const [things] = thingsWith(undefined, [{ id: 1, name: 'Demo' }]) as [Resource]
const registry: Registry = [things, { ...things, path: 'others', name: 'others', table: 'others' }]

const start = ({ url }: SharedDatabase, q = '') => startOnce(registry, url, { q, offset: 1n })
const migrated = async ({ url }: SharedDatabase, isRecounting: boolean): Promise<string[]> => {
  const { miscounted } = await migrateStorage(registry, url, { ...storageOptions, waitMs: 5_000, isRecounting })
  return miscounted.map(({ table }) => table)
}

const differ = 'The stored counts of the table "things" differ from its rows: run npm run migrate -- --recount.'

const test = suite('counts that differ from the rows')

const filled = async (): Promise<SharedDatabase> => {
  const database = await sharedDatabase()
  await start(database)
  for (const name of ['second', 'third']) await database.run('insert into things (name) values (?)', name)
  return database
}

/** Changes the row count of a table, but not its rows. */
const miscount = (database: SharedDatabase, table: string, change: number) =>
  database.run(
    server
      ? `insert into registry_changes (name, rows, state) values ('${table}', ${change}, 1)`
      : `update registry_tables set rows = rows + ${change} where name = '${table}'`,
  )

const heals = async (database: SharedDatabase, total: number, ids: number[]): Promise<void> => {
  const before = await start(database)
  assert.equal(before.warnings, [differ])
  assert.equal(await migrated(database, false), ['things'])
  assert.equal(await migrated(database, true), ['things'])
  assert.equal(await migrated(database, false), [])
  const after = await start(database)
  assert.equal(after.warnings, [])
  assert.equal({ total: after.total, ids: after.ids }, { total, ids })
  assert.is.not(after.tag, before.tag)
  await database.run('insert into things (name) values (?)', 'next')
  assert.is((await start(database)).total, total + 1)
  assert.equal((await start(database)).warnings, [])
}

test('rows that are not counted are noticed, and counted again on request', async () => {
  const database = await filled()
  await miscount(database, 'things', -2)
  await heals(database, 3, [2, 3])
})

test('demo rows are not loaded into a table whose count is 0', async () => {
  const database = await filled()
  await miscount(database, 'things', -3)
  await miscount(database, 'others', -1)
  assert.is((await start(database)).warnings.length, 2)
  assert.equal(await database.run('select id from things order by id'), [{ id: 1 }, { id: 2 }, { id: 3 }])
})

test('npm run seed -- --demo refuses a table whose count is 0 and which has rows', async () => {
  const database = await filled()
  await miscount(database, 'things', -3)
  const storage = await openStorage(registry, database.url, storageOptions)
  const refused = await loadDemoRows(storage, [things], () => {}).catch(String)
  await storage.close()
  const message = 'Nothing was loaded:\n  things already has rows; demo rows are for empty tables.'
  assert.is(refused, `CommandError: ${message}`)
  assert.is((await database.run('select id from things')).length, 3)
})

if (server) {
  test('text that was changed without the triggers is noticed, and computed again on request', async () => {
    const database = await filled()
    const triggers = (change: string) => `alter table things ${change} trigger zz_registry_things_searched`
    await database.run(
      `${triggers('disable')}; update things set name = 'zebra' where id = 2; ${triggers('enable always')}`,
    )
    assert.equal(await migrated(database, true), ['things'])
    assert.is((await start(database, 'zebra')).total, 1)
    assert.equal(await migrated(database, false), [])
  })

  test('a data-only restore of the engine’s own tables beside counted rows', async () => {
    const database = await filled()
    await database.run(`insert into registry_changes select * from registry_changes where name = 'things'`)
    await heals(database, 3, [2, 3])
  })

  test('triggers fire whatever the session_replication_role', async () => {
    const database = await filled()
    const before = await start(database)
    await database.run(`set session_replication_role = replica; insert into things (name) values ('Replicated')`)
    const after = await start(database, 'replicated')
    assert.equal([after.warnings, after.total], [[], 1])
    assert.is.not(after.tag, before.tag)
    assert.is((await start(database)).total, 4)
  })

  test('a restore that disables the triggers and enables them again is noticed, and the next start counts', async () => {
    const database = await filled()
    await database.run(`alter table things disable trigger all; insert into things (name) values ('Restored');
      alter table things enable trigger all`)
    assert.is((await start(database, 'restored')).total, 1)
    const { total, warnings } = await start(database)
    assert.equal({ total, warnings }, { total: 4, warnings: [] })
  })
} else {
  test('INSERT OR REPLACE', async () => {
    const database = await filled()
    await database.run('insert or replace into things (id, name) values (2, ?)', 'replaced')
    await heals(database, 3, [2, 3])
  })
}

test.run()
