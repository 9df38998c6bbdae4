/** `npm run introspect` on both databases: descriptors that `npm run check` accepts, and what they cannot express. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { describeTables } from '../../cli/introspect/describe.js'
import { now } from '../../engine/descriptor/clock.js'
import { storageTables } from '../../engine/storage/open.js'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { callCommand } from '../support/callCommand.js'
import { server } from '../support/database.js'
import { foreignDatabase } from '../support/foreignTables.js'
import { office } from '../support/office.js'
import { projectCopy } from '../support/projectCopy.js'

const idType = server ? 'id serial primary key' : 'id integer primary key'
const [real, numeric] = server ? ['double precision', 'numeric'] : ['real', 'real']

/** What is written for the tables that some statements create. */
const described = async (...statements: readonly string[]) => {
  const { url } = await foreignDatabase(...statements)
  const descriptions = describeTables(await storageTables(url, 5_000), [], 'Test')
  return {
    resources: descriptions.flatMap(({ resource }) => (resource ? [resource] : [])),
    notes: descriptions.flatMap(({ notes }) => notes),
  }
}

/** What is described of a field, without what is false or absent. */
const withoutFalse = (field: object = {}) =>
  Object.fromEntries(Object.entries(field).filter(([, value]) => value !== false))

const test = suite('introspect')

const isRequired = true
const filter = true
/** The definition of a column, and the field that it becomes. */
const columns: readonly (readonly [definition: string, field: object])[] = [
  ['name varchar(40) not null unique', { name: 'name', kind: 'text', maxLength: 40, isRequired, unique: true }],
  [`"Weight in kg" ${numeric}`, { name: 'weight_in_kg', column: 'Weight in kg', kind: 'number' }],
  [
    '"depotID" integer references depots (id)',
    { name: 'depot_id', column: 'depotID', kind: 'integer', references: 'depots', filter },
  ],
  // The name of a parameter.
  ['"limit" integer', { name: 'limit_column', column: 'limit', kind: 'integer' }],
  ['"Id" text', { name: 'id_column', column: 'Id', kind: 'text', unique: ['depot_id'] }],
  [
    `state text not null default 'open' check (state in ('open', 'it''s done'))`,
    { name: 'state', kind: 'text', isRequired, oneOf: ['open', "it's done"], default: 'open', filter },
  ],
  ['level integer check (level in (1, 2))', { name: 'level', kind: 'integer', oneOf: [1, 2], filter }],
  ['due date', { name: 'due', kind: 'date' }],
  ['done boolean not null default false', { name: 'done', kind: 'boolean', isRequired }],
  [
    server ? 'seen timestamp not null default now()' : 'seen datetime not null default current_timestamp',
    { name: 'seen', kind: 'timestamp', isRequired, default: now },
  ],
  server
    ? ['mood mood', { name: 'mood', kind: 'text', oneOf: ['sad', "it's fine"], filter }]
    : ['mood text', { name: 'mood', kind: 'text' }],
  ['size integer default 3', { name: 'size', kind: 'integer', default: 3 }],
  ['api_token text not null', { name: 'api_token', kind: 'text', redacted: true }],
  ['password_hash text', { name: 'password_hash', kind: 'text', redacted: true }],
  ['twice integer generated always as (level * 2) stored', { name: 'twice', kind: 'integer', managed: true }],
  [
    'qty integer not null check (qty between 1 and 100)',
    { name: 'qty', kind: 'integer', isRequired, min: 1, max: 100 },
  ],
  ['rank integer check (rank > 0)', { name: 'rank', kind: 'integer', min: 1 }],
  [`price ${real} check (price >= 0.5)`, { name: 'price', kind: 'number', min: 0.5 }],
  ['mark integer check (mark >= -5 and mark < 5)', { name: 'mark', kind: 'integer', min: -5, max: 4 }],
  [`day date check (day >= '2020-01-01')`, { name: 'day', kind: 'date', min: '2020-01-01' }],
  [`weight ${real} check (weight > 0)`, { name: 'weight', kind: 'number' }],
]
const parts = await described(
  ...(server ? [`create type mood as enum ('sad', 'it''s fine')`] : []),
  `create table depots (${idType}, name text)`,
  `create table "PartType" ("PartTypeId" integer ${server ? 'generated always as identity ' : ''}primary key,
    ${columns.map(([definition]) => definition).join(', ')}, unique ("depotID", "Id"), check (qty <= rank))`,
)

for (const [n, [definition, field]] of columns.entries()) {
  test(`a column becomes a field: ${definition}`, () => {
    assert.equal(withoutFalse(parts.resources[0]?.fields[n]), field)
    assert.is(parts.resources[0]?.fields.length, columns.length)
  })
}

test('a table becomes a resource with the path and the id of the table', () => {
  assert.equal(
    parts.resources.map(({ path, table, existing, create }) => [path, table, existing, create]),
    [
      ['part-type', 'PartType', { idColumn: 'PartTypeId', id: 'integer' }, true],
      ['depots', 'depots', { idColumn: 'id', id: 'integer' }, true],
    ],
  )
})

test('what clients cannot set, and what no descriptor can express, is noted', () => {
  const rounded = 'PartType: "Weight in kg" is of type numeric; as number() it has the precision of a double.'
  const cannot = (check: string) => `PartType: no descriptor can express ${check}; a write that violates it gets 422.`
  const checks = server
    ? ['CHECK ((qty <= rank))', 'CHECK ((weight > (0)::double precision))']
    : ['check (weight > 0)', 'check (qty <= rank)']
  assert.equal(parts.notes, [
    ...(server ? [rounded] : []),
    'PartType: only the database sets "twice", so clients cannot.',
    ...checks.map(cannot),
  ])
})

test('what cannot be served or expressed is named with the reason', async () => {
  const { resources, notes } = await described(
    'create table logs (line text)',
    'create table codes (code varchar(2) primary key, name text)',
    'create table marks (code varchar(2) primary key)',
    'create table pairs (a integer, b integer, primary key (a, b))',
    `create table parts (${idType}, picture ${server ? 'bytea' : 'blob'} not null, log_id integer, code varchar(2) references codes (code), size integer not null check (size % 2 = 0))`,
    'create unique index parts_large on parts (log_id) where size > 9',
    'create view sizes as select id, size from parts',
    'create view counts as select size, count(*) as n from parts group by size',
  )
  assert.equal(
    resources.map(({ table, create }) => [table, create]),
    [
      ['codes', true],
      ['parts', false],
      ['sizes', false],
    ],
  )
  const index = server
    ? 'CREATE UNIQUE INDEX parts_large ON public.parts USING btree (log_id) WHERE (size > 9)'
    : 'CREATE UNIQUE INDEX parts_large on parts (log_id) where size > 9'
  const view = 'Create this view, and run the command again to serve it read-only.'
  const numbered = `${view} Its ids are the numbers of the rows, and change when rows are added or deleted.`
  assert.equal(notes, [
    `counts: left out, because it is a view, which has no key. ${numbered}\n  create view "counts_by_id" as select cast(row_number() over (order by "size"${server ? ', "n"' : ''}) as integer) as id, * from "counts";`,
    `logs: left out, because it has no key. ${numbered}\n  create view "logs_by_id" as select cast(row_number() over (order by "line") as integer) as id, * from "logs";`,
    `marks: left out, because no column beside its key can be a field. ${view}\n  create view "marks_by_id" as select cast("code" as text) as id, * from "marks";`,
    `pairs: left out, because its key has several columns (a, b). ${view}\n  create view "pairs_by_id" as select cast("a" as text) || '-' || cast("b" as text) as id, * from "pairs";`,
    `parts: "picture" is of type ${server ? 'bytea' : 'blob'}, which no field can store; it is left out.`,
    `parts: no descriptor can express ${server ? 'CHECK (((size % 2) = 0))' : 'check (size % 2 = 0)'}; a write that violates it gets 422.`,
    `parts: no descriptor can express ${index}; a write that violates it gets 422.`,
    'parts: create is false, because a column that is left out needs a value.',
  ])
})

if (!server) {
  test('a column whose type is no kind is described by its values', async () => {
    const { resources } = await described(
      `create table films (${idType}, release_year year not null, rating score, shown datetime, seen datetime, day date, rest string, empty year, about blob sub_type text)`,
      `insert into films values (1, 2006, 4.5, '2026-03-01 09:30:00', 1772357400, 20260301, 'a text', null, 'x'), (2, '2007', 4, null, null, null, 7, null, null)`,
    )
    assert.equal(resources[0]?.fields.map(withoutFalse), [
      { name: 'release_year', kind: 'integer', isRequired: true },
      { name: 'rating', kind: 'number' },
      { name: 'shown', kind: 'timestamp' },
      { name: 'seen', kind: 'integer' },
      { name: 'day', kind: 'integer' },
      { name: 'rest', kind: 'text' },
      { name: 'empty', kind: 'text' },
      { name: 'about', kind: 'text' },
    ])
  })

  test('the command writes files that npm run check accepts, and overwrites none', async () => {
    const project = projectCopy()
    const database = new Database(`${project.path}/data/other.sqlite`)
    database.exec(
      `create table a_1 (${idType}, name text); create table a__1 (${idType}, name text, other integer references a_1)`,
    )
    database.exec(`create table person (${idType}, name text); create table persons (${idType}, name text)`)
    database.close()
    const command = 'npm run introspect -- sqlite:data/other.sqlite'
    const alone = await project.run(`${command} --table a__1`)
    assert.is(alone.status, 0)
    assert.match(alone.output, 'Wrote resources/a-1.ts.')
    assert.match(
      alone.output,
      'a__1: the reference of "other" to "a_1" is left out, because that table has no descriptor.',
    )
    const all = await project.run(command)
    assert.match(
      all.output,
      /^Wrote resources\/a-1-2\.ts\.\nWrote resources\/person\.ts\.\nWrote resources\/persons\.ts\.\nresources\/a-1\.ts already exists and was not changed\.\n\nThese files are not of this database\. Delete them, or run the command again with --replace:\n {2}resources\//,
    )
    const again = await project.run(command)
    assert.is(again.status, 0)
    assert.not.match(again.output, 'Wrote')
    const check = async (count: number) => {
      const output = `${count} resources and their demo rows have no errors.\n`
      assert.equal(await project.run('npm run check'), { status: 0, output })
    }
    await check(office.length + 4)
    const replaced = await project.run(`${command} --replace`)
    assert.is(replaced.status, 0)
    assert.is(replaced.output.match(/^Deleted resources\//gm)?.length, office.length)
    await check(4)
    project.remove()
  })

  test('wrong input is named', async () => {
    const { path } = temporaryFolder('introspect')
    new Database(join(path, 'empty.sqlite')).exec('create table logs (line text)').close()
    writeFileSync(join(path, 'text'), 'plain text, long enough for the header of a database file')
    const cases: [args: string, message: RegExp][] = [
      ['', /DATABASE_URL is missing/],
      [`sqlite:${path}/nothing.sqlite`, /There is no file \S+\/nothing\.sqlite\./],
      [`sqlite:${path}`, /The database \S+ cannot be used: it is a folder; name a file in it/],
      [`sqlite:${path}/text`, /The database \S+\/text cannot be used: it is not an SQLite database; use another file/],
      [
        `sqlite:${path}/empty.sqlite`,
        /left out, because it has no key\. [^\n]*\n {2}create view [^\n]*\nNo table can be served\./,
      ],
      [`sqlite:${path}/empty.sqlite --table log`, /There is no table "log"\. Did you mean logs\?/],
      ['mysql://x', /DATABASE_URL must begin with one of sqlite, postgres, postgresql/],
    ]
    for (const [args, message] of cases) {
      const { status, stdout, stderr } = await callCommand('introspect', args.split(' ').filter(Boolean))
      assert.match(stdout + stderr, message)
      assert.not.match(stderr, /^ {4}at /m)
      assert.ok(status === 1 || status === 2)
    }
  })
}

test.run()
