/** Expanded references and summaries of tables of other programs: odd keys, views, collations and names. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { integer, text } from '../../engine/descriptor/index.js'
import type { RowValues } from '../../engine/descriptor/registry.js'
import { server, sharedDatabase } from '../support/database.js'
import { registryFrom } from '../support/registryFrom.js'
import { startService } from '../support/service.js'

const { url, run } = await sharedDatabase()
const key = server ? 'integer primary key' : 'integer primary key not null'
for (const sql of [
  'create table big (id bigint primary key not null, name text)',
  `insert into big values (1234567890123456789, 'nineteen'), (-9223372036854775807, 'least'), (2, 'two')`,
  `create table refs (id ${key}, big_id ${server ? 'bigint' : 'text'})`,
  `insert into refs values (1, '1234567890123456789'), (2, '-9223372036854775807'), (3, '2'), (4, '77'), (5, null)`,
  'create table dup_base (k integer not null, v text)',
  `insert into dup_base values (1, 'a'), (1, 'b')`,
  'create view dup as select k as id, v from dup_base',
  `create table toward (id ${key}, dup_id integer)`,
  'insert into toward values (1, 1), (2, 2)',
  'create table codes (code char(4) primary key not null, name text)',
  `insert into codes values ('AB', 'two letters'), ('ABCD', 'four')`,
  `create table coded (id ${key}, code char(4))`,
  `insert into coded values (1, 'AB'), (2, 'ABCD'), (3, 'X')`,
  `create table _shown (id ${key}, name text${server ? '' : ' collate nocase'})`,
  `insert into _shown values (1, 'Open'), (2, 'open'), (3, 'open')`,
  `create table _stored (id ${key}, name text, shown_id integer)`,
  `insert into _stored values (1, 'a', 1), (2, 'b', 2)`,
])
  await run(sql)

const shared = { area: 'Test', required: [], create: false, existing: true } as const
const named = text({ filter: true })
const { get } = await startService({
  url,
  registry: registryFrom({
    big: { ...shared, name: 'Big', plural: 'Bigs', table: 'big', id: 'text', fields: { name: text() } },
    refs: { ...shared, name: 'Ref', table: 'refs', fields: { big_id: text({ references: 'big' }) } },
    dup: { ...shared, name: 'Dup', table: 'dup', fields: { v: text() } },
    toward: { ...shared, name: 'Toward', table: 'toward', fields: { dup_id: integer({ references: 'dup' }) } },
    codes: { ...shared, name: 'Code', table: 'codes', id: 'text', idColumn: 'code', fields: { name: text() } },
    coded: { ...shared, name: 'Coded', table: 'coded', fields: { code: text({ references: 'codes' }) } },
    shown: { ...shared, name: 'Shown', plural: 'Shown ones', table: '_shown', summary: true, fields: { name: named } },
    stored: {
      ...shared,
      name: 'Stored',
      plural: 'Stored ones',
      table: '_stored',
      summary: true,
      fields: { name: named, shown_id: integer({ references: 'shown', filter: true }) },
    },
  }),
})

const expandedOf = async (path: string, field: string) => {
  const { status, body, text: sent } = await get(`/v1/${path}?expand=${field}`)
  assert.is(status, 200, sent)
  return body.data.map(({ expanded }: RowValues) => (expanded as Record<string, RowValues | null>)[field] ?? null)
}

const test = suite('existing tables, expanded and summarised')

test('integers of 19 digits that are served as texts', async () => {
  const names = (await expandedOf('refs', 'big_id')).map((row: RowValues | null) => row?.['name'] ?? null)
  assert.equal(names, ['nineteen', 'least', 'two', null, null])
})

if (!server)
  test('what is not written as an id names no row, and what is not shown is not expanded', async () => {
    await run(`insert into refs values (6, '02'), (7, '2.0'), (8, ' 2')`)
    assert.equal((await expandedOf('refs', 'big_id')).slice(5), [null, null, null])
    await run(`insert into toward values (3, 'one'), (4, 1.5)`)
    const { body } = await get('/v1/toward?expand=dup_id&offset=2')
    assert.equal(
      body.data.map(({ dup_id, expanded }: RowValues) => [dup_id, expanded]),
      [
        [null, { dup_id: null }],
        [null, { dup_id: null }],
      ],
    )
  })

test('a view whose ids repeat shows one of the rows', async () => {
  const [first, second] = await expandedOf('toward', 'dup_id')
  assert.equal([first.id, second], [1, null])
})

test('keys that are padded', async () => {
  const names = (await expandedOf('coded', 'code')).map((row: RowValues | null) => row?.['name'] ?? null)
  assert.equal(names, ['two letters', 'four', null])
})

test('tables whose names are those of parts of statements, and texts that differ by case', async () => {
  for (const path of ['/v1/shown?q=open', '/v1/stored?sort=-id&expand=shown_id', '/v1/stored/1?expand=shown_id'])
    assert.is((await get(path)).status, 200)
  const { body } = await get('/v1/shown/summary?by=name')
  assert.equal(body.data, [
    { by: { name: 'open' }, count: 2 },
    { by: { name: 'Open' }, count: 1 },
  ])
  assert.is((await get('/v1/stored/summary?by=name&by=shown_id')).body.meta.total, 2)
})

test.run()
