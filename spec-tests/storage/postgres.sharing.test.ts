/** Several processes, and other programs, on one PostgreSQL database: races, keys, counts and ids. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newRow, type RowValues } from '../../engine/descriptor/registry.js'
import { openStorage } from '../../engine/storage/open.js'
import type { Outcome } from '../../engine/storage/writeData.js'
import { storageOptions } from '../../support/storageOptions.js'
import { runOn, sharedDatabase } from '../support/database.js'
import { insertion } from '../support/insertion.js'
import { listQuery, tableTag } from '../support/listQuery.js'
import { inOffice, office } from '../support/office.js'

const otherProgram = await sharedDatabase()
const open = () => openStorage(office, otherProgram.url, storageOptions)

const test = suite('sharing a PostgreSQL database')

// Both open an empty database at the same time.
const [one, other] = await Promise.all([open(), open()])
const organizations = inOffice('organizations')
const both = [one.table(organizations), other.table(organizations)] as const
const organization = (slug: string): RowValues => newRow(organizations, { name: 'Race', slug })
const isStored = (creation: Outcome) => 'id' in creation && !creation.replayed

test('two processes that start at the same time load the demo data once', async () => {
  for (const storage of [one, other]) {
    const counts = await storage.counts()
    for (const resource of office) assert.is(counts.get(resource), resource.demo.length, resource.path)
  }
})

test('of concurrent creates with one slug, one is stored and the others get a conflict', async () => {
  for (let n = 0; n < 25; n++) {
    const row = organization(`race-${n}`)
    const creations = await Promise.all([0, 1, 2, 3, 4, 5].map((k) => both[k % 2 ? 1 : 0].write(insertion(row))))
    assert.is(creations.filter(isStored).length, 1)
    for (const creation of creations.filter((made) => !isStored(made))) {
      assert.equal(creation, { conflicts: [{ type: 'unique', field: 'slug' }] })
    }
  }
})

test('ids continue after those that other programs inserted, even if the sequence is behind', async () => {
  const insert =
    'insert into organizations (id, name, slug, default_locale, timezone, created) values (?, ?, ?, ?, ?, ?)'
  await otherProgram.run(insert, 50_000, 'x', 'other-program', 'en', 'UTC', 'now')
  const after = await both[0].write(insertion(organization('after-other-program')))
  assert.is('id' in after && after.id, '50001')
  await otherProgram.run(`select setval(pg_get_serial_sequence('organizations', 'id'), 49999)`)
  const behind = await both[1].write(insertion(organization('after-lagging-sequence')))
  assert.is('id' in behind && behind.id, '50002')
})

test('other programs write with any search path, such as the empty one of pg_restore', async () => {
  await runOn(otherProgram.url, `set search_path = ''; insert into public.departments (name) values ('Ångström')`)
  const { body } = await one.table(inOffice('departments')).list(listQuery({ limit: 1, offset: 0n, q: 'ÅNG' }))
  assert.match(String(body), /"name":"Ångström".*"total":1,/)
})

test('counts and tags reflect the writes of other programs, whatever the statement', async () => {
  const table = one.table(organizations)
  const exact = async () => {
    const [{ count } = {}] = await otherProgram.run('select count(*) from organizations')
    const { body } = await table.list(listQuery({ limit: 1, offset: 0n }))
    assert.is(JSON.parse(String(body)).meta.total, count)
  }
  const tags = [await tableTag(table)]
  const bulk = `insert into organizations (name, slug, default_locale, timezone, created)
    select 'bulk', 'bulk-' || n, 'en', 'UTC', 'now' from generate_series(1, 500) as n`
  for (const sql of [
    bulk,
    `update organizations set name = 'changed' where slug = 'bulk-7'`,
    `delete from organizations where slug like 'bulk-1%'`,
    `merge into organizations using (values (1)) as v on slug = 'bulk-2' when matched then delete`,
    `insert into organizations (name, slug, default_locale, timezone, created) values ('x', 'bulk-3', 'en', 'UTC', 'now')
      on conflict (registry_key(slug)) do update set name = 'merged'`,
  ]) {
    await otherProgram.run(sql)
    tags.push(await tableTag(table))
    await exact()
  }
  assert.is(new Set(tags).size, tags.length)
})

test('the change log is compacted without changing the tag', async () => {
  const table = other.table(organizations)
  const update = `update organizations set name = name || 'n' where slug = 'bulk-3'`
  for (let n = 0; n < 110; n++) await otherProgram.run(update)
  const tag = await tableTag(table)
  const loggedChanges = async () =>
    (await otherProgram.run(`select count(*) from registry_changes where name = 'organizations'`))[0]?.['count']
  // The next read of a long log compacts it.
  for (let n = 0; n < 100 && (await loggedChanges()) !== 0; n++) await new Promise((resolve) => setTimeout(resolve, 20))
  assert.is(await loggedChanges(), 0)
  assert.is(await tableTag(table), tag)
  assert.is(await tableTag(one.table(organizations)), tag)
})

test.after(async () => {
  await Promise.all([one.close(), other.close()])
})
test.run()
