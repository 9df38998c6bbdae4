/** Reads and writes of one table, called directly: what two callers share, and what other programs do to its rows. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { text, timestamp } from '../../engine/descriptor/index.js'
import type { Resource } from '../../engine/descriptor/registry.js'
import { migrateStorage, openStorage } from '../../engine/storage/open.js'
import type { Storage, Table } from '../../engine/storage/storage.js'
import { storageOptions } from '../../support/storageOptions.js'
import { type SharedDatabase, server } from '../support/database.js'
import { existingTables, foreignDatabase, readOnly } from '../support/foreignTables.js'
import { listQuery } from '../support/listQuery.js'
import { resourceIn } from '../support/registryFrom.js'

const docs = resourceIn('docs', { name: text(), digest: text() }, { create: true, update: true })

type Work = (table: Table, storage: Storage, database: SharedDatabase) => Promise<void>
/** Opens the table of a resource in a database where another program has run statements. */
const withTable = async (resource: Resource, statements: readonly string[], work: Work) => {
  const database = await foreignDatabase(...statements)
  const storage = await openStorage([resource], database.url, storageOptions)
  await work(storage.table(resource), storage, database)
  await storage.close()
}

const readAll = async (body: Buffer | AsyncIterable<Uint8Array>): Promise<string> => {
  const parts: Uint8Array[] = []
  for await (const part of Buffer.isBuffer(body) ? [body] : body) parts.push(part)
  return String(Buffer.concat(parts))
}

const test = suite('the table of a resource')

test('each of several clients gets all of a page that is too large to be shared', () =>
  withTable(docs, [], async (table, storage) => {
    const rows = Array.from({ length: 60 }, (_, n) => ({ id: n + 1, name: 'x'.repeat(90_000), digest: null }))
    await storage.fill([{ resource: docs, rows }])
    const lists = Array.from({ length: 5 }, async () => readAll((await table.list(listQuery())).body))
    for (const body of await Promise.all(lists)) assert.is(JSON.parse(body).data.length, 50)
  }))

test('a field may have the name of what is stored with an idempotency key', () =>
  withTable(docs, [], async (table) => {
    const idempotencyKey = { key: 'k', digest: 'of the request' }
    const values = { name: 'a', digest: 'of my file' }
    const outcome = await table.write({ kind: 'insert', values, idempotencyKey })
    assert.match('body' in outcome ? String(outcome.body) : '', '"digest":"of my file"')
  }))

test('a write returns the row as triggers of other programs have left it', () =>
  withTable(docs, [], async (table, storage, { run }) => {
    await storage.fill([{ resource: docs, rows: [{ id: 1, name: 'a', digest: null }] }])
    const change = `update docs set digest = 'by a trigger' where id = new.id and digest is null`
    if (server) {
      await run(`create function change() returns trigger language plpgsql as $$ begin ${change}; return null; end $$`)
      await run('create trigger change after update on docs for each row execute function change()')
    } else await run(`create trigger change after insert on docs begin ${change}; end`)
    const outcome = server
      ? await table.write({ kind: 'update', id: '1', values: { name: 'b' }, stamps: {} })
      : await table.write({ kind: 'insert', values: { name: 'b', digest: null } })
    assert.match('body' in outcome ? String(outcome.body) : '', '"digest":"by a trigger"')
  }))

let seed = 1n
const random = (): bigint => {
  seed = BigInt.asUintN(64, seed * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n)
  return BigInt.asIntN(64, seed ^ (seed >> 29n))
}
const range = (length: number, id: (n: bigint) => bigint) => Array.from({ length }, (_, n) => id(BigInt(n)))
const idCases: [name: string, ids: bigint[]][] = [
  ['dense', range(1_200, (n) => n - 50n)],
  ['dense, one of them missing', range(1_200, (n) => (n < 700n ? n : n + 1n))],
  ['dense with a few far away', [...range(1_200, (n) => n), ...range(20, random)]],
  ['random in the whole range', [-(2n ** 63n), 2n ** 63n - 1n, ...range(1_200, random)]],
  ['descending, with holes', range(1_200, (n) => -n * 3n)],
]
for (const [name, given] of idCases) {
  test(`ids of other programs, ${name}: pages and counts, also after deletes and moves`, () =>
    withTable(docs, [], async (table, _, { url, run }) => {
      const check = async (stored: readonly bigint[]) => {
        const ids = [...new Set(stored)].sort((a, b) => (a < b ? -1 : 1))
        const { length } = ids
        for (const offset of [0, 1, 499, 501, 699, 700, length >> 1, length - 2, length, length + 1])
          for (const q of ['', 'row']) {
            const { body } = await table.list(listQuery({ limit: 3, offset: BigInt(offset), q }))
            const page = await readAll(body)
            const names = [...page.matchAll(/"Row (-?\d+)"/g)].map(([, id]) => BigInt(id as string))
            assert.equal(names, ids.slice(offset, offset + 3), `offset ${offset}, search ${q}`)
            assert.match(page, `"total":${length},`)
          }
      }
      await run(`insert into docs (id, name) values ${given.map((id) => `(${id}, 'Row ${id}')`).join()}`)
      await check(given)
      if (server) await run(`select registry_compact('docs')`)
      await check(given)
      const kept = given.filter((id) => id % 4n !== 0n || id % 3n === 0n)
      await run('delete from docs where id % 4 = 0 and id % 3 <> 0')
      await run(`update docs set id = 7000000001, name = 'Row 7000000001' where id = ${kept[0]}`)
      await check([7_000_000_001n, ...kept.slice(1)])
      assert.equal((await migrateStorage([docs], url, { ...storageOptions, waitMs: 5_000 })).miscounted, [])
    }))
}

const viewOf = (more: Partial<Parameters<typeof existingTables>[0][string]>): Resource =>
  existingTables({ docs: { ...readOnly, idColumn: 'n', fields: { name: text() }, ...more } })[0] as Resource

const letters = ['x', 'y'].map((letter) => `select 1 as n, '${letter.repeat(40_000)}' as name`)
test('a download of a view in which rows share an id ends', () =>
  withTable(
    viewOf({}),
    [`create view docs as ${letters.join(' union all ')} union all select 2, 'm'`],
    async (table) => {
      const lines: string[] = []
      for await (const part of table.stream(listQuery())) {
        lines.push(...String(part).split('\n').filter(Boolean))
        assert.ok(lines.length <= 3)
      }
      assert.is(lines.length, 3)
    },
  ))

if (server) {
  test('an update after which a row is no longer one of its view is refused, and the connection is used again', () => {
    const statements = [
      'create table behind (n integer primary key, name text)',
      `insert into behind values (1, 'a')`,
      `create view docs as select * from behind where name <> 'gone'`,
    ]
    return withTable(viewOf({ update: true }), statements, async (table) => {
      const outcome = await table.write({ kind: 'update', id: '1', values: { name: 'gone' }, stamps: {} })
      assert.equal(outcome, { refused: { reason: 'the row would not be one of the view' } })
      assert.match(String((await table.get('1'))?.body), '"name":"a"')
    })
  })

  test('pages in the order of times with microseconds have each row once', () => {
    const statements = [
      'create table docs (n integer primary key, at timestamptz)',
      `insert into docs select n, '2026-01-01 00:00:00.123Z'::timestamptz + n * interval '7 microseconds' from generate_series(1, 9) as n`,
    ]
    return withTable(viewOf({ fields: { at: timestamp({ sort: true }) } }), statements, async (table) => {
      const ids: number[] = []
      let after = listQuery().page.after
      do {
        const query = { ...listQuery({ limit: 2 }), order: { field: 'at', descending: false } }
        const page = await table.list({ ...query, page: { ...query.page, after } })
        ids.push(...JSON.parse(await readAll(page.body)).data.map(({ id }: { id: number }) => id))
        after = page.next
      } while (after && ids.length < 20)
      assert.equal(ids, [1, 2, 3, 4, 5, 6, 7, 8, 9])
    })
  })
}

test.run()
