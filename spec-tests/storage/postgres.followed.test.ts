/** Followers of changes on PostgreSQL, while transactions overlap: whatever was committed when, nothing is lost, and an open one delays nobody. */
import type { Client } from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Identity, rightsOf, service } from '../../engine/descriptor/access.js'
import { claim } from '../../engine/descriptor/define.js'
import { integer, text } from '../../engine/descriptor/index.js'
import { withLogging } from '../../engine/descriptor/logging.js'
import type { Resource } from '../../engine/descriptor/registry.js'
import { withRulePaths } from '../../engine/descriptor/rulePaths.js'
import { openStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl, runOn, sessionOn } from '../support/database.js'
import { follower, rowsSeen } from '../support/follower.js'
import { resourceIn } from '../support/registryFrom.js'

const all = { create: true, update: true, delete: true, changes: true } as const
const reference = (references: string) => integer({ references, filter: true, onDelete: 'cascade' })
const registry = withLogging(
  withRulePaths([
    resourceIn('houses', { name: text() }, all),
    resourceIn('loans', { house_id: reference('houses') }, all),
    resourceIn(
      'items',
      { loan_id: reference('loans'), kind: text() },
      { ...all, access: { read: { 'loan_id.house_id': claim('house') } } },
    ),
  ]),
)
const items = registry[2] as Resource
const ofHouse = (house: number): Identity => ({ name: 'a', roles: [], claims: { house } })

const open = async (t: { url?: string } = {}) => {
  const url = t.url ?? (await freshUrl())
  const storage = await openStorage(registry, url, { ...storageOptions, demo: false })
  if (t.url === undefined)
    await runOn(
      url,
      `insert into houses (id) values (1), (2); insert into loans (id, house_id) values (1, 1), (2, 2); insert into items (id, loan_id) values (1, 1), (2, 2)`,
    )
  return { url, storage }
}

const begin = async (url: string, isolation = 'read committed'): Promise<Client> => {
  const session = await sessionOn(url)
  await session.query(`begin isolation level ${isolation}; select pg_current_xact_id()`)
  return session
}
const end = async (session: Client, how: 'commit' | 'rollback' = 'commit') => {
  await session.query(how)
  await session.end()
}

const test = suite('following changes on PostgreSQL')

test('a transaction that commits after later ones is told, and delays nobody', async () => {
  const { url, storage } = await open()
  const copy = follower(storage, items, rightsOf(service))
  await copy.begin()
  const late = await begin(url)
  await late.query('insert into items (loan_id) values (1)')
  await runOn(url, 'insert into items (loan_id) values (2)')
  assert.is((await copy.catchUp()).length, 1)
  await runOn(url, 'update items set kind = $1 where id = 2', ['x'])
  assert.is((await copy.catchUp()).length, 1)
  assert.equal(await copy.catchUp(), [])
  await end(late)
  assert.is((await copy.catchUp()).length, 1)
  assert.equal([...copy.rows()].toSorted(), [...(await rowsSeen(storage, items, rightsOf(service)))].toSorted())
  await storage.close()
})

for (const isolation of ['read committed', 'repeatable read', 'serializable'])
  for (const [first, second] of [
    ['insert into items (loan_id) values (1)', 'update loans set house_id = 2 where id = 1'],
    ['update items set loan_id = 1 where id = 2', 'update loans set house_id = 2 where id = 1'],
    ['update items set loan_id = 2 where id = 1', 'update loans set house_id = 1 where id = 2'],
  ] as const)
    for (const isFirst of [true, false])
      test(`${first} beside ${second}, ${isFirst ? 'committed first' : 'committed last'}, ${isolation}`, async () => {
        const { url, storage } = await open()
        const copies = [1, 2].map((house) => ({
          rights: rightsOf(ofHouse(house)),
          early: follower(storage, items, rightsOf(ofHouse(house))),
          between: follower(storage, items, rightsOf(ofHouse(house))),
        }))
        for (const { early } of copies) await early.begin()
        const [one, other] = [await begin(url, isolation), await begin(url, isolation)]
        await one.query(first)
        await other.query(second)
        await end(isFirst ? one : other)
        for (const { between, early } of copies) {
          await between.begin()
          await early.catchUp()
        }
        await end(isFirst ? other : one)
        for (const { rights, early, between } of copies) {
          const now = [...(await rowsSeen(storage, items, rights))].toSorted()
          for (const copy of [early, between]) {
            assert.is.not(await copy.catchUp(), 'resync')
            assert.equal([...copy.rows()].toSorted(), now)
          }
        }
        await storage.close()
      })

test('copies are right after writers in many sessions, with savepoints and rollbacks', async () => {
  const { url, storage } = await open()
  const rights = [rightsOf(service), rightsOf(ofHouse(1)), rightsOf(ofHouse(2))]
  const copies = rights.map((right, n) => follower(storage, items, right, 2 + n))
  for (const copy of copies) await copy.begin()
  let isDone = false
  const write = async (writer: number) => {
    const session = await sessionOn(url)
    for (let n = 0; n < 60; n++) {
      const isolation = n % 3 === 0 ? 'repeatable read' : 'read committed'
      const statements = [
        `insert into items (loan_id, kind) values (${1 + ((writer + n) % 2)}, '${writer}')`,
        `savepoint a; update items set kind = '${n}' where id % 7 = ${n % 7}; ${n % 2 ? 'rollback to a' : 'release a'}`,
        `update items set loan_id = 3 - loan_id where id % 5 = ${n % 5}`,
        n % 4 === writer ? `update loans set house_id = 3 - house_id where id = ${1 + (n % 2)}` : 'select 1',
        `delete from items where id % 11 = ${n % 11} and kind = '${writer}'`,
      ]
      try {
        await session.query(`begin isolation level ${isolation}`)
        for (const statement of statements) await session.query(statement)
        await session.query(n % 5 === 0 ? 'rollback' : 'commit')
      } catch {
        // Another writer came first, or both waited for each other.
        await session.query('rollback')
      }
    }
    await session.end()
  }
  const writing = Promise.all([0, 1, 2].map(write)).then(() => {
    isDone = true
  })
  while (!isDone) for (const copy of copies) assert.is.not(await copy.catchUp(), 'resync')
  await writing
  for (const [n, copy] of copies.entries()) {
    assert.is.not(await copy.catchUp(), 'resync')
    const now = await rowsSeen(storage, items, rights[n] as never)
    assert.equal([...copy.rows()].toSorted(), [...now].toSorted())
  }
  await storage.close()
})

test('TRUNCATE makes followers begin again, of the rows that reference the table too', async () => {
  const { url, storage } = await open()
  const copy = follower(storage, items, rightsOf(ofHouse(1)))
  await copy.begin()
  await runOn(url, 'truncate loans cascade')
  assert.is(await copy.catchUp(), 'resync')
  await storage.close()
})

test('a log that was restored on another server begins anew at the next start', async () => {
  const { url, storage } = await open()
  const copy = follower(storage, items, rightsOf(service))
  await copy.begin()
  await storage.close()
  // As in a dump: every entry was written by another transaction than it says, perhaps by one of the future.
  await runOn(url, `update registry_log set xid = '100000000'`)
  await runOn(url, `update registry_log_origin set xid = '100000000'`)
  const restored = await open({ url })
  const [position, ...more] = [copy.position()]
  assert.equal(more, [])
  assert.is(await restored.storage.changes(items, { rights: rightsOf(service), after: position, limit: 9 }), 'resync')
  const again = follower(restored.storage, items, rightsOf(service))
  await again.begin()
  assert.equal(await again.catchUp(), [])
  await runOn(url, 'insert into items (loan_id) values (1)')
  assert.is((await again.catchUp()).length, 1)
  await restored.storage.close()
})

test.run()
