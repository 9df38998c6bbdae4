/** `DERIVED_OBJECTS=false` on PostgreSQL: tables, keys and indexes, and nothing else; the suites of the contract run in this mode too. */
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { text } from '../../engine/descriptor/index.js'
import { newRow, type Resource, type RowValues } from '../../engine/descriptor/registry.js'
import { openStorage, planStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl, runOn } from '../support/database.js'
import { schemaOf } from '../support/foreignTables.js'
import { insertion } from '../support/insertion.js'
import { listQuery } from '../support/listQuery.js'
import { servedRows } from '../support/members.js'
import { inOffice, office } from '../support/office.js'
import { resourceIn } from '../support/registryFrom.js'
import { containing, joinedText } from '../support/searchOracle.js'

const openIn = (url: string, derivedObjects: boolean) => openStorage(office, url, { ...storageOptions, derivedObjects })
const employees = inOffice('employees')

/** What the service has created, by kind; foreign keys have triggers of their own. */
const objectsIn = async (url: string): Promise<string[]> =>
  ((await schemaOf({ run: (sql) => runOn(url, sql) })) as { object: string }[])
    .map(({ object }) => object)
    .filter((object) => !/RI_ConstraintTrigger/.test(object))

const test = suite('PostgreSQL without derived objects')

test('there is no trigger, no function, no column and no extension of the service', async () => {
  const url = await freshUrl()
  const storage = await openIn(url, false)
  const objects = await objectsIn(url)
  assert.equal(
    objects.filter((object) => /^(?:trigger|function)|column \S+ registry_|extension pg_trgm/.test(object)),
    [],
  )
  const tables = objects.flatMap((object) => /^class (\w+) r$/.exec(object)?.[1] ?? [])
  assert.equal(tables.sort(), [...office.map(({ table }) => table), 'registry_descriptors', 'registry_keys'].sort())
  assert.equal((await planStorage(office, url, 5_000, { derivedObjects: false })).steps, [])
  assert.is((await storage.counts()).get(employees), employees.demo.length)
  await storage.close()
  const again = await openIn(url, false)
  assert.equal(await objectsIn(url), objects)
  await again.close()
})

test('a database changes from one way to the other and back, with its rows', async () => {
  const url = await freshUrl()
  let rows: unknown
  for (const derivedObjects of [true, false, true]) {
    const storage = await openIn(url, derivedObjects)
    rows ??= await servedRows(storage, employees)
    assert.equal(await servedRows(storage, employees), rows)
    const triggers = (await objectsIn(url)).filter((object) => /^trigger (?!registry_)/.test(object))
    assert.is(triggers.length > 0, derivedObjects)
    await storage.close()
  }
})

test('creates get new ids after the demo rows, and an expired key is forgotten', async () => {
  const url = await freshUrl()
  const storage = await openIn(url, false)
  const [resource] = office.filter(({ create }) => create)
  const table = storage.table(resource as Resource)
  const row = newRow(resource as Resource, { ...(resource as Resource).demo[0], slug: 'new', name: 'New' } as never)
  delete row['id']
  const write = { ...insertion(row), idempotencyKey: { key: 'k', digest: 'd' } }
  const first = await table.write(write)
  assert.ok('id' in first, JSON.stringify(first))
  assert.ok(await table.earlierWrite('k'))
  assert.equal(await table.write(write), { ...first, replayed: true })
  await runOn(url, 'update registry_keys set at = 0')
  assert.not.ok(await table.earlierWrite('k'))
  await storage.close()
})

test('searches find what they should by the trigram index, where the server has pg_trgm', async () => {
  const url = await freshUrl()
  await runOn(url, 'create extension pg_trgm')
  const { pathname } = new URL(url)
  await runOn(url, `alter database ${pathname.slice(1)} set enable_seqscan = off`)
  const notes = resourceIn('notes', { first: text(), second: text() })
  const storage = await openStorage([notes], url, { ...storageOptions, derivedObjects: false })
  const letters = ['Kelvin scale', 'ſunday mornings', 'MÜLLER and son', 'Straße 100%', 'a_b\\c']
  const texts = [...letters, null, 'Kel', 'vin scale', 'x'.repeat(60)]
  const rows = texts.flatMap((first) => texts.map((second) => ({ first, second })))
  await storage.fill([{ resource: notes, rows: rows.map((row, n) => ({ id: n + 1, ...row })) }])
  // biome-ignore format: one list
  const searches = [
    'kelvin', 'KELVIN SCALE', 'sunday', 'müller', 'Müller AND', 'ße 100%', 'a_b\\c', 'kel vin', 'ke', 'son kel', 'xxx',
    'x'.repeat(60), 'x'.repeat(61), 'nothing', 'ﬁ',
  ]
  for (const q of searches) {
    const page = await storage.table(notes).list(listQuery({ q, limit: 200 }))
    const expected = rows.filter((row) => containing(q)(joinedText(notes, row)))
    assert.equal(
      JSON.parse(String(page.body)).data.map(({ id, ...row }: RowValues) => row),
      expected,
      q,
    )
  }
  const used = `select idx_scan from pg_stat_user_indexes where indexrelname = 'registry_notes_search' and idx_scan > 0`
  while ((await runOn(url, used)).length === 0) await setTimeout(50)
  await storage.close()
})

test.run()
