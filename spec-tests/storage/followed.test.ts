/** Those who follow the changes of a resource have the rows that they may read, whoever writes, and are never told of others. */
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Identity, rightsOf, service } from '../../engine/descriptor/access.js'
import { claim } from '../../engine/descriptor/define.js'
import { boolean, integer, text } from '../../engine/descriptor/index.js'
import { withLogging } from '../../engine/descriptor/logging.js'
import type { Resource } from '../../engine/descriptor/registry.js'
import { withRulePaths } from '../../engine/descriptor/rulePaths.js'
import { openStorage } from '../../engine/storage/open.js'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { storageOptions } from '../../support/storageOptions.js'
import { type SharedDatabase, server, sharedDatabase } from '../support/database.js'
import { follower, rowsSeen } from '../support/follower.js'
import { resourceIn } from '../support/registryFrom.js'

const all = { create: true, update: true, delete: true, changes: true } as const
const reference = (references: string, onDelete?: 'cascade') =>
  integer({ references, filter: true, ...(onDelete && { onDelete }) })

const registry = withLogging(
  withRulePaths([
    resourceIn('countries', { name: text() }, all),
    resourceIn('houses', { country_id: reference('countries', 'cascade'), open: boolean({ filter: true }) }, all),
    resourceIn(
      'loans',
      { house_id: reference('houses', 'cascade'), state: text({ filter: true }) },
      {
        ...all,
        access: { read: ['staff', { house_id: claim('house') }], create: 'staff', update: 'staff', delete: 'staff' },
      },
    ),
    resourceIn(
      'items',
      {
        loan_id: reference('loans', 'cascade'),
        parent_id: reference('items', 'cascade'),
        kind: text({ filter: true }),
        note: text(),
        secret: text({ readBy: ['staff'] }),
      },
      {
        ...all,
        access: {
          read: [
            'staff',
            { 'loan_id.house_id': claim('house'), kind: claim('kind') },
            { 'loan_id.house_id.country_id': claim('country') },
            { 'parent_id.kind': claim('parents') },
          ],
          create: 'staff',
          update: 'staff',
          delete: 'staff',
        },
      },
    ),
  ]),
)
const [, , loans, items] = registry as [Resource, Resource, Resource, Resource]

const caller = (claims: Identity['claims'], roles: readonly string[] = []): Identity => ({ name: 'a', roles, claims })
const callers: readonly (readonly [Resource, Identity])[] = [
  [items, service],
  [items, caller({}, ['staff'])],
  [items, caller({ house: 1, kind: 'a' })],
  [items, caller({ house: [1, 2], kind: 'b', parents: 'a' })],
  [items, caller({ country: 1 })],
  [items, caller({ parents: ['a', 'b'] })],
  [loans, caller({ house: 1 })],
  [loans, caller({}, ['staff'])],
]

/** Numbers that are the same in every run. */
const randomFrom = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const nextStatement = (random: (below: number) => number): string => {
  const id = () => 1 + random(6)
  const maybe = (value: string) => (random(6) === 0 ? 'null' : value)
  const kind = () => `'${'abc'[random(3)]}'`
  const statements = [
    () =>
      `insert into items (loan_id, parent_id, kind, note) select ${maybe('min(id)')}, null, ${kind()}, 'new' from loans where id >= ${id()}`,
    () => `insert into items (loan_id, parent_id, kind) select null, min(id), ${kind()} from items where id >= ${id()}`,
    () => `insert into loans (house_id, state) select min(id), 'x' from houses where id >= ${id()}`,
    () => `update items set kind = ${kind()} where id % 6 = ${random(6)}`,
    () => `update items set note = '${random(100)}' where id % 6 = ${random(6)}`,
    () => `update items set secret = '${random(100)}' where id % 6 = ${random(6)}`,
    () => `update items set loan_id = (select min(id) from loans where id >= ${id()}) where id % 6 = ${random(6)}`,
    () => `update loans set house_id = (select min(id) from houses where id >= ${id()}) where id % 6 = ${random(6)}`,
    () => `update houses set country_id = ${1 + random(2)} where id % 3 = ${random(3)}`,
    () => `delete from items where id % 9 = ${random(9)}`,
    () => `delete from loans where id = (select max(id) from loans)`,
    () =>
      `update items set id = id + 1000 where id = (select max(id) from items where id < 1000 and id not in (select parent_id from items where parent_id is not null))`,
  ]
  return (statements[random(statements.length)] as () => string)()
}

const open = async (database: SharedDatabase) => {
  const storage = await openStorage(registry, database.url, { ...storageOptions, demo: false })
  await database.run(`insert into countries (id, name) values (1, 'One'), (2, 'Two')`)
  await database.run(`insert into houses (id, country_id) values (1, 1), (2, 1), (3, 2)`)
  await database.run(`insert into loans (id, house_id) values (1, 1), (2, 2), (3, 3), (4, 1)`)
  return storage
}

const test = suite('following changes')

for (const seed of server ? [1, 2] : [1, 2, 3, 4])
  test(`copies are the rows that each caller sees, and nothing else is told, with seed ${seed}`, async () => {
    const database = await sharedDatabase()
    const storage = await open(database)
    const random = randomFrom(seed)
    const followers = callers.map(([resource, identity], n) => {
      const rights = rightsOf(identity)
      return { resource, rights, copy: follower(storage, resource, rights, 1 + n), seen: new Set<string>() }
    })
    for (const { copy } of followers) await copy.begin()
    for (let n = 0; n < 160; n++) {
      const statement = nextStatement(random)
      await database.run(statement)
      for (const { resource, rights, copy, seen } of followers) {
        const now = await rowsSeen(storage, resource, rights)
        for (const id of now.keys()) seen.add(id)
        if (random(5) > 0) continue
        const told = await copy.catchUp()
        assert.is.not(told, 'resync', `${n}: ${statement}`)
        if (told === 'resync') continue
        const strange = told.filter(({ id }) => !seen.has(id))
        assert.equal(strange, [], `${n}: a row that was never seen, after ${statement}`)
        assert.equal([...copy.rows()].toSorted(), [...now].toSorted(), `${n}: ${statement}`)
        seen.clear()
        for (const id of now.keys()) seen.add(id)
      }
    }
    await storage.close()
  })

test('a change of hidden fields alone is not told', async () => {
  const database = await sharedDatabase()
  const storage = await open(database)
  await database.run(`insert into items (id, loan_id, kind) values (1, 1, 'a')`)
  const follow = (identity: Identity) => follower(storage, items, rightsOf(identity))
  const [one, staff] = [follow(caller({ house: 1, kind: 'a' })), follow(caller({}, ['staff']))]
  for (const copy of [one, staff]) await copy.begin()
  await database.run(`update items set secret = 'x'`)
  assert.equal(await one.catchUp(), [])
  assert.is((await staff.catchUp()).length, 1)
  await storage.close()
})

test('more than a thousand rows that one change moves make those begin again whose rules follow references', async () => {
  const database = await sharedDatabase()
  const storage = await open(database)
  const rows = Array.from({ length: 1_001 }, () => `(1, 'a')`).join()
  await database.run(`insert into items (loan_id, kind) values ${rows}`)
  const follow = (identity: Identity) => follower(storage, items, rightsOf(identity), 1_000)
  const [one, staff] = [follow(caller({ country: 1 })), follow(caller({}, ['staff']))]
  for (const copy of [one, staff]) await copy.begin()
  await database.run(`update loans set house_id = 3 where id = 1`)
  assert.is(await one.catchUp(), 'resync')
  assert.equal(await staff.catchUp(), [])
  await storage.close()
})

test('a position of another database, of another time or of none makes a follower begin again', async () => {
  const [database, other] = [await sharedDatabase(), await sharedDatabase()]
  const [storage, otherStorage] = [await open(database), await open(other)]
  const rights = rightsOf(service)
  const copy = follower(storage, items, rights)
  await copy.begin()
  for (const after of ['', '[]', 'null', '["",[["1","x"]],"1:1:",null]'])
    assert.is(await storage.changes(items, { rights, after, limit: 5 }), 'resync', after)
  assert.is(await otherStorage.changes(items, { rights, after: copy.position(), limit: 5 }), 'resync')
  await storage.close()
  await otherStorage.close()
})

if (!server)
  test('a file that was restored to an earlier time tells what is written from then on, or has followers begin again', async () => {
    const database = await sharedDatabase()
    const path = database.url.replace('sqlite:', '')
    const storage = await open(database)
    const rights = rightsOf(service)
    const rowsInCopy = join(temporaryFolder('restored').path, 'copy.sqlite')
    await database.run(`vacuum into '${rowsInCopy}'`)
    const quiet = follower(storage, items, rights)
    await quiet.begin()
    await database.run(`insert into loans (house_id) values (1), (2), (3)`)
    await quiet.catchUp()
    const late = follower(storage, loans, rights)
    await late.begin()
    await storage.close()
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    copyFileSync(rowsInCopy, path)
    const restored = await openStorage(registry, database.url, { ...storageOptions, demo: false })
    const other = new Database(path)
    other.exec(`insert into items (kind) values ('x'); insert into loans (house_id) values (1)`)
    other.close()
    const page = await restored.changes(items, { rights, after: quiet.position(), limit: 9 })
    assert.is(page === 'resync' ? page : page.changes.length, 1)
    assert.is(await restored.changes(loans, { rights, after: late.position(), limit: 9 }), 'resync')
    await restored.close()
  })

test('entries that are older than what is kept are deleted, and their followers begin again', async () => {
  const database = await sharedDatabase()
  const storage = await open(database)
  const rights = rightsOf(service)
  const [early, late] = [follower(storage, items, rights), follower(storage, items, rights)]
  for (const kind of 'abc') await database.run(`insert into items (kind) values ('${kind}')`)
  await early.begin()
  await database.run(`insert into items (kind) values ('d')`)
  await late.begin()
  const old = Date.now() - 31 * 86_400_000
  await database.run(`update registry_log set at = ${old} where name = 'items'`)
  assert.is(await early.catchUp(), 'resync')
  assert.equal(await late.catchUp(), [])
  assert.is(await storage.pruneLog(), false)
  assert.equal(await database.run(`select count(*) as n from registry_log where name = 'items'`), [{ n: 1 }])
  assert.equal(await late.catchUp(), [])
  await storage.close()
})

test.run()
