/** Reads and writes of one table, called directly: what two callers share, and what other programs do to its rows. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Descriptor } from '../../engine/descriptor/define.js'
import { text, timestamp } from '../../engine/descriptor/index.js'
import type { Registry, Resource } from '../../engine/descriptor/registry.js'
import { openStorage } from '../../engine/storage/open.js'
import type { Storage } from '../../engine/storage/storage.js'
import { storageOptions } from '../../support/storageOptions.js'
import { type SharedDatabase, server, sharedDatabase } from '../support/database.js'
import { listQuery } from '../support/listQuery.js'
import { registryFrom, resourceIn } from '../support/registryFrom.js'

const docs = resourceIn('docs', { name: text(), digest: text() }, { create: true, update: true })

const withStorage = async (
  registry: Registry,
  prepare: (database: SharedDatabase) => Promise<unknown>,
  work: (storage: Storage, database: SharedDatabase) => Promise<void>,
) => {
  const database = await sharedDatabase()
  await prepare(database)
  const storage = await openStorage(registry, database.url, storageOptions)
  await work(storage, database)
  await storage.close()
}
const nothing = async () => {}

const readAll = async (body: Buffer | AsyncIterable<Uint8Array>): Promise<string> => {
  const parts: Uint8Array[] = []
  for await (const part of Buffer.isBuffer(body) ? [body] : body) parts.push(part)
  return String(Buffer.concat(parts))
}

const test = suite('the table of a resource')

test('each of several clients gets all of a page that is too large to be shared', () =>
  withStorage([docs], nothing, async (storage) => {
    const rows = Array.from({ length: 60 }, (_, n) => ({ id: n + 1, name: 'x'.repeat(90_000), digest: null }))
    await storage.fill([{ resource: docs, rows }])
    const bodies = await Promise.all(
      Array.from({ length: 5 }, async () => readAll((await storage.table(docs).list(listQuery())).body)),
    )
    for (const body of bodies) assert.is(JSON.parse(body).data.length, 50)
  }))

test('a field may have the name of what is stored with an idempotency key', () =>
  withStorage([docs], nothing, async (storage) => {
    const idempotencyKey = { key: 'k', digest: 'of the request' }
    const values = { name: 'a', digest: 'of my file' }
    const outcome = await storage.table(docs).write({ kind: 'insert', values, idempotencyKey })
    assert.match('body' in outcome ? String(outcome.body) : '', '"digest":"of my file"')
  }))

test('an update returns the row as triggers of other programs have left it', () =>
  withStorage([docs], nothing, async (storage, database) => {
    await storage.fill([{ resource: docs, rows: [{ id: 1, name: 'a', digest: null }] }])
    const change = `update docs set digest = 'by a trigger' where id = new.id and digest is null`
    if (server) {
      await database.run(
        `create function change() returns trigger language plpgsql as $$ begin ${change}; return null; end $$`,
      )
      await database.run('create trigger change after update on docs for each row execute function change()')
    } else {
      await database.run(`create trigger change after insert on docs begin ${change}; end`)
    }
    const table = storage.table(docs)
    const outcome = server
      ? await table.write({ kind: 'update', id: '1', values: { name: 'b' }, stamps: {} })
      : await table.write({ kind: 'insert', values: { name: 'b', digest: null } })
    assert.match('body' in outcome ? String(outcome.body) : '', '"digest":"by a trigger"')
  }))

const view = {
  area: 'Test',
  name: 'Doc',
  required: [],
  existing: true,
  idColumn: 'n',
  update: true,
  create: false,
} as const
const existing = (fields: Descriptor['fields'], options: object = {}) =>
  registryFrom({ docs: { ...view, ...options, table: 'shown', fields } }) as [Resource]

test('a download of a view in which rows share an id ends', async () => {
  const registry = existing({ name: text() }, { update: false })
  const rows = ['x', 'y'].map((letter) => `select 1 as n, '${letter.repeat(40_000)}' as name`)
  const prepare = (database: SharedDatabase) =>
    database.run(`create view shown as ${rows.join(' union all ')} union all select 2, 'm'`)
  await withStorage(registry, prepare, async (storage) => {
    const lines: string[] = []
    for await (const part of storage.table(registry[0]).stream(listQuery())) {
      lines.push(...String(part).split('\n').filter(Boolean))
      assert.ok(lines.length <= 3)
    }
    assert.is(lines.length, 3)
  })
})

if (server) {
  test('an update after which a row is no longer one of its view is refused, and the connection is used again', async () => {
    const registry = existing({ name: text() })
    const prepare = async (database: SharedDatabase) => {
      await database.run('create table behind (n integer primary key, name text)')
      await database.run(`insert into behind values (1, 'a')`)
      await database.run(`create view shown as select * from behind where name <> 'gone'`)
    }
    await withStorage(registry, prepare, async (storage) => {
      const table = storage.table(registry[0])
      const outcome = await table.write({ kind: 'update', id: '1', values: { name: 'gone' }, stamps: {} })
      assert.equal(outcome, { refused: { column: undefined, reason: 'the row would not be one of the view' } })
      assert.match(String((await table.get('1'))?.body), '"name":"a"')
    })
  })

  test('pages in the order of times with microseconds have each row once', async () => {
    const registry = existing({ at: timestamp({ sort: true }) })
    const prepare = async (database: SharedDatabase) => {
      await database.run('create table shown (n integer primary key, at timestamptz)')
      await database.run(
        `insert into shown select n, '2026-01-01 00:00:00.123Z'::timestamptz + n * interval '7 microseconds' from generate_series(1, 9) as n`,
      )
    }
    await withStorage(registry, prepare, async (storage) => {
      const ids: number[] = []
      let after = listQuery().page.after
      for (let pages = 0; pages < 10; pages++) {
        const query = { ...listQuery({ limit: 2 }), order: { field: 'at', descending: false } }
        const page = await storage.table(registry[0]).list({ ...query, page: { ...query.page, after } })
        ids.push(...JSON.parse(await readAll(page.body)).data.map(({ id }: { id: number }) => id))
        after = page.next
        if (!after) break
      }
      assert.equal(ids, [1, 2, 3, 4, 5, 6, 7, 8, 9])
    })
  })
}

test.run()
