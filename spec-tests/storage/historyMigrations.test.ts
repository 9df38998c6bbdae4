/** The history of rows while descriptors change, and what is left of an erased one in the file of the database. */
import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { allRights } from '../../engine/descriptor/access.js'
import { json, text } from '../../engine/descriptor/index.js'
import type { Registry, Resource } from '../../engine/descriptor/registry.js'
import { migrateStorage } from '../../engine/storage/open.js'
import type { Storage } from '../../engine/storage/storage.js'
import { storageOptions } from '../../support/storageOptions.js'
import { server, sharedDatabase } from '../support/database.js'
import { follower } from '../support/follower.js'
import { type Fields, loggedMembers, open, type Version } from '../support/members.js'

const members = (fields: Fields, rest: Partial<Version> = {}): Registry =>
  loggedMembers({ fields, history: true, ...rest })
const only = (registry: Registry) => registry[0] as Resource

/** Runs the command that migrates; returns what it says that it has done in the log. */
const migrate = async (registry: Registry, url: string, ...approvals: string[]): Promise<string[]> => {
  const { steps } = await migrateStorage(registry, url, {
    ...storageOptions,
    waitMs: 5_000,
    approvals,
    command: { accepted: [], done() {} },
  })
  return steps.map(({ about }) => about).filter((about) => about.includes('the log of members'))
}

const historyOf = async (storage: Storage, registry: Registry, id = '1') => {
  const found = await storage.history(only(registry), id, { rights: allRights, limit: 50, offset: 0n })
  return (found?.entries ?? []).map(({ op, changed }) => [
    op,
    ...[...changed].filter(([name]) => name !== 'id').map(([name, values]) => `${name} ${values.join(' ')}`),
  ])
}

/** A row with two values in its history, after another version of the descriptor has migrated the database. */
const change = async (before: Registry, after: Registry, ...approvals: string[]) => {
  const { url, run } = await sharedDatabase()
  await (await open(before, url)).close()
  await run(`insert into members (name, data) values ('first', '{"b":1.10,"a":[2]}')`)
  await run(`update members set name = 'second'`)
  const done = await migrate(after, url, ...approvals)
  const storage = await open(after, url)
  const history = await historyOf(storage, after)
  await storage.close()
  assert.equal(await migrate(after, url), [])
  return { done, history, log: JSON.stringify(await run('select before, after from registry_log')) }
}

const first = members({ name: text(), data: json() })
const test = suite('history beside migrations')

test('a renamed field keeps its entries under the new name, also without renamedFrom', async () => {
  const { url, run } = await sharedDatabase()
  await (await open(first, url)).close()
  await run(`insert into members (name, data) values ('first', '{"b":1.10,"a":[2]}')`)
  const after = members({ title: text({ renamedFrom: 'name' }), data: json() })
  assert.equal(await migrate(after, url, 'rename:members.name'), ['rename name to title in the log of members'])
  await run(`update members set title = 'second'`)
  const expected = [
    ['update', 'title "first" "second"'],
    ['create', 'title null "first"', 'data null {"b":1.10,"a":[2]}'],
  ]
  for (const version of [after, members({ title: text(), data: json() })]) {
    const storage = await open(version, url)
    assert.equal(await historyOf(storage, version), expected)
    await storage.close()
    assert.equal(await migrate(version, url), [])
  }
})

test('what becomes redacted is erased', async () => {
  const { done, history, log } = await change(first, members({ name: text({ redacted: true }), data: json() }))
  assert.equal(done, ['erase name in the log of members'])
  assert.equal(history, [['create', 'data null {"b":1.10,"a":[2]}']])
  assert.is(/first|second/.test(log), false)
})

test('what is dropped is erased with its column', async () => {
  const after = members({ data: json() })
  const unused = await change(first, after)
  assert.equal(unused.done, [])
  assert.equal(unused.history, [['create', 'data null {"b":1.10,"a":[2]}']])
  const dropped = await change(first, after, 'drop:members.name')
  assert.equal(dropped.done, ['erase name in the log of members'])
  assert.equal(dropped.history, unused.history)
  assert.is(/first|second/.test(dropped.log), false)
})

test('rows that commands store are of the write token', async () => {
  const { url } = await sharedDatabase()
  const storage = await open(first, url)
  const resource = only(first)
  const rows = [{ kind: 'insert', values: { name: 'imported', data: null } } as const]
  await storage.importAll(resource, { has: () => false }, async function* () {
    yield rows
  })
  await storage.fill([{ resource, rows: [{ id: 7, name: 'seeded', data: null }] }], 'API_TOKEN')
  await storage.table(resource).write({ kind: 'insert', values: { name: 'without a name', data: null } })
  const callers = await Promise.all(
    ['1', '7', '8'].map(async (id) => {
      const found = await storage.history(resource, id, { rights: allRights, limit: 5, offset: 0n })
      return found?.entries.map(({ by }) => by)
    }),
  )
  assert.equal(callers, [['API_TOKEN'], ['API_TOKEN'], [null]])
  await storage.close()
})

test('a delivery that waits is dropped', async () => {
  const { url, run } = await sharedDatabase()
  const storage = await open(first, url)
  await run(`insert into members (name) values ('A')`)
  await run(
    `insert into registry_subscriptions (subscriber, resource, position, entry, ended, attempts, next_attempt, delivery, body, erasures)
      values ('s', 'members', '', '', 0, 0, 0, 'd', 'A', 0)`,
  )
  await storage.eraseHistory(only(first), '1')
  assert.equal(await run('select body from registry_subscriptions'), [{ body: null }])
  await storage.close()
})

test('followers are told again of a row whose history is erased', async () => {
  if (!server) return
  const registry = members({ name: text() }, { changes: true })
  const { url, run } = await sharedDatabase()
  const storage = await open(registry, url)
  await run(`insert into members (name) values ('A')`)
  const copy = follower(storage, only(registry), allRights)
  await copy.begin()
  assert.is(await storage.eraseHistory(only(registry), '1'), true)
  const told = await copy.catchUp()
  assert.equal(told === 'resync' ? told : told.map(({ op, id }) => [op, id]), [['put', '1']])
  await storage.close()
})

test('the file of the database has no byte of it', async () => {
  if (server) return
  const { url, run } = await sharedDatabase()
  const storage = await open(first, url)
  const table = storage.table(only(first))
  const long = (n: number) => `erased-${n} ${'x'.repeat(9_000)}`
  for (let n = 1; n <= 50; n++) {
    const key = { key: `key-${n}`, digest: 'd' }
    await table.write({
      kind: 'insert',
      values: { name: n % 2 ? `erased-${n}` : long(n), data: null },
      idempotencyKey: key,
    })
    await table.write({ kind: 'delete', id: String(n) })
  }
  for (let n = 1; n <= 50; n++) assert.is(await storage.eraseHistory(only(first), String(n)), true)
  await run('pragma wal_checkpoint(truncate)')
  await storage.close()
  const bytes = readFileSync(url.replace('sqlite:', ''))
  assert.is(bytes.includes('erased-'), false)
})

test.run()
