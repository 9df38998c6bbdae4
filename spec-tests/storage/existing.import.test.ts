/** Imports into tables of other programs: what these refuse, cut off or leave out is never reported as stored. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { integer, now, number, text, timestamp } from '../../engine/descriptor/index.js'
import { server } from '../support/database.js'
import { existingTables, foreignDatabase, foreignId } from '../support/foreignTables.js'
import { authorized, issuesOf, startService } from '../support/service.js'

const { url } = await foreignDatabase(
  ...(server ? [`create type mood as enum ('sad', 'happy')`] : []),
  `create table shorts (${foreignId}, name varchar(3) ${server ? '' : 'check (length(name) <= 3)'}, feeling ${server ? 'mood' : 'text'} unique)`,
  `create table counts (${foreignId}, n integer constraint positive check (n >= 0))`,
  `create table guards (${foreignId}, n integer)`,
  ...(server
    ? [
        'create function skip_odd() returns trigger language plpgsql as $$ begin if new.n % 2 = 1 then return null; end if; return new; end $$',
        'create trigger skip_odd before insert or update on guards for each row execute function skip_odd()',
        `create table sizes (${foreignId}, amount numeric(10,2), weight real, at timestamp(0), made timestamptz(0) not null)`,
        'create view larges as select id, n from guards where n > 10',
      ]
    : ['create trigger skip_odd before insert on guards when new.n % 2 = 1 begin select raise(ignore); end']),
  `create table parts (id varchar(20) primary key not null, whole varchar(20) references parts ${server ? 'deferrable' : ''})`,
  'insert into guards (n) values (2)',
)
const n = { n: integer() }
const { get, send, create, change } = await startService({
  url,
  batch: true,
  registry: existingTables({
    shorts: { fields: { name: text(), feeling: text({ unique: true }) } },
    counts: { fields: n },
    guards: { fields: n },
    parts: { id: 'text', fields: { whole: text({ references: 'parts' }) } },
    ...(server && {
      sizes: {
        required: ['made'],
        fields: {
          amount: number(),
          weight: number(),
          at: timestamp(),
          made: timestamp({ managed: now, onUpdate: now }),
        },
      },
      larges: { fields: n },
    }),
  }),
})
const importInto = (path: string, ...rows: readonly object[]) =>
  send(`/api/v1/${path}`, {
    method: 'POST',
    headers: { ...authorized, 'content-type': 'application/x-ndjson' },
    body: rows.map((row) => JSON.stringify(row)).join('\n'),
  })
const totalOf = async (path: string) => (await get(`/v1/${path}`)).body.meta.total
/** The ids of what an import has created. */
const imported = async (path: string, ...rows: readonly object[]): Promise<(number | string)[]> => {
  const { status, text: sent, body } = await importInto(`${path}/import`, ...rows)
  assert.is(status, 201, sent)
  return body.ids
}
const refused = async (path: string, ...rows: readonly object[]): Promise<string[]> =>
  issuesOf(await importInto(path, ...rows))

const test = suite('imports into existing tables')

test('a text that is too long is refused, not cut off', async () => {
  assert.is((await refused('shorts/import', { name: 'abc' }, { name: 'abcdef' })).length, 1)
  assert.is(await totalOf('shorts'), 0)
  const [id] = await imported('shorts', { name: 'abc', feeling: 'sad' })
  assert.is((await refused('shorts/import?match=id', { id, name: 'abcd' })).length, 1)
  const rows = [{ feeling: 'sad', name: 'x' }, { feeling: 'happy' }]
  const matched = await importInto('shorts/import?match=feeling', ...rows)
  assert.equal([matched.status, matched.body.updated, matched.body.created], [201, 1, 1], matched.text)
})

test('a row that a constraint of the table refuses has its line', async () => {
  const rows = Array.from({ length: 5_000 }, (_, n) => ({ n }))
  for (const wrong of [0, 1, 2_500, 4_999]) {
    const response = await importInto('counts/import', ...rows.with(wrong, { n: -1 }))
    assert.match(issuesOf(response)[0] ?? '', new RegExp(`^constraint body ${wrong}\\b.* line ${wrong + 1}$`))
    assert.is(response.body.error.details.issues[0].ctx.constraint, 'positive')
  }
  assert.is(await totalOf('counts'), 0)
})

test('rows that a trigger leaves out are no success', async () => {
  assert.is((await refused('guards/import', { n: 4 }, { n: 5 }, { n: 6 })).length, 1)
  assert.is(await totalOf('guards'), 1)
  if (server) assert.is((await refused('guards/import?match=id', { id: 1, n: 7 })).length, 1)
  await imported('guards', { n: 4 }, { n: 6 })
})

test('rows refer to rows of the same import, whose foreign key is checked at the end', async () => {
  await imported('parts', ...Array.from({ length: 4_500 }, (_, n) => ({ id: `p${n}`, whole: `p${(n + 1) % 4_500}` })))
  assert.match(String(await refused('parts/import', { id: 'q', whole: 'r' })), /^\w+ body 0 whole /)
  assert.is(await totalOf('parts'), 4_500)
})

if (server) {
  test('a value that its column would round is refused, in an import, a batch, a create and an update', async () => {
    const exact = [
      { amount: 1.23, weight: 0.1, at: '2026-03-01T10:00:00Z' },
      { amount: -12.5, weight: 16_777_216, at: null },
      { amount: null, weight: 0.10000000149011612 },
      { amount: 99999999.99, weight: 0 },
    ]
    const rounded = [
      { amount: 1.239 },
      { amount: 1e-7 },
      { weight: 16_777_217 },
      { weight: 1.23456789 },
      { at: '2026-03-01T10:00:00.500Z' },
    ]
    const [id] = await imported('sizes', ...exact)
    assert.is((await get(`/v1/sizes/${id}`)).body.amount, 1.23)
    assert.equal(
      await refused('sizes/import?dryRun=true', ...exact, ...rounded),
      rounded.map((row, n) => `constraint body ${n + 4} ${Object.keys(row)} line ${n + 5}`),
    )
    assert.equal(await refused('sizes/import?match=id', { id, amount: 0.125 }), ['constraint body 0 amount line 1'])
    for (const row of rounded) {
      const created = await create('sizes', row)
      assert.equal(issuesOf(created), [`constraint body ${Object.keys(row)}`])
      if (row.amount) assert.is(created.body.error.details.issues[0].ctx.constraint, 'numeric(10,2)')
      assert.equal(issuesOf(await change(`sizes/${id}`, row)), [`constraint body ${Object.keys(row)}`])
      const operations = [{ method: 'POST', path: '/v1/sizes', body: row }]
      const sent = { method: 'POST', headers: authorized, body: JSON.stringify({ operations }) }
      const { status, body } = await send('/api/v1/batch', sent)
      assert.equal([status, body.error.details.operation], [422, 0])
    }
    assert.is(await totalOf('sizes'), exact.length)
  })

  test('a row that would not be one of the view is refused', async () => {
    assert.is((await refused('larges/import', { n: 20 }, { n: 2 })).length, 1)
    const [id] = await imported('larges', { n: 20 })
    assert.is((await refused('larges/import?match=id', { id, n: 4 })).length, 1)
    assert.is(await totalOf('larges'), 1)
  })
}

test.run()
