/** Changes of whole tables, and of tables that others use: former tables and columns, references, views and columns of other programs. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { decimal, integer, text, timestamp } from '../../engine/descriptor/index.js'
import type { OnDelete } from '../../engine/descriptor/options.js'
import type { Registry, Resource, RowValues } from '../../engine/descriptor/registry.js'
import { type Difference, describeDifference } from '../../engine/storage/migration/difference.js'
import { describeSteps } from '../../engine/storage/migration/migrationPlan.js'
import { openStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { server, sharedDatabase } from '../support/database.js'
import { insertion } from '../support/insertion.js'
import { changingDatabase, type Fields, memberIn, open, registryOf, servedRows, team } from '../support/members.js'

/** Every object in the database with its definition; on PostgreSQL its id, which changes when it is recreated. */
const objectsSql = server
  ? `select relname as name, pg_class.oid as definition from pg_class
      join pg_namespace on pg_namespace.oid = relnamespace and nspname = 'public'
      union all select tgname, oid from pg_trigger where not tgisinternal order by 1, 2`
  : 'select name, rootpage as definition from sqlite_schema order by name'

const test = suite('changes of tables')

test('a start says each change in one line; references are foreign keys, and indexes of other programs stay', async () => {
  const database = await sharedDatabase()
  const changesAt = async (fields: Fields): Promise<readonly string[]> => {
    let reported: readonly string[] = ['not opened']
    const opened = ({ changes }: { changes: readonly string[] }) => {
      reported = changes.toSorted()
    }
    await (await openStorage(registryOf({ fields }), database.url, { ...storageOptions, opened })).close()
    return reported
  }
  const indexes = async () => (await database.run(objectsSql)).map(({ name }) => name)
  assert.equal(await changesAt({ name: text() }), [])
  const before = await database.run(objectsSql)
  assert.ok(before.length > 10)
  assert.equal(await changesAt({ name: text() }), [])
  assert.equal(await database.run(objectsSql), before)
  await database.run('create index others_index on members (name)')
  const referring = { name: text({ filter: true }), team_id: integer({ references: 'teams' }) }
  assert.equal(await changesAt(referring), ['members: team_id is added'])
  await database.run(`insert into teams (id, name) values (1, 'Red')`)
  await database.run(`insert into members (name, team_id) values ('Bo', 1)`)
  if (!server) await database.run('pragma foreign_keys = ON')
  assert.match(String(await database.run('delete from teams').catch(String)), /foreign key/i)
  assert.equal(await changesAt({ name: text({ unique: true }), team_id: integer() }), [
    'members: name must be unique',
    'members: team_id no longer references teams',
  ])
  assert.ok((await indexes()).includes('registry_members_unique_name'))
  await changesAt({ name: text(), team_id: integer() })
  assert.not.ok((await indexes()).includes('registry_members_unique_name'))
  assert.ok((await indexes()).includes('others_index'))
})

const rowsOf = (name: string, ...values: RowValues[string][]): RowValues[] => values.map((value) => ({ [name]: value }))
const [ana, red] = [{ name: 'Ana' }, { name: 'Red' }]
const inTeam = { fields: { name: text(), team_id: integer({ references: 'teams' }) } }
const named = { fields: { name: text() } }
const alone = (fields: Fields): Registry => [memberIn({ fields })]

test('a former column that is there again is not mistaken for the renamed one', async () => {
  const before = { fields: { a: text(), b: text() } }
  const { refusal, apply, served } = await changingDatabase(before, { members: [{ a: 'new', b: 'stale' }] })
  const after = { fields: { b: text({ renamedFrom: 'a' }) } }
  assert.match(
    await refusal(after),
    /column "b": the field was renamed from "a", but the table has both columns: "a" has 1 values, and "b" has 1\. .*--apply drop:members\.b,rename:members\.a\./,
  )
  await apply(after, 'drop:members.b', 'rename:members.a')
  assert.equal(await served(after), [{ b: 'new' }])
})

test('a field can reference a resource that is new, if it has no values yet', async () => {
  const members = [{ name: 'Ana', team_id: null }]
  const { refusal } = await changingDatabase(alone({ name: text(), team_id: integer() }), { members })
  assert.is(await refusal(inTeam), 'not refused')
})

test('the table of a removed resource stays until it is dropped, with the columns that reference it', async () => {
  const rows = { teams: [red], members: [{ ...ana, team_id: 1 }] }
  const { refusal, plan, apply, served } = await changingDatabase(inTeam, rows)
  const after = alone({ name: text() })
  assert.is(await refusal(after), 'not refused')
  const sentence = async () =>
    (await plan(after)).differences.filter(({ table }) => table === 'teams').map(describeDifference)
  const approvals = ['drop:members.team_id', 'drop:teams']
  assert.equal(await sentence(), [
    `table "teams": no resource uses the table, so its 1 rows are not served. To drop it with its 1 rows: npm run migrate -- --apply ${approvals}`,
  ])
  const refused = await refusal(after, ['drop:teams'])
  const advice = `members.team_id still references the table. Drop both: npm run migrate -- --apply ${approvals}`
  assert.ok(refused.endsWith(advice), refused)
  assert.is((await sentence()).length, 1)
  await apply(after, ...approvals)
  assert.equal(await plan(after), { steps: [], differences: [] })
  assert.equal(await served(after), [ana])
  assert.equal(await served(registryOf(named).toReversed()), [])
})

test('a table that others reference can be renamed', async () => {
  const rows = { teams: [red], members: [{ ...ana, team_id: 1 }] }
  const { url, refusal, apply } = await changingDatabase(inTeam, rows)
  const renamed: Registry = [{ ...team, table: 'groups', renamedFromTable: 'teams' }, memberIn(inTeam)]
  assert.match(await refusal(renamed), /table "groups": the table was renamed from "teams"/)
  await apply(renamed, 'rename:teams')
  const storage = await open(renamed, url)
  const [, resource] = renamed as [Resource, Resource]
  assert.equal(await servedRows(storage, resource), rows.members)
  assert.ok('conflicts' in (await storage.table(resource).write(insertion({ name: 'Bo', team_id: 9 }))))
  await storage.close()
})

test('a former table that is there again is not mistaken for the renamed one, and is named with its rows', async () => {
  const { run, refusal, apply, served } = await changingDatabase(named, { members: [ana] })
  await apply({ ...named, table: 'people' }, 'create:people')
  const renamed = { ...named, table: 'people', renamedFromTable: 'members' }
  const message =
    /table "people": the table was renamed from "members", but both exist: "members" has 1 rows, and "people" has 0\. .*drop table "people"/
  for (const approvals of [undefined, ['rename:members']]) assert.match(await refusal(renamed, approvals), message)
  await run('drop table "people"')
  await apply(renamed, 'rename:members')
  assert.equal(await served(renamed), [ana])
})

if (!server) {
  test('on SQLite, a column that another program uses is not renamed', async () => {
    const { run, refusal } = await changingDatabase(named, { members: [ana] })
    await run('create view others as select name from members')
    const message = await refusal({ fields: { label: text({ renamedFrom: 'name' }) } }, ['rename:members.name'])
    assert.match(message, /column "name": "others" of another program uses it/)
  })

  test('on SQLite, what another program added to a table is kept, or the table is not rebuilt', async () => {
    const fields = { name: text(), note: text() }
    const { run, refusal, apply } = await changingDatabase({ fields, required: ['note'] })
    for (const sql of [
      "alter table members add column grade text default 'A''s'",
      'create index others_index on members (name)',
      'create view names as select name from members',
      "insert into members (id, name, note) values (7, 'Ana', 'x')",
      'delete from members',
    ])
      await run(sql)
    await apply({ fields })
    await run("insert into members (name) values ('Bo')")
    // The id of a deleted row is not assigned again.
    assert.equal(await run('select id, name, grade from members'), [{ id: 8, name: 'Bo', grade: "A's" }])
    assert.is((await run("select 1 as one from sqlite_schema where name = 'others_index'")).length, 1)
    assert.equal(await run('select * from names'), [{ name: 'Bo' }])

    await run('alter table members add column size integer check (size > 0)')
    const strict = { fields, required: ['name', 'note'] }
    assert.match(await refusal(strict, []), /1 row \(id 8\) has none/)
    await run("update members set note = 'y'")
    assert.match(await refusal(strict, []), 'table "members": its definition has check, which would be lost')
  })
}

test('an unused column asks once, not for every later field', async () => {
  const plus = (...names: string[]) => ({ fields: Object.fromEntries(names.map((name) => [name, text()])) })
  const { refusal, apply } = await changingDatabase(plus('name', 'kind'), { members: [{ name: 'Ana', kind: 'x' }] })
  assert.match(await refusal(plus('name', 'type')), /no field uses "kind"/)
  await apply(plus('name', 'type'), 'add:members.type')
  assert.is(await refusal(plus('name', 'type', 'later')), 'not refused')
  // Another column that becomes unused is asked about.
  assert.match(await refusal(plus('name', 'type', 'last')), /no field uses "later"\./)
})

type Rule = [name: string, before: Fields[string], after: Fields[string], values: RowValues[string][], message?: RegExp]
const exact = { digits: 18, places: 4 } as const
const rules: readonly Rule[] = [
  [
    'oneOf',
    text(),
    text({ oneOf: ['x', 'y'] }),
    ['x', 'z', null, 'Y', 'w', 'v'],
    /column "a": 4 rows \(id 2, 4, 5, …\) have a value that breaks a rule of the field: it must be one of "x", "y"; "z" is not/,
  ],
  ['max', integer(), integer({ max: 2 }), [2, 3], /1 row \(id 2\) has .* at most 2; 3 is/],
  [
    'max of timestamp',
    timestamp(),
    timestamp({ max: '2026-01-01T00:00:00Z' }),
    ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z'],
    /1 row \(id 2\) has .* 2026-01-01T00:00:00Z or earlier/,
  ],
  [
    'max of decimal',
    decimal(exact),
    decimal({ ...exact, max: '9.5' }),
    ['9.5000', '9.5001', '10.0000', '-99999999999999.9999'],
    /2 rows \(id 2, 3\) have .* at most 9\.5; 9\.5001 is more/,
  ],
  ['maxLength', text(), text({ maxLength: 2 }), ['😀😀', 'abc'], /1 row \(id 2\) has/],
  ['a rule that holds', text(), text({ minLength: 1 }), ['x', null]],
]
for (const [name, before, after, values, message] of rules) {
  test(`rows that break a new rule are counted by the plan, and a start is not refused: ${name}`, async () => {
    const members = rowsOf('a', ...values)
    const { plan, served } = await changingDatabase({ fields: { a: before } }, { members })
    const changed = { fields: { a: after } }
    const { differences } = await plan(changed, true)
    assert.is(differences.length, message ? 1 : 0)
    if (message) assert.match(describeDifference(differences[0] as Difference), message)
    assert.equal((await plan(changed)).differences, [])
    assert.equal(await served(changed), members)
  })
}

test('values that a new oneOf no longer allows are replaced, several at once', async () => {
  const members = rowsOf('kind', 'bird', 'cat', 'an "old" dog', null, 'bird')
  const before = { fields: { kind: text({ filter: true }) } }
  const { refusal, plan, apply, served } = await changingDatabase(before, { members })
  const changed = { fields: { kind: text({ oneOf: ['parrot', 'cat', 'dog'], filter: true }) } }
  const { differences } = await plan(changed, true)
  const command = `npm run migrate -- --apply 'set:members.kind:bird=VALUE,set:members.kind:an "old" dog=VALUE'`
  assert.ok(differences[0]?.advice.endsWith(command), differences[0]?.advice)
  for (const [approval, message] of [
    ['set:members.kind:bird=fish', /"fish" was given instead of "bird", but .* one of "parrot"/],
    ['set:members.kind:fish=cat', /nothing to do for set:members\.kind:fish=cat/],
  ] as const)
    assert.match(await refusal(changed, [approval]), message)
  const { steps } = await apply(changed, 'set:members.kind:bird=parrot', 'set:members.kind:an "old" dog=dog')
  assert.equal(
    steps.flatMap(({ changes = [] }) => changes),
    ['kind becomes "parrot" where it is "bird"', 'kind becomes "dog" where it is "an \\"old\\" dog"'],
  )
  assert.equal(await served(changed), rowsOf('kind', 'parrot', 'cat', 'dog', null, 'parrot'))
  assert.equal(await plan(changed, true), { steps: [], differences: [] })
})

test('onDelete: a start changes what a delete does, and other changes keep it', async () => {
  const version = (onDelete: OnDelete, required: string[] = []) =>
    registryOf({ fields: { name: text(), team_id: integer({ references: 'teams', onDelete }) }, required })
  const { url, plan } = await changingDatabase(version('restrict'))
  for (const [n, [registry, changes, after]] of (
    [
      [version('restrict'), [], 'referenced'],
      [version('cascade'), ['members: a delete in teams deletes the rows whose team_id references it'], []],
      [version('cascade', ['name']), ['members: name becomes required'], []],
      [version('set null'), ['members: name may be null', 'members: a delete in teams sets team_id to null'], [null]],
      [
        version('restrict', ['name']),
        ['members: name becomes required', 'members: a delete in teams is refused while team_id references the row'],
        'referenced',
      ],
    ] as const
  ).entries()) {
    assert.equal(describeSteps(await plan(registry)), changes)
    const storage = await open(registry, url)
    const [teams, members] = registry as [Resource, Resource]
    for (const { id } of await storage.rows(members, undefined, 10))
      await storage.table(members).write({ kind: 'delete', id: String(id) })
    await storage.fill([
      { resource: teams, rows: [{ id: n + 1, name: 'Red' }] },
      { resource: members, rows: [{ name: 'Ana', team_id: n + 1 }] },
    ])
    const outcome = await storage.table(teams).write({ kind: 'delete', id: String(n + 1) })
    const left = (await servedRows(storage, members)).map((row) => row['team_id'])
    assert.equal('referencing' in outcome ? 'referenced' : left, after)
    await storage.close()
    assert.equal((await plan(registry)).steps, [])
  }
})

test.run()
