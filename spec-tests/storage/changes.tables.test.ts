/** Changes of whole tables, and of tables that others use: former tables and columns, references, views and columns of other programs. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { boolean, decimal, integer, text, timestamp } from '../../engine/descriptor/index.js'
import type { OnDelete } from '../../engine/descriptor/options.js'
import type { Registry, Resource, RowValues } from '../../engine/descriptor/registry.js'
import { type Difference, describeDifference } from '../../engine/storage/migration/difference.js'
import { describeSteps } from '../../engine/storage/migration/migrationPlan.js'
import { openStorage, planStorage } from '../../engine/storage/open.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl, server, sharedDatabase } from '../support/database.js'
import { insertion } from '../support/insertion.js'
import {
  apply,
  type Fields,
  memberIn,
  open,
  prepare,
  refusal,
  registryOf,
  rowsServed,
  servedRows,
  team,
  type Version,
} from '../support/members.js'

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

/** What a start refuses, and serves after the approvals. */
interface Approved {
  readonly before: Fields
  readonly members: RowValues[]
  readonly after: Version
  readonly refused: RegExp
  readonly approvals: readonly string[]
  readonly served: RowValues[]
}
const approved: Readonly<Record<string, Approved>> = {
  'a former column that is there again is not mistaken for the renamed one': {
    before: { a: text(), b: text() },
    members: [{ a: 'new', b: 'stale' }],
    after: { fields: { b: text({ renamedFrom: 'a' }) } },
    refused:
      /column "b": the field was renamed from "a", but the table has both columns: "a" has 1 values, and "b" has 1\. .*--apply drop:members\.b,rename:members\.a\./,
    approvals: ['drop:members.b', 'rename:members.a'],
    served: [{ b: 'new' }],
  },
  'a renamedFrom that names nothing is refused with the nearest right name': {
    before: { name: text(), kind: text() },
    members: [{ name: 'Ana', kind: 'x' }],
    after: { fields: { name: text(), type: text({ renamedFrom: 'knid' }) } },
    refused:
      /column "type": the field was renamed from "knid", but the table has neither column\. Did you mean "kind"\? .*--apply add:members\.type/,
    approvals: ['add:members.type'],
    served: [{ name: 'Ana', type: null }],
  },
  'a renamedFromTable that names nothing is refused with the nearest right name': {
    before: { name: text() },
    members: [{ name: 'Ana' }],
    after: { fields: { name: text() }, table: 'people', renamedFromTable: 'membres' },
    refused:
      /table "people": the table was renamed from "membres", but neither table exists\. Did you mean "members"\? .*--apply create:people/,
    approvals: ['create:people'],
    served: [],
  },
  'a decimal that breaks a rule after it was converted is replaced': {
    before: { a: text() },
    members: rowsOf('a', '0.5', '12'),
    after: { fields: { a: decimal({ digits: 8, places: 2, min: '1' }) } },
    refused: /--apply retype:members\.a,set:members\.a:0\.50=VALUE/,
    approvals: ['retype:members.a', 'set:members.a:0.50=1.5'],
    served: rowsOf('a', '1.50', '12.00'),
  },
  'a boolean becomes one of some texts, with a value for each': {
    before: { tame: boolean() },
    members: rowsOf('tame', true, false, null),
    after: { fields: { tame: text({ oneOf: ['calm', 'wild'] }) } },
    refused:
      /npm run migrate -- --apply retype:members\.tame,set:members\.tame:true=VALUE,set:members\.tame:false=VALUE$/,
    approvals: ['retype:members.tame', 'set:members.tame:true=calm', 'set:members.tame:false=wild'],
    served: rowsOf('tame', 'calm', 'wild', null),
  },
}
for (const [name, { before, members, after, refused, approvals, served }] of Object.entries(approved))
  test(name, async () => {
    const url = await freshUrl()
    await prepare(registryOf({ fields: before }), url, { members })
    const changed = registryOf(after)
    assert.match(await refusal(changed, url), refused)
    await apply(changed, url, ...approvals)
    assert.equal(await rowsServed(changed, url), served)
  })

test('a field can reference a resource that is new, if it has no values yet', async () => {
  const url = await freshUrl()
  const alone = (fields: Fields): Registry => [memberIn({ fields })]
  await prepare(alone({ name: text(), team_id: integer() }), url, { members: [{ name: 'Ana', team_id: null }] })
  const both: Registry = [team, ...alone({ name: text(), team_id: integer({ references: 'teams' }) })]
  assert.is(await refusal(both, url), 'not refused')
})

test('the table of a removed resource stays until it is dropped, with the columns that reference it', async () => {
  const url = await freshUrl()
  const members = { fields: { name: text(), team_id: integer({ references: 'teams' }) } }
  await prepare(registryOf(members), url, { teams: [{ name: 'Red' }], members: [{ name: 'Ana', team_id: 1 }] })
  const alone: Registry = [memberIn({ fields: { name: text() } })]
  assert.is(await refusal(alone, url), 'not refused')
  const sentence = async () => {
    const { differences } = await planStorage(alone, url, 5_000)
    return differences.filter(({ table }) => table === 'teams').map(describeDifference)
  }
  const approvals = ['drop:members.team_id', 'drop:teams']
  assert.equal(await sentence(), [
    `table "teams": no resource uses the table, so its 1 rows are not served. To drop it with its 1 rows: npm run migrate -- --apply ${approvals}`,
  ])
  const refused = await apply(alone, url, 'drop:teams').catch(({ message }: Error) => message)
  assert.ok(
    String(refused).endsWith(
      `members.team_id still references the table. Drop both: npm run migrate -- --apply ${approvals}`,
    ),
    String(refused),
  )
  assert.is((await sentence()).length, 1)
  await apply(alone, url, ...approvals)
  assert.equal(await planStorage(alone, url, 5_000), { steps: [], differences: [] })
  assert.equal(await rowsServed(alone, url), [{ name: 'Ana' }])
  const again = registryOf({ fields: { name: text() } })
  assert.equal(await rowsServed(again.toReversed(), url), [])
})

test('a table that others reference can be renamed', async () => {
  const url = await freshUrl()
  const members = { fields: { name: text(), team_id: integer({ references: 'teams' }) } }
  await prepare(registryOf(members), url, { teams: [{ name: 'Red' }], members: [{ name: 'Ana', team_id: 1 }] })
  const renamed: Registry = [{ ...team, table: 'groups', renamedFromTable: 'teams' }, memberIn(members)]
  assert.match(await refusal(renamed, url), /table "groups": the table was renamed from "teams"/)
  await apply(renamed, url, 'rename:teams')
  const storage = await open(renamed, url)
  const [, resource] = renamed as [Resource, Resource]
  assert.equal(await servedRows(storage, resource), [{ name: 'Ana', team_id: 1 }])
  const lost = await storage.table(resource).write(insertion({ name: 'Bo', team_id: 9 }))
  assert.ok('conflicts' in lost)
  await storage.close()
})

test('a former table that is there again is not mistaken for the renamed one, and is named with its rows', async () => {
  const database = await sharedDatabase()
  const { url } = database
  const fields = { name: text() }
  await prepare(registryOf({ fields }), url, { members: [{ name: 'Ana' }] })
  const people = { fields, table: 'people' }
  await apply(registryOf(people), url, 'create:people')
  const renamed = registryOf({ ...people, renamedFromTable: 'members' })
  const message =
    /table "people": the table was renamed from "members", but both exist: "members" has 1 rows, and "people" has 0\. .*drop table "people"/
  for (const approvals of [undefined, ['rename:members']]) assert.match(await refusal(renamed, url, approvals), message)
  await database.run('drop table "people"')
  await apply(renamed, url, 'rename:members')
  assert.equal(await rowsServed(renamed, url), [{ name: 'Ana' }])
})

if (!server) {
  test('on SQLite, a column that another program uses is not renamed', async () => {
    const database = await sharedDatabase()
    await prepare(registryOf({ fields: { name: text() } }), database.url, { members: [{ name: 'Ana' }] })
    await database.run('create view others as select name from members')
    const renamed = registryOf({ fields: { label: text({ renamedFrom: 'name' }) } })
    const message = await refusal(renamed, database.url, ['rename:members.name'])
    assert.match(message, /column "name": "others" of another program uses it/)
  })

  test('on SQLite, what another program added to a table is kept, or the table is not rebuilt', async () => {
    const database = await sharedDatabase()
    const before = registryOf({ fields: { name: text(), note: text() }, required: ['note'] })
    await (await open(before, database.url)).close()
    await database.run("alter table members add column grade text default 'A''s'")
    await database.run('create index others_index on members (name)')
    await database.run('create view names as select name from members')
    await database.run("insert into members (id, name, note) values (7, 'Ana', 'x')")
    await database.run('delete from members')
    const after = registryOf({ fields: { name: text(), note: text() } })
    await apply(after, database.url)
    await database.run("insert into members (name) values ('Bo')")
    // The id of a deleted row is not assigned again.
    assert.equal(await database.run('select id, name, grade from members'), [{ id: 8, name: 'Bo', grade: "A's" }])
    assert.is((await database.run("select 1 as one from sqlite_schema where name = 'others_index'")).length, 1)
    assert.equal(await database.run('select * from names'), [{ name: 'Bo' }])

    await database.run('alter table members add column size integer check (size > 0)')
    const strict = registryOf({ fields: { name: text(), note: text() }, required: ['name', 'note'] })
    assert.match(await refusal(strict, database.url, []), /1 row \(id 8\) has none/)
    await database.run("update members set note = 'y'")
    assert.match(
      await refusal(strict, database.url, []),
      'table "members": its definition has check, which would be lost',
    )
  })
}

test('an unused column asks once, not for every later field', async () => {
  const url = await freshUrl()
  const plus = (...names: string[]) => registryOf({ fields: Object.fromEntries(names.map((name) => [name, text()])) })
  await prepare(plus('name', 'kind'), url, { members: [{ name: 'Ana', kind: 'x' }] })
  assert.match(await refusal(plus('name', 'type'), url), /no field uses "kind"/)
  await apply(plus('name', 'type'), url, 'add:members.type')
  assert.is(await refusal(plus('name', 'type', 'later'), url), 'not refused')
  // Another column that becomes unused is asked about.
  assert.match(await refusal(plus('name', 'type', 'last'), url), /no field uses "later"\./)
})

const ruled: [name: string, fields: [before: Fields, after: Fields], rows: RowValues[], message: RegExp | undefined][] =
  [
    [
      'oneOf',
      [{ a: text() }, { a: text({ oneOf: ['x', 'y'] }) }],
      ['x', 'z', null, 'Y', 'w', 'v'].map((a) => ({ a })),
      /column "a": 4 rows \(id 2, 4, 5, …\) have a value that breaks a rule of the field: it must be one of "x", "y"; "z" is not/,
    ],
    [
      'max',
      [{ a: integer() }, { a: integer({ max: 2 }) }],
      [{ a: 2 }, { a: 3 }],
      /1 row \(id 2\) has .* at most 2; 3 is/,
    ],
    [
      'max of timestamp',
      [{ a: timestamp() }, { a: timestamp({ max: '2026-01-01T00:00:00Z' }) }],
      [{ a: '2026-01-01T00:00:00.000Z' }, { a: '2026-01-01T00:00:00.001Z' }],
      /1 row \(id 2\) has .* 2026-01-01T00:00:00Z or earlier/,
    ],
    [
      'max of decimal',
      [{ a: decimal({ digits: 18, places: 4 }) }, { a: decimal({ digits: 18, places: 4, max: '9.5' }) }],
      [{ a: '9.5000' }, { a: '9.5001' }, { a: '10.0000' }, { a: '-99999999999999.9999' }],
      /2 rows \(id 2, 3\) have .* at most 9\.5; 9\.5001 is more/,
    ],
    ['maxLength', [{ a: text() }, { a: text({ maxLength: 2 }) }], [{ a: '😀😀' }, { a: 'abc' }], /1 row \(id 2\) has/],
    ['a rule that holds', [{ a: text() }, { a: text({ minLength: 1 }) }], [{ a: 'x' }, { a: null }], undefined],
  ]
for (const [name, [before, after], members, message] of ruled) {
  test(`rows that break a new rule are counted by the plan, and a start is not refused: ${name}`, async () => {
    const url = await freshUrl()
    await prepare(registryOf({ fields: before }), url, { members })
    const changed = registryOf({ fields: after })
    const { differences } = await planStorage(changed, url, 5_000, { withValues: true })
    assert.is(differences.length, message ? 1 : 0)
    if (message) assert.match(describeDifference(differences[0] as Difference), message)
    assert.equal((await planStorage(changed, url, 5_000)).differences, [])
    assert.equal(await rowsServed(changed, url), members)
  })
}

test('values that a new oneOf no longer allows are replaced, several at once', async () => {
  const url = await freshUrl()
  const members = rowsOf('kind', 'bird', 'cat', 'an "old" dog', null, 'bird')
  await prepare(registryOf({ fields: { kind: text({ filter: true }) } }), url, { members })
  const changed = registryOf({ fields: { kind: text({ oneOf: ['parrot', 'cat', 'dog'], filter: true }) } })
  const { differences } = await planStorage(changed, url, 5_000, { withValues: true })
  const command = `npm run migrate -- --apply 'set:members.kind:bird=VALUE,set:members.kind:an "old" dog=VALUE'`
  assert.ok(differences[0]?.advice.endsWith(command), differences[0]?.advice)
  for (const [approval, message] of [
    ['set:members.kind:bird=fish', /"fish" was given instead of "bird", but .* one of "parrot"/],
    ['set:members.kind:fish=cat', /nothing to do for set:members\.kind:fish=cat/],
  ] as const)
    assert.match(await refusal(changed, url, [approval]), message)
  const { steps } = await apply(changed, url, 'set:members.kind:bird=parrot', 'set:members.kind:an "old" dog=dog')
  assert.equal(
    steps.flatMap(({ changes = [] }) => changes),
    ['kind becomes "parrot" where it is "bird"', 'kind becomes "dog" where it is "an \\"old\\" dog"'],
  )
  assert.equal(await rowsServed(changed, url), rowsOf('kind', 'parrot', 'cat', 'dog', null, 'parrot'))
  assert.equal(await planStorage(changed, url, 5_000, { withValues: true }), { steps: [], differences: [] })
})

test('onDelete: a start changes what a delete does, and other changes keep it', async () => {
  const url = await freshUrl()
  const version = (onDelete: OnDelete, required: string[] = []) =>
    registryOf({ fields: { name: text(), team_id: integer({ references: 'teams', onDelete }) }, required })
  const steps: readonly (readonly [registry: Registry, changes: string[], after: unknown])[] = [
    [version('restrict'), [], 'referenced'],
    [version('cascade'), ['members: a delete in teams deletes the rows whose team_id references it'], []],
    [version('cascade', ['name']), ['members: name becomes required'], []],
    [version('set null'), ['members: name may be null', 'members: a delete in teams sets team_id to null'], [null]],
    [
      version('restrict', ['name']),
      ['members: name becomes required', 'members: a delete in teams is refused while team_id references the row'],
      'referenced',
    ],
  ]
  await prepare(steps[0]?.[0] as Registry, url, {})
  for (const [registry, changes, after] of steps) {
    assert.equal(describeSteps(await planStorage(registry, url, 5_000)), changes)
    const storage = await open(registry, url)
    const [teams, members] = registry as [Resource, Resource]
    for (const { id } of await storage.rows(members, undefined, 10))
      await storage.table(members).write({ kind: 'delete', id: String(id) })
    const id = steps.findIndex(([one]) => one === registry) + 1
    await storage.fill([
      { resource: teams, rows: [{ id, name: 'Red' }] },
      { resource: members, rows: [{ name: 'Ana', team_id: id }] },
    ])
    const outcome = await storage.table(teams).write({ kind: 'delete', id: String(id) })
    const left = (await servedRows(storage, members)).map((row) => row['team_id'])
    assert.equal('referencing' in outcome ? 'referenced' : left, after)
    await storage.close()
    assert.equal((await planStorage(registry, url, 5_000)).steps, [])
  }
})

test.run()
