/** `npm run introspect` on both databases: descriptors that `npm run check` accepts, and what they cannot express. */

import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { describeTables } from '../../cli/introspect/describe.js'
import { storageTables } from '../../engine/storage/open.js'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { server, sharedDatabase } from '../support/database.js'
import { office } from '../support/office.js'
import { projectCopy } from '../support/projectCopy.js'

const idType = server ? 'id serial primary key' : 'id integer primary key'

/** What is written for the tables that some statements create. */
const described = async (...statements: readonly string[]) => {
  const database = await sharedDatabase()
  for (const sql of statements) await database.run(sql)
  const descriptions = describeTables(await storageTables(database.url, 5_000), [], 'Test')
  database.close()
  return {
    resources: descriptions.flatMap(({ resource }) => (resource ? [resource] : [])),
    notes: descriptions.flatMap(({ notes }) => notes),
  }
}

const test = suite('introspect')

test('types, required values, references and unique values are taken over', async () => {
  const { resources, notes } = await described(
    `create table depots (${idType}, name varchar(40) not null unique)`,
    `create table parts (${idType}, weight ${server ? 'numeric' : 'real'}, depot_id integer references depots (id))`,
  )
  assert.equal(notes, [])
  const option = { isRequired: false, isFilter: false, isUnique: false, isRedacted: false }
  assert.equal(
    resources.map(({ path, table, fields, create }) => ({ path, table, fields, create })),
    [
      {
        path: 'depots',
        table: 'depots',
        fields: [{ ...option, name: 'name', kind: 'text', maxLength: 40, isRequired: true, isUnique: true }],
        create: true,
      },
      {
        path: 'parts',
        table: 'parts',
        fields: [
          { ...option, name: 'weight', kind: 'number' },
          { ...option, name: 'depot_id', kind: 'integer', references: 'depots', isFilter: true },
        ],
        create: true,
      },
    ],
  )
})

test('dates, booleans and checks of values become kinds and rules', async () => {
  const moment = server ? ', seen timestamptz' : ''
  const { resources, notes } = await described(
    `create table tasks (${idType}, state text not null check (state in ('open', 'it''s done')), level integer check (level in (1, 2)), due date, done boolean${moment})`,
  )
  assert.equal(notes, [])
  assert.equal(
    resources.flatMap(({ fields }) => fields.map(({ name, kind, oneOf }) => [name, kind, oneOf])),
    [
      ['state', 'text', ['open', "it's done"]],
      ['level', 'integer', [1, 2]],
      ['due', 'date', undefined],
      ['done', 'boolean', undefined],
      ...(server ? [['seen', 'timestamp', undefined]] : []),
    ],
  )
})

test('what cannot be expressed is named', async () => {
  const { resources, notes } = await described(
    `create table logs (line text)`,
    `create table parts (${idType}, "Name" text, "limit" integer, made inet, twice integer generated always as (size * 2) stored, log_id integer, size integer default 3 not null check (size > 0))`,
    'create unique index parts_large on parts (log_id) where size > 9',
    'create view sizes as select id, size from parts',
    server
      ? 'create table years (id integer primary key, name text) partition by list (id)'
      : 'create table years (id integer primary key, name text) without rowid',
  )
  const found = resources.map(({ table }) => table)
  assert.equal(found, ['parts'])
  const expected = [
    'logs: left out, because it has no integer primary key "id".',
    'parts: no field can have the name "Name": the name must be at most 60 lower-case letters, digits and underscores, such as "from_date"; it is left out.',
    'parts: no field can have the name "limit": the name is a query parameter of every list; it is left out.',
    'parts: "made" is of type inet, which no field can store; it is left out.',
    'parts: a create cannot set "twice", because the database computes its values; it is left out.',
    'parts: "size" has a default in the database that creates do not use; add a default to the field.',
    `parts: no descriptor can express ${server ? 'CHECK ((size > 0))' : 'check (…)'}; a create that violates it gets 500.`,
    server
      ? 'parts: no descriptor can express CREATE UNIQUE INDEX parts_large ON public.parts USING btree (log_id) WHERE (size > 9); a create that violates it gets 500.'
      : 'parts: no descriptor can express CREATE UNIQUE INDEX parts_large on parts (log_id) where size > 9; a create that violates it gets 500.',
    'sizes: left out, because it is a view.',
    `years: left out, because it is a ${server ? 'partitioned table' : 'table WITHOUT ROWID'}.`,
  ]
  assert.equal(notes, expected)
})

if (!server) {
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
      /^Wrote resources\/a-1-2\.ts\.\nWrote resources\/person\.ts\.\nWrote resources\/persons\.ts\.\nresources\/a-1\.ts already exists and was not changed\.\n\nNext: /,
    )
    const again = await project.run(command)
    assert.is(again.status, 0)
    assert.not.match(again.output, 'Wrote')
    assert.equal(await project.run('npm run check'), {
      status: 0,
      output: `${office.length + 4} resources and their demo rows have no errors.\n`,
    })
    project.remove()
  })

  test('wrong input is named', async () => {
    const project = projectCopy()
    new Database(`${project.path}/data/empty.sqlite`).exec('create table logs (line text)').close()
    project.write('data/text', 'plain text, long enough for the header of a database file')
    const cases: [args: string, message: RegExp][] = [
      ['', /DATABASE_URL is missing/],
      ['sqlite:data/nothing.sqlite', /There is no file data\/nothing\.sqlite\./],
      ['sqlite:data', /The database data cannot be used: it is a folder; name a file in it/],
      ['sqlite:data/text', /The database data\/text cannot be used: it is not an SQLite database; use another file/],
      ['sqlite:data/empty.sqlite', /left out, because it has no integer primary key "id"\.\nNo table can be served\./],
      ['sqlite:data/empty.sqlite --table log', /There is no table "log"\. Did you mean logs\?/],
      ['mysql://x', /DATABASE_URL must begin with one of sqlite, postgres, postgresql/],
    ]
    for (const [args, message] of cases) {
      const { status, output } = await project.run(`npm run introspect -- ${args}`)
      assert.match(output, message)
      assert.not.match(output, /^ {4}at /m)
      assert.ok(status === 1 || status === 2)
    }
    project.remove()
  })
}

test.run()
