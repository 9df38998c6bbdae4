/** Constraints that no descriptor declares: a write that violates one is 422 and names it, and fails alone. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { integer, number, text } from '../../engine/descriptor/index.js'
import { server, sharedDatabase } from '../support/database.js'
import { existingTables, foreignDatabase, foreignId } from '../support/foreignTables.js'
import { startOffice } from '../support/office.js'
import { authorized, issuesOf, startService } from '../support/service.js'

/** Parts with every constraint that a table can have; the descriptor declares none of them. */
const fields = { name: text(), size: integer(), weight: number(), other: integer(), unit: text() }
const database = await foreignDatabase(
  `create table units (code text primary key)`,
  `insert into units values ('kg')`,
  `create table parts (${foreignId}, name varchar(5) not null default 'none', size smallint, weight numeric, other integer,
    unit text references units (code) ${server ? '' : 'deferrable initially deferred'},
    constraint positive_size check (size > 0), ${server ? '' : 'constraint name_length check (length(name) <= 5),'}
    constraint known_other foreign key (other) references parts (id))`,
  `create unique index one_heavy on parts (weight) where weight > 100`,
)
const { create, change, remove } = await startService({
  registry: existingTables({ parts: { fields } }),
  url: database.url,
})
await create('parts', { name: 'first', weight: 101 })

const cases: readonly [what: string, values: object, named: RegExp][] = [
  ['a check', { name: 'a', size: 0 }, /positive_size/],
  ['a missing value', { name: null }, /not.null/i],
  ['a unique index', { name: 'a', weight: 101 }, server ? /one_heavy/ : /parts\.weight/],
  ['a foreign key', { name: 'a', other: 99 }, server ? /known_other/ : /FOREIGN KEY/],
  ['a deferred foreign key', { name: 'a', unit: 'lb' }, server ? /parts_unit_fkey/ : /FOREIGN KEY/],
  ['a length', { name: 'too long' }, server ? /character varying\(5\)/ : /name_length/],
  ...((server ? [['an overflow', { name: 'a', size: 70_000 }, /smallint/]] : []) as [string, object, RegExp][]),
]

const test = suite('constraints of the database')

for (const [what, values, named] of cases) {
  test(`${what} is 422 and named, in a create and in an update`, async () => {
    const created = await create('parts', values)
    // The value of the index is that of this row.
    const changed = what === 'a unique index' ? created : await change('parts/1', values)
    for (const response of [created, changed]) {
      assert.match(issuesOf(response)[0] ?? '', /^constraint body\b/)
      assert.is(response.body.error.code, 'validation_error')
      const [issue] = response.body.error.details.issues
      assert.match(issue.msg, named)
      assert.not.match(issue.msg, /insert into|update |select /i)
    }
  })
}

test('a delete of a row that others reference is 409', async () => {
  const [row] = await database.run(`insert into parts (name, other) values ('b', 1) returning id`)
  const { status, body } = await remove('parts/1')
  assert.is(status, 409, JSON.stringify(body))
  await database.run('delete from parts where id = ?', row?.['id'])
})

/** The same on a managed table, whose constraints another program has added; SQLite adds only triggers and indexes. */
const office = await sharedDatabase()
const managed = await startOffice({ url: office.url })
const createIn = async (name: string, slug: string) => {
  // A plain request: the document does not list 500 by itself.
  const body = JSON.stringify({ name, slug })
  const response = await fetch(`${managed.address}/api/v1/organizations`, { method: 'POST', headers: authorized, body })
  return { status: response.status, body: (await response.json()) as { error: { code: string; message: string } } }
}
await office.run(
  server
    ? "alter table organizations add constraint unknown_rule check (name <> 'Forbidden')"
    : `create trigger unknown_rule before insert on organizations when new.name = 'Forbidden'
        begin select raise(abort, 'unknown_rule'); end`,
)
await office.run("create unique index unknown_key on organizations (name) where name = 'Once'")
/** What a trigger refuses is no constraint. */
const refused = server ? 422 : 500

test('a check of a managed table is 422, and a trigger that raises an error is 500 without its message', async () => {
  const { status, body } = await createIn('Forbidden', 'forbidden')
  assert.is(status, refused)
  if (server) assert.match(body.error.message, /unknown_rule/)
  else assert.not.match(body.error.message, /unknown_rule|constraint|organizations/)
})

test('so is a unique index of a managed table', async () => {
  assert.is((await createIn('Once', 'once')).status, 201)
  const { status, body } = await createIn('Once', 'again')
  assert.is(status, 422)
  assert.is(body.error.code, 'validation_error')
  assert.match(body.error.message, server ? /unknown_key/ : /organizations\.name/)
})

test('it fails alone: creates that arrive with it are stored', async () => {
  const total = async (): Promise<number> => (await managed.get('/v1/organizations?limit=1')).body.meta.total
  const before = await total()
  const names = Array.from({ length: 12 }, (_, n) => (n % 4 === 1 ? 'Forbidden' : `Allowed ${n}`))
  const responses = await Promise.all(names.map((name, n) => createIn(name, `together-${n}`)))
  for (const [n, { status }] of responses.entries()) assert.is(status, names[n] === 'Forbidden' ? refused : 201)
  assert.is(await total(), before + 9)
})

test('a deferred foreign key fails alone too', async () => {
  const units = ['kg', 'lb', 'kg', 'oz', 'kg']
  const responses = await Promise.all(units.map((unit) => create('parts', { name: 'many', unit })))
  for (const [n, { status }] of responses.entries()) assert.is(status, units[n] === 'kg' ? 201 : 422)
})

test.run()
