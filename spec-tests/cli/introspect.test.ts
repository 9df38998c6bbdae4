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
import { server, sharedDatabase } from '../support/database.js'
import { office } from '../support/office.js'
import { projectCopy } from '../support/projectCopy.js'

const idType = server ? 'id serial primary key' : 'id integer primary key'

/** What is written for the tables that some statements create. */
const described = async (...statements: readonly string[]) => {
  const database = await sharedDatabase()
  for (const sql of statements) await database.run(sql)
  const descriptions = describeTables(await storageTables(database.url, 5_000), [], 'Test')
  return {
    resources: descriptions.flatMap(({ resource }) => (resource ? [resource] : [])),
    notes: descriptions.flatMap(({ notes }) => notes),
  }
}

const test = suite('introspect')

/** What is described of a table, without what is false or absent. */
const withoutFalse = (fields: readonly object[] | undefined) =>
  fields?.map((field) => Object.fromEntries(Object.entries(field).filter(([, value]) => value !== false)))

const depots = await described(
  `create table depots (${idType}, name varchar(40) not null unique)`,
  `create table "PartType" ("PartTypeId" integer ${server ? 'generated always as identity ' : ''}primary key, "Weight in kg" ${server ? 'numeric' : 'real'}, "depotID" integer references depots (id), "limit" integer, "Id" text, unique ("depotID", "Id"))`,
)
const tasks = await described(
  ...(server ? [`create type mood as enum ('sad', 'it''s fine')`] : []),
  `create table tasks (${idType}, state text not null default 'open' check (state in ('open', 'it''s done')), level integer check (level in (1, 2)),
      due date, done boolean not null default false, seen ${server ? 'timestamp not null default now()' : 'datetime not null default current_timestamp'},
      mood ${server ? 'mood' : 'text'}, size integer default 3, api_token text not null, password_hash text, rank integer generated always as (level * 2) stored)`,
)

const tables = { partType: depots.resources[0], depots: depots.resources[1], tasks: tasks.resources[0] }

const fieldCases: readonly (readonly [fact: string, table: keyof typeof tables, field: object])[] = [
  ['a column of another name', 'partType', { name: 'weight_in_kg', column: 'Weight in kg', kind: 'number' }],
  [
    'a foreign key is a reference and a filter',
    'partType',
    { name: 'depot_id', column: 'depotID', kind: 'integer', references: 'depots', filter: true },
  ],
  ['the name of a parameter', 'partType', { name: 'limit_column', column: 'limit', kind: 'integer' }],
  ['unique within a column', 'partType', { name: 'id_column', column: 'Id', kind: 'text', unique: ['depot_id'] }],
  [
    'a length, NOT NULL and UNIQUE',
    'depots',
    { name: 'name', kind: 'text', maxLength: 40, isRequired: true, unique: true },
  ],
  [
    'a check of texts',
    'tasks',
    { name: 'state', kind: 'text', isRequired: true, oneOf: ['open', "it's done"], default: 'open', filter: true },
  ],
  ['a check of integers', 'tasks', { name: 'level', kind: 'integer', oneOf: [1, 2], filter: true }],
  ['a date', 'tasks', { name: 'due', kind: 'date' }],
  ['a boolean', 'tasks', { name: 'done', kind: 'boolean', isRequired: true }],
  ['the current time', 'tasks', { name: 'seen', kind: 'timestamp', isRequired: true, default: now }],
  [
    'an enumeration',
    'tasks',
    { name: 'mood', kind: 'text', ...(server && { oneOf: ['sad', "it's fine"], filter: true }) },
  ],
  ['a default', 'tasks', { name: 'size', kind: 'integer', default: 3 }],
  ['a token', 'tasks', { name: 'api_token', kind: 'text', redacted: true }],
  ['a password', 'tasks', { name: 'password_hash', kind: 'text', redacted: true }],
  ['a generated column', 'tasks', { name: 'rank', kind: 'integer', managed: true }],
]

for (const [fact, table, field] of fieldCases) {
  test(`a column becomes a field: ${fact}`, () => {
    const fields = withoutFalse(tables[table]?.fields) ?? []
    assert.equal(
      fields.find(({ name }) => name === (field as { name: string }).name),
      field,
    )
    assert.is(fields.length, fieldCases.filter(([, other]) => other === table).length)
  })
}

test('a table becomes a resource with the path and the id of the table', () => {
  assert.equal(
    depots.resources.map(({ path, table, existing, create }) => [path, table, existing, create]),
    [
      ['part-type', 'PartType', { idColumn: 'PartTypeId', id: 'integer' }, true],
      ['depots', 'depots', { idColumn: 'id', id: 'integer' }, true],
    ],
  )
})

test('what clients cannot set is noted', () => {
  const rounded = 'PartType: "Weight in kg" is of type numeric; as number() it has the precision of a double.'
  assert.equal(depots.notes, server ? [rounded] : [])
  assert.equal(tasks.notes, ['tasks: only the database sets "rank", so clients cannot.'])
})

test('checks of bounds become min and max', async () => {
  const { resources, notes } = await described(
    `create table lots (${idType}, qty integer not null check (qty between 1 and 100), rank integer check (rank > 0), price ${server ? 'double precision' : 'real'} check (price >= 0.5),
      level integer check (level >= -5 and level < 5), day date check (day >= '2020-01-01'), weight ${server ? 'double precision' : 'real'} check (weight > 0), check (qty <= rank))`,
  )
  assert.equal(withoutFalse(resources[0]?.fields), [
    { name: 'qty', kind: 'integer', isRequired: true, min: 1, max: 100 },
    { name: 'rank', kind: 'integer', min: 1 },
    { name: 'price', kind: 'number', min: 0.5 },
    { name: 'level', kind: 'integer', min: -5, max: 4 },
    { name: 'day', kind: 'date', min: '2020-01-01' },
    { name: 'weight', kind: 'number' },
  ])
  const cannot = (check: string) => `lots: no descriptor can express ${check}; a write that violates it gets 422.`
  const others = server
    ? ['CHECK ((qty <= rank))', 'CHECK ((weight > (0)::double precision))']
    : ['check (weight > 0)', 'check (qty <= rank)']
  assert.equal(notes, others.map(cannot))
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
    assert.equal(withoutFalse(resources[0]?.fields), [
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
