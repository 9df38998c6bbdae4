/** The log of changes while descriptors and tables change: followers go on where nothing was written unseen, and begin again otherwise. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { rightsOf, service } from '../../engine/descriptor/access.js'
import { date, integer, text } from '../../engine/descriptor/index.js'
import type { Registry, Resource } from '../../engine/descriptor/registry.js'
import { migrateStorage, planStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { type SharedDatabase, server, sharedDatabase } from '../support/database.js'
import { follower } from '../support/follower.js'
import { apply, type Fields, loggedMembers, open, refusal, type Version } from '../support/members.js'

const rights = rightsOf(service)

const members = (fields: Fields, rest: Partial<Version> = {}): Registry =>
  loggedMembers({ fields, changes: true, ...rest })
const first = members({ name: text() })
const last = (registry: Registry) => registry.at(-1) as Resource

/** A follower of one version, who goes on with the next one. */
const change = async (
  before: Registry,
  after: Registry,
  between: (url: string, run: SharedDatabase['run']) => Promise<unknown> = async () => {},
) => {
  const database = await sharedDatabase()
  const storage = await open(before, database.url)
  await database.run(`insert into members (name) values ('Ana')`)
  const copy = follower(storage, last(before), rights)
  if (last(before).log) await copy.begin()
  const position = copy.position()
  await storage.close()
  await between(database.url, database.run)
  const next = await open(after, database.url)
  const page = await next.changes(last(after), { rights, after: position, limit: 5 })
  const again = follower(next, last(after), rights)
  await again.begin()
  await database.run(`insert into ${last(after).table} (name) values ('Ben')`)
  const told = await again.catchUp()
  assert.equal(told === 'resync' ? told : told.map(({ op }) => op), ['put'])
  await next.close()
  assert.equal((await planStorage(after, database.url, 5_000)).steps, [])
  return { database, page: page === 'resync' ? page : page.changes }
}

const test = suite('the log beside migrations')

test('a resource gains changes, and loses them', async () => {
  const plain = members({ name: text() }, { changes: false })
  assert.is((await change(plain, first)).page, 'resync')
  const { url, run } = await sharedDatabase()
  await (await open(first, url)).close()
  await (await open(plain, url)).close()
  assert.equal((await planStorage(plain, url, 5_000)).steps, [])
  await run(`insert into members (name) values ('Ana')`)
  assert.equal(await run(`select op from registry_log`), [{ op: 'reset' }])
})

test('fields are added, and followers go on', async () => {
  assert.equal((await change(first, members({ name: text(), born: date() }))).page, [])
})

test('a resource gains a history, and followers go on', async () => {
  const { page, database } = await change(first, members({ name: text() }, { history: true }))
  assert.equal(page, [])
  const [entry] = await database.run('select after from registry_log order by seq desc limit 1')
  assert.equal(JSON.parse(String(entry?.['after'])), { id: 2, name: 'Ben' })
})

test('a table is renamed', async () => {
  const after = members({ name: text() }, { table: 'people', renamedFromTable: 'members' })
  const { page, database } = await change(first, after, (url) => apply(after, url, 'rename:members'))
  assert.is(page, 'resync')
  assert.equal(await database.run(`select distinct name from registry_log`), [{ name: 'people' }])
})

test('a column changes its kind', async () => {
  const after = members({ name: text(), size: integer() })
  const before = members({ name: text(), size: text() })
  const { page } = await change(before, after, (url) => apply(after, url, 'retype:members.size'))
  // Only SQLite makes the table anew.
  if (!server) assert.is(page, 'resync')
})

test('a file of migrations writes rows', async () => {
  const statements = `update members set name = 'Eve';`
  const file = { name: 'a.sql', file: 'migrations/a.sql', text: statements, digest: '0'.repeat(64) }
  const { page } = await change(first, first, (url) =>
    migrateStorage(first, url, {
      ...storageOptions,
      demo: false,
      waitMs: 5_000,
      files: [file],
      command: { accepted: [], done() {} },
    } as never),
  )
  assert.is(page, 'resync')
})

test('triggers are missing, and rows were written without them', async () => {
  const { page } = await change(first, first, async (_, run) => {
    for (const trigger of ['registry_members_insert', 'registry_members_log_insert'])
      await run(`drop trigger ${trigger}${server ? ' on members' : ''}`)
    await run(`insert into members (name) values ('Unseen')`)
  })
  assert.is(page, 'resync')
})

test('a table is dropped with its entries', async () => {
  const { url, run } = await sharedDatabase()
  await (await open(first, url)).close()
  const other = members({ a: text() }, { table: 'others' })
  await apply(other, url, 'drop:members')
  assert.equal(await run('select name from registry_log'), [{ name: 'others' }])
})

test('a start with a row whose id is a path is refused', async () => {
  const { url, run } = await sharedDatabase()
  const plain = members({ name: text() }, { changes: false, id: 'text' })
  await (await open(plain, url)).close()
  await run(`insert into members (id, name) values ('history', 'Ana')`)
  assert.match(await refusal(members({ name: text() }, { id: 'text' }), url), 'a row has the id "changes" or "history"')
})

test.run()
