/** What can be served as an existing table, what a start refuses and why, and that a database without managed tables stays as it is. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claim, type Descriptor } from '../../engine/descriptor/define.js'
import { boolean, date, integer, number, text, timestamp } from '../../engine/descriptor/index.js'
import type { Registry, Resource } from '../../engine/descriptor/registry.js'
import { Unavailable } from '../../engine/storage/failures.js'
import { describeDifference } from '../../engine/storage/migration/difference.js'
import { openStorage, planStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { roleOn, server, sharedDatabase } from '../support/database.js'
import { existingTables, foreignDatabase, foreignId, readOnly, schemaOf } from '../support/foreignTables.js'
import { listQuery } from '../support/listQuery.js'
import { open, refusal, rowsServed, servedRows } from '../support/members.js'
import { resourceIn } from '../support/registryFrom.js'
import { startService } from '../support/service.js'

const [float, time] = server ? ['double precision', 'timestamp'] : ['real', 'datetime']
const people = `create table "People" (${foreignId.replace('id', '"Id"')}, "Name" text not null, age integer, born date, data ${server ? 'bytea' : 'blob'})`
const rows = `insert into "People" ("Name", age) values ('Ana', 3), ('Bob', 4)`

const name = text({ column: 'Name' })
const person = (more: Partial<Descriptor> = {}): Registry =>
  existingTables({
    persons: { ...readOnly, table: 'People', idColumn: 'Id', fields: { name, age: integer() }, ...more },
  })

const test = suite('starts with existing tables')

const mistakes: readonly [what: string, changed: Partial<Descriptor>, ...messages: RegExp[]][] = [
  [
    'a table that does not exist',
    { table: 'Peopl' },
    /table "Peopl": there is no table or view\. Did you mean "People"\?/,
  ],
  [
    'an id that does not exist',
    { idColumn: 'Ident' },
    /column "Ident": it does not exist.* Set idColumn in the descriptor\./,
  ],
  [
    'an id that is not unique',
    { idColumn: 'age', fields: { name } },
    /column "age": several rows may have the same id/,
  ],
  [
    'a column that does not exist',
    { fields: { nam: text(), x: text({ column: 'Nme' }) } },
    /column "nam": it does not exist/,
    /column "Nme": it does not exist\. Did you mean "Name"\? Set column/,
  ],
  [
    'another type',
    { fields: { age: date(), name: boolean({ column: 'Name' }) } },
    /column "age": it is of type integer, which has no values of date\(\)/,
    /column "Name": it is of type text, which has no values of boolean\(\)/,
  ],
  [
    'a required field that may be null',
    { required: ['age'] },
    /column "age": it may be null, but the descriptor requires the field "age"/,
  ],
  [
    'a create that cannot set a column',
    { create: true, fields: { age: integer() } },
    /column "Name": it needs a value, which no field sets/,
  ],
]
for (const [what, changed, ...messages] of mistakes) {
  test(`${what} is refused with its column and the reason`, async () => {
    const database = await foreignDatabase(people)
    const before = await schemaOf(database)
    for (const message of messages) assert.match(await refusal(person(changed), database.url), message)
    assert.equal(await schemaOf(database), before)
  })
}

test('a view is served, and its rows can be changed only where the database can', async () => {
  const { url } = await foreignDatabase(
    people,
    rows,
    `create view adults as select "Id" as n, "Name" as name from "People" where age > 3`,
    'create view ages as select min("Id") as n, age from "People" group by age',
  )
  const view = { ...readOnly, idColumn: 'n' }
  const adults = { ...view, fields: { name: text() } }
  assert.equal(await rowsServed(existingTables({ adults }), url), [{ name: 'Bob' }])
  const ages = { ...view, fields: { age: integer({ filter: true }) } }
  assert.equal(await rowsServed(existingTables({ ages }), url), [{ age: 3 }, { age: 4 }])
  const message = await refusal(existingTables({ ages: { ...ages, update: true } }), url)
  assert.match(message, /its rows cannot be changed, because it is a view/)
  if (server) {
    const registry = existingTables({ adults: { ...adults, update: true, delete: true } })
    const { change } = await startService({ registry, url })
    assert.equal((await change('adults/2', { name: 'Bert' })).body, { id: 2, name: 'Bert' })
  }
})

if (server) {
  test('partitioned and foreign tables, enumerations and domains are served', async () => {
    const { url, run } = await foreignDatabase(
      `create type mood as enum ('sad', 'happy')`,
      'create domain year as integer check (value >= 1900)',
      `create table parts (part_id bigint not null, mood mood, made year, tags text[], primary key (part_id, made)) partition by range (made)`,
      'create table parts_1 partition of parts for values from (1900) to (2000)',
      'create table parts_2 partition of parts for values from (2000) to (2100)',
      `insert into parts values (1, 'happy', 1999, '{a,b}'), (2, null, 2001, null)`,
    )
    const parts = {
      ...readOnly,
      idColumn: 'part_id',
      fields: { mood: text({ filter: true }), made: integer(), tags: text() },
    }
    const registry = existingTables({ parts: { ...parts, update: true } })
    const storage = await open(registry, url)
    const table = storage.table(registry[0] as Resource)
    assert.equal(await servedRows(storage, registry[0] as Resource), [
      { mood: 'happy', made: 1999, tags: '{a,b}' },
      { mood: null, made: 2001, tags: null },
    ])
    const update = (values: Record<string, string>) => table.write({ kind: 'update', id: '2', values, stamps: {} })
    assert.ok('body' in (await update({ mood: 'sad', tags: '{c}' })))
    const wrong = await update({ mood: 'odd' })
    assert.ok('refused' in wrong && wrong.refused.reason.includes('mood'))
    await storage.close()
    if ((await run(`select 1 from pg_available_extensions where name = 'postgres_fdw'`)).length > 0) {
      const { hostname, port, username, password, pathname } = new URL(url)
      await run(`create extension postgres_fdw;
        create server self foreign data wrapper postgres_fdw options (host '${hostname}', port '${port}', dbname '${pathname.slice(1)}');
        create user mapping for current_user server self options (user '${username}', password '${password || 'x'}');
        create foreign table far (part_id bigint, made integer) server self options (table_name 'parts')`)
      const far = existingTables({ far: { ...parts, name: 'Far one', fields: { made: integer() } } })
      assert.equal(await rowsServed(far, url), [{ made: 1999 }, { made: 2001 }])
    }
  })

  test('a role with SELECT on some columns is enough to read; its writes are 503', async () => {
    const database = await foreignDatabase(people, rows)
    const { role, address } = await roleOn(database.url)
    await database.run(`grant select ("Id", "Name", age) on "People" to ${role}`)
    const before = await schemaOf(database)
    const registry = person({ fields: { name, born: date({ redacted: true }) }, create: true })
    const service = await startService({ registry, url: address })
    assert.equal((await service.get('/v1/persons?q=ANA')).body.data, [{ id: 1, name: 'Ana', born: null }])
    assert.is((await service.create('persons', { name: 'x' })).body.error.code, 'writes_disabled')
    assert.equal(await schemaOf(database), before)
    await database.run(`grant delete on "People" to ${role}`)
    const { remove } = await startService({ registry: person({ delete: true }), url: address })
    assert.is((await remove('persons/2')).status, 204)
  })
} else {
  test('a file of another program is not even touched by reads, and keeps its journal', async () => {
    const { url, run } = await foreignDatabase('pragma journal_mode = delete', people, rows)
    run('select 1')
    const path = url.slice('sqlite:'.length)
    const state = () => [createHash('sha256').update(readFileSync(path)).digest('hex'), readdirSync(dirname(path))]
    const before = state()
    const service = await startService({ registry: person(), url, explorer: true })
    assert.is((await service.get('/v1/persons?q=b')).body.meta.total, 1)
    assert.equal(state(), before)
  })

  test('a file that does not exist is not created', async () => {
    const { url } = await sharedDatabase()
    assert.match(await refusal(person(), url), /there is no database/)
    assert.equal(readdirSync(dirname(url.slice('sqlite:'.length))), [])
  })
}

test('values that are not of the kind of their field are null; times without a zone are of UTC', async () => {
  const [size, seen] = server ? [`'NaN'`, `'infinity'`] : [`'many'`, `'yesterday'`]
  const { url } = await foreignDatabase(
    `create table things (${foreignId}, size ${float}, seen ${time})`,
    `insert into things (size, seen) values (${size}, '2026-03-01 09:30:00.123456'), (1e3, ${seen})`,
  )
  assert.equal(await rowsServed(existingTables({ things: { fields: { size: number(), seen: timestamp() } } }), url), [
    { size: null, seen: '2026-03-01T09:30:00.123Z' },
    { size: 1000, seen: null },
  ])
})

test('managed and existing tables reference each other, and demo rows are loaded into the managed ones alone', async () => {
  const database = await foreignDatabase(people, `create table blanks (${foreignId}, name text)`, rows)
  const foreignObjects = async () =>
    (await schemaOf(database)).filter((object) => /People|blanks/.test(JSON.stringify(object)))
  const before = await foreignObjects()
  const notes = resourceIn(
    'notes',
    { line: text(), person_id: integer({ references: 'persons' }) },
    { demo: [{ id: 1, line: 'demo', person_id: 1 }], delete: true },
  )
  const registry = [...person({ delete: true }), ...existingTables({ blanks: { fields: { name: text() } } }), notes]
  const { get, create, remove, send } = await startService({ registry, url: database.url, explorer: true })
  assert.is((await get('/v1/notes')).body.meta.total, 1)
  assert.is((await get('/v1/blanks')).body.meta.total, 0)
  for (const [person_id, status] of Object.entries({ 99: 422, 2: 201 }))
    assert.is((await create('notes', { line: 'x', person_id: Number(person_id) })).status, status)
  const refused = await remove('persons/2')
  assert.is(refused.status, 409)
  assert.equal(refused.body.error.details.references, [{ resource: 'notes', field: 'person_id', count: 1 }])
  for (const path of ['', 'explore/persons', 'explore/persons?q=a', 'explore/persons/1', 'explore/persons/1/delete'])
    assert.is((await send(`/${path}`)).status, 200, path)
  assert.equal(await foreignObjects(), before)
})

test('a large page and a download are sent in parts', async () => {
  const { url, run } = await foreignDatabase(people)
  const ages = Array.from({ length: 20 }, (_, n) => n)
  const agesOf = (persons: { age: number }[]) => persons.map(({ age }) => age)
  for (const age of ages)
    await run(`insert into "People" ("Name", age) values (?, ?)`, String(age % 10).repeat(300_000), age)
  const { get, send } = await startService({ registry: person(), url })
  const { status, headers, body } = await get('/v1/persons?limit=18')
  assert.equal([status, headers['etag'], body.meta.total], [200, undefined, 20])
  assert.equal(agesOf(body.data), ages.slice(0, 18))
  assert.match(String(headers['link']), /rel="next"/)
  const { text: lines } = await send('/api/v1/persons?sort=-id', { headers: { accept: 'application/x-ndjson' } })
  assert.equal(agesOf(JSON.parse(`[${lines.trim().replaceAll('\n', ',')}]`)), ages.toReversed())
})

test('a table that another program changes is 503 until it fits again', async () => {
  const { url, run } = await foreignDatabase(people, rows)
  const { get, send } = await startService({ registry: person(), url })
  await run('alter table "People" rename column age to years')
  assert.is((await get('/v1/persons')).status, 503)
  assert.is((await send('/readyz')).status, 503)
  await run('alter table "People" rename column years to age')
  await send('/readyz')
  assert.is((await get('/v1/persons')).status, 200)
})

test('a scan ends at the time limit, whatever the ids are and however few rows match', async () => {
  const series = server
    ? 'select * from generate_series(1, 400000) as n'
    : 'with recursive s (n) as (select 1 union all select n + 1 from s where n < 400000) select n from s'
  const numbered = `select n * 2 + 1, 'row ' || n, n from (${series}) as s`
  const { url } = await foreignDatabase(people, `insert into "People" ("Id", "Name", age) ${numbered}`)
  const registry = person({ fields: { name, age: integer({ filter: true }) } })
  const pool = { ...storageOptions.pool, statementMs: 20 }
  const storage = await openStorage(registry, url, { ...storageOptions, readTimeoutMs: 20, pool })
  for (const query of [{ q: 'nothing has this' }, { filters: { age: -1 } }]) {
    const list = storage.table(registry[0] as Resource).list(listQuery(query))
    assert.instance(await list.catch((error) => error), Unavailable, JSON.stringify(query))
  }
  await storage.close()
})

test('the plan names the indexes that rules through references need', async () => {
  const { url, run } = await foreignDatabase(
    `create table shelves (${foreignId}, room text)`,
    `create table boxes (${foreignId}, "Shelf" integer)`,
  )
  const registry = existingTables({
    shelves: { fields: { room: text({ filter: true }) } },
    boxes: {
      fields: { shelf_id: integer({ references: 'shelves', filter: true, column: 'Shelf' }) },
      access: { read: { 'shelf_id.room': claim('room') } },
    },
  })
  const messages = async () =>
    (await planStorage(registry, url, 30_000)).differences.map(
      ({ isBlocking, ...difference }) => `${isBlocking} ${describeDifference({ isBlocking, ...difference })}`,
    )
  const rule = 'the rule "shelf_id.room" of boxes looks for rows by it, and no index begins with it. Create one:'
  assert.equal(await messages(), [
    `false table "shelves", column "room": ${rule} create index "shelves_room" on "shelves" ("room")`,
    `false table "boxes", column "Shelf": ${rule} create index "boxes_Shelf" on "boxes" ("Shelf")`,
  ])
  await run('create index "shelves_room" on "shelves" ("room")')
  await run('create index "boxes_Shelf" on "boxes" ("Shelf", id)')
  assert.equal(await messages(), [])
})

test('the database sets a managed field of a row that is created', async () => {
  const { url } = await foreignDatabase(`create table things (${foreignId}, name text, level integer default 7)`)
  const fields = { name: text(), level: integer({ managed: true }) }
  const { create } = await startService({ registry: existingTables({ things: { fields } }), url })
  assert.equal((await create('things', { name: 'Cid' })).body, { id: 1, name: 'Cid', level: 7 })
})

test.run()
