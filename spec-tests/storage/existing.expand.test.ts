/** Expanded references and summaries of tables of other programs: odd keys, views, collations and names. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { integer, text } from '../../engine/descriptor/index.js'
import type { RowValues } from '../../engine/descriptor/registry.js'
import { server } from '../support/database.js'
import { existingTables, foreignDatabase, readOnly } from '../support/foreignTables.js'
import { startService } from '../support/service.js'

const id = 'id integer primary key not null'
const { url, run } = await foreignDatabase(
  'create table bigs (id bigint primary key not null, name text)',
  `insert into bigs values (1234567890123456789, 'nineteen'), (-9223372036854775807, 'least'), (2, 'two')`,
  `create table refs (${id}, big_id ${server ? 'bigint' : 'text'})`,
  `insert into refs values (1, '1234567890123456789'), (2, '-9223372036854775807'), (3, '2'), (4, '77'), (5, null)`,
  'create table dup_base (k integer not null, v text)',
  `insert into dup_base values (1, 'a'), (1, 'b')`,
  'create view dups as select k as id, v from dup_base',
  `create table towards (${id}, dup_id integer)`,
  'insert into towards values (1, 1), (2, 2)',
  'create table codes (code char(4) primary key not null, name text)',
  `insert into codes values ('AB', 'two letters'), ('ABCD', 'four')`,
  `create table uses (${id}, code char(4))`,
  `insert into uses values (1, 'AB'), (2, 'ABCD'), (3, 'X')`,
  `create table _shown (${id}, name text${server ? '' : ' collate nocase'})`,
  `insert into _shown values (1, 'Open'), (2, 'open'), (3, 'open')`,
  `create table _stored (${id}, name text, shown_id integer)`,
  `insert into _stored values (1, 'a', 1), (2, 'b', 2)`,
)
const name = text({ filter: true })
const { get } = await startService({
  url,
  registry: existingTables({
    bigs: { ...readOnly, id: 'text', fields: { name: text() } },
    refs: { ...readOnly, fields: { big_id: text({ references: 'bigs' }) } },
    dups: { ...readOnly, fields: { v: text() } },
    towards: { ...readOnly, fields: { dup_id: integer({ references: 'dups' }) } },
    codes: { ...readOnly, id: 'text', idColumn: 'code', fields: { name: text() } },
    uses: { ...readOnly, fields: { code: text({ references: 'codes' }) } },
    shows: { ...readOnly, table: '_shown', summary: true, fields: { name } },
    stores: {
      ...readOnly,
      table: '_stored',
      summary: true,
      fields: { name, shown_id: integer({ references: 'shows', filter: true }) },
    },
  }),
})

const expandedIn = async (path: string, field: string) => {
  const { status, body, text: sent } = await get(`/v1/${path}?expand=${field}`)
  assert.is(status, 200, sent)
  return body.data.map(({ expanded }: RowValues) => (expanded as Record<string, RowValues | null>)[field] ?? null)
}

const test = suite('existing tables, expanded and summarised')

for (const [keys, path, field, names] of [
  ['integers of 19 digits that are served as texts', 'refs', 'big_id', ['nineteen', 'least', 'two', null, null]],
  ['keys that are padded', 'uses', 'code', ['two letters', 'four', null]],
] as const)
  test(keys, async () => {
    const rows = await expandedIn(path, field)
    assert.equal(
      rows.map((row: RowValues | null) => row?.['name'] ?? null),
      names,
    )
  })

if (!server)
  test('what is not written as an id names no row, and what is not shown is not expanded', async () => {
    await run(`insert into refs values (6, '02'), (7, '2.0'), (8, ' 2')`)
    assert.equal((await expandedIn('refs', 'big_id')).slice(5), [null, null, null])
    await run(`insert into towards values (3, 'one'), (4, 1.5)`)
    const { data } = (await get('/v1/towards?expand=dup_id&offset=2')).body
    assert.equal(
      data,
      [3, 4].map((id) => ({ id, dup_id: null, expanded: { dup_id: null } })),
    )
  })

test('a view whose ids repeat shows one of the rows', async () => {
  const [first, second] = await expandedIn('towards', 'dup_id')
  assert.equal([first.id, second], [1, null])
})

test('tables whose names are those of parts of statements, and texts that differ by case', async () => {
  for (const path of ['shows?q=open', 'stores?sort=-id&expand=shown_id', 'stores/1?expand=shown_id'])
    assert.is((await get(`/v1/${path}`)).status, 200)
  assert.equal((await get('/v1/shows/summary?by=name')).body.data, [
    { by: { name: 'open' }, count: 2 },
    { by: { name: 'Open' }, count: 1 },
  ])
  assert.is((await get('/v1/stores/summary?by=name&by=shown_id')).body.meta.total, 2)
})

test.run()
