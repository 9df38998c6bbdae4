/** Files of `migrations/`, on both databases: what runs, what is stored, and what is derived from the rows afterwards. */
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { boolean, date, integer, text } from '../../engine/descriptor/index.js'
import type { Registry, Resource, RowValues } from '../../engine/descriptor/registry.js'
import { entriesOnCopy } from '../../engine/storage/migration/dataSteps.js'
import { loadMigrations, type MigrationFile } from '../../engine/storage/migration/migrationFiles.js'
import { draftStorage, migrateStorage, openStorage, planStorage } from '../../engine/storage/open.js'
import type { Storage } from '../../engine/storage/storage.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { storageOptions } from '../../support/storageOptions.js'
import { type SharedDatabase, server, sessionOn, sharedDatabase } from '../support/database.js'
import { listQuery } from '../support/listQuery.js'
import { type Fields, memberIn, prepare, servedRows, team } from '../support/members.js'

/** The files of a project, by their names. */
const filesIn = (texts: Readonly<Record<string, string>>): MigrationFile[] => {
  const { path } = temporaryFolder('migrations')
  mkdirSync(join(path, 'migrations'))
  for (const [name, content] of Object.entries(texts)) writeFileSync(join(path, 'migrations', name), content)
  return loadMigrations(path)
}

const options = { ...storageOptions, demo: false, waitMs: 5_000 }
const registryWith = (fields: Fields, rest: Partial<Parameters<typeof memberIn>[0]> = {}): Registry => [
  team,
  memberIn({ fields, ...rest }),
]

interface Given {
  readonly approvals?: readonly string[]
  readonly accepted?: readonly string[]
  readonly derivedObjects?: boolean
}

/** A database with rows of some members, and what `migrate` and a start do to it with other fields and files. */
const databaseWith = async (before: Registry, members: readonly RowValues[], teams: readonly RowValues[] = []) => {
  const database = await sharedDatabase()
  const { url } = database
  await prepare(before, url, { members, teams })
  const migrate = async (
    registry: Registry,
    texts: Readonly<Record<string, string>>,
    { accepted = [], ...given }: Given = {},
  ) => {
    const done: string[] = []
    const command = {
      accepted,
      done: (steps: readonly { about: string }[]) => void done.push(...steps.map(({ about }) => about)),
    }
    const migrated = await migrateStorage(registry, url, { ...options, ...given, files: filesIn(texts), command })
    assert.equal(
      migrated.miscounted.map(({ table }) => table),
      [],
    )
    return { ...migrated, done }
  }
  return {
    ...database,
    migrate,
    refused: (...args: Parameters<typeof migrate>): Promise<string> =>
      migrate(...args).then(
        () => 'not refused',
        (error: Error) => error.message,
      ),
    /** Opens the database as a start does; collects what it warns of. */
    async start(registry: Registry, texts: Readonly<Record<string, string>>, warnings: string[] = []) {
      const warn = (message: string) => void warnings.push(message)
      return openStorage(registry, url, { ...options, warn, files: filesIn(texts) })
    },
    async entries() {
      return (await database.run('select name, digest from registry_migrations order by name')) as {
        name: string
        digest: string
      }[]
    },
  }
}

const refusedStart = (opened: Promise<Storage>): Promise<string> =>
  opened.then(
    async (storage) => {
      await storage.close()
      return 'not refused'
    },
    (error: Error) => error.message,
  )

const membersOf = (registry: Registry): Resource => registry.at(-1) as Resource

const found = async (storage: Storage, resource: Resource, q: string): Promise<number> => {
  const page = await storage.table(resource).list(listQuery({ q }))
  return (JSON.parse(String((page as { body: unknown }).body)) as { meta: { total: number } }).meta.total
}

const tagOf = async (storage: Storage, resource: Resource): Promise<string> =>
  String(((await storage.table(resource).list(listQuery({ limit: 200 }))) as { tag: unknown }).tag)

const names = { name: text({ filter: true }), born: text() }
const named = registryWith(names, { required: ['name'] })
const three = [
  { id: 1, name: 'Ana Ng', born: '1990-05-01' },
  { id: 2, name: 'Bo Li', born: null },
  { id: 3, name: 'Cy Ng', born: '1970-12-31' },
]

const test = suite('files of migrations/')

test('they run in the order of their names, once, and each has an entry with the digest of its text', async () => {
  const { migrate, entries, start, run } = await databaseWith(named, three)
  const files = {
    'b.sql': `update members set born = born || '-b' where id = 1;\r\n`,
    'a-1.sql': `update members set born = 'a' where id = 1`,
    [`a.${server ? 'postgres' : 'sqlite'}.sql`]: `update members set born = 'first' where id = 1; update members set born = 'x' where id = 3`,
    [`c.${server ? 'sqlite' : 'postgres'}.sql`]: 'this is for the other database',
    'notes.md': 'not SQL',
  }
  const { done } = await migrate(named, files)
  assert.equal(
    done.filter((about) => about.startsWith('run ')),
    [`run migrations/a.${server ? 'postgres' : 'sqlite'}.sql`, 'run migrations/a-1.sql', 'run migrations/b.sql'],
  )
  const digestOf = (content: string) => createHash('sha256').update(content).digest('hex')
  const expected = [
    { name: 'a', digest: digestOf(files[`a.${server ? 'postgres' : 'sqlite'}.sql`] as string) },
    { name: 'a-1', digest: digestOf(files['a-1.sql']) },
    { name: 'b', digest: digestOf(`update members set born = born || '-b' where id = 1;\n`) },
  ]
  assert.equal(
    (await entries()).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    expected,
  )
  assert.equal((await migrate(named, files)).done, [])
  const unix = { ...files, 'b.sql': files['b.sql'].replace('\r', '') }
  assert.equal((await migrate(named, unix)).done, [])
  assert.equal(await run('select born from members order by id'), [{ born: 'a-b' }, { born: null }, { born: 'x' }])
  const warnings: string[] = []
  await (await start(named, files, warnings)).close()
  assert.equal(warnings, [])
})

test('totals, tags and searches are right after a file that writes rows, also of tables that it does not name', async () => {
  const before = registryWith({
    ...names,
    team_id: integer({ references: 'teams', onDelete: 'cascade', filter: true }),
  })
  const rows = three.map((row) => ({ ...row, team_id: row.id }))
  const teams = [1, 2, 3].map((id) => ({ id, name: `team ${id}` }))
  const { migrate, start } = await databaseWith(before, rows, teams)
  const earlier = await start(before, {})
  const [memberTag, teamTag] = [await tagOf(earlier, membersOf(before)), await tagOf(earlier, team)]
  await earlier.close()
  // The first file names teams alone.
  await migrate(before, {
    '1.sql': `delete from teams where id = 2;\nupdate teams set name = 'north' where id = 1;`,
    '2.sql': `insert into members (name, born) values ('Dee', 'somewhere');\nupdate members set name = 'Zed' where id = 3;`,
  })
  const storage = await start(before, {})
  const members = membersOf(before)
  assert.equal(
    (await servedRows(storage, members)).map(({ name }) => name),
    ['Ana Ng', 'Zed', 'Dee'],
  )
  assert.is((await servedRows(storage, team)).length, 2)
  assert.equal(await Promise.all(['dee', 'zed', 'ng', 'bo li'].map((q) => found(storage, members, q))), [1, 1, 1, 0])
  assert.is(await found(storage, team, 'north'), 1)
  assert.is.not(await tagOf(storage, members), memberTag)
  assert.is.not(await tagOf(storage, team), teamTag)
  // The triggers are back.
  await storage.fill([{ resource: members, rows: [{ id: 50, name: 'Eve', born: null, team_id: 1 }] }])
  assert.is(await found(storage, members, 'eve'), 1)
  await storage.close()
})

test('a file renames, converts and drops columns that are indexed, searched and unique', async () => {
  const before = registryWith(
    {
      name: text({ filter: true, sort: true }),
      born: text(),
      email: text({ unique: true }),
      old: text({ filter: true }),
    },
    { required: ['name', 'old'] },
  )
  const rows = three.map((row) => ({ ...row, email: `${row.id}@x`, old: 'o' }))
  const after = registryWith(
    {
      title: text({ filter: true, sort: true, renamedFrom: 'name' }),
      born: date({ range: true }),
      email: text({ unique: true }),
      is_old: boolean({ filter: true }),
    },
    { required: ['title', 'is_old'] },
  )
  const { migrate, refused, start, run } = await databaseWith(before, rows)
  const convert = server ? 'alter table members alter column born type date using born::date;' : 'select 1;'
  const isOld = server ? "case when old = 'o' then true else false end" : "case when old = 'o' then 1 else 0 end"
  const file = `alter table members rename column name to title;
update members set is_old = ${isOld};
alter table members drop column old;
${convert}`
  const { done } = await migrate(after, { '1.sql': file })
  assert.ok(done.some((about) => about === 'add to members: born, is_old' || about === 'add to members: is_old'))
  const storage = await start(after, { '1.sql': file })
  assert.equal(await servedRows(storage, membersOf(after)), [
    { title: 'Ana Ng', born: '1990-05-01', email: '1@x', is_old: true },
    { title: 'Bo Li', born: null, email: '2@x', is_old: true },
    { title: 'Cy Ng', born: '1970-12-31', email: '3@x', is_old: true },
  ])
  assert.is(await found(storage, membersOf(after), 'ng'), 2)
  await storage.close()
  // The unique index is back before the file is stored.
  const again = await refused(after, { '1.sql': file, '2.sql': `select 1;\nupdate members set email = 'same'` })
  assert.match(again, /migrations\/2\.sql: .*unique.* Nothing of the file was stored\./i)
  assert.equal(await run(`select count(*) as n from members where email = 'same'`), [{ n: 0 }])
})

test('a field with renamedFrom is not added while its old column exists, and --apply renames it afterwards', async () => {
  const after = registryWith({ title: text({ renamedFrom: 'name' }), born: text() }, { required: ['title'] })
  const { migrate, refused, start } = await databaseWith(named, three)
  const files = { '1.sql': `update members set name = upper(name)` }
  assert.match(await refused(after, files), /column "title": the field was renamed from "name"\. To rename the column/)
  const { done } = await migrate(after, files, { approvals: ['rename:members.name'] })
  assert.not.ok(
    done.some((about) => about.startsWith('run ')),
    'the file has run before',
  )
  const storage = await start(after, files)
  assert.equal(
    (await servedRows(storage, membersOf(after))).map(({ title }) => title),
    ['ANA NG', 'BO LI', 'CY NG'],
  )
  await storage.close()
})

test('new columns allow null while files run; rows without a value of a new required field get its default', async () => {
  const after = registryWith(
    { ...names, level: integer({ default: 3 }), team_id: integer({ references: 'teams', filter: true }) },
    { required: ['name', 'level', 'team_id'] },
  )
  const { migrate, refused, start, run } = await databaseWith(named, three, [{ id: 7, name: 'north' }])
  const first = { '1.sql': 'update members set level = 9 where id = 2 and level is null' }
  assert.match(await refused(after, first), /column "team_id": the descriptor requires a value, but 3 rows/)
  assert.equal(await run('select level, team_id from members order by id'), [
    { level: null, team_id: null },
    { level: 9, team_id: null },
    { level: null, team_id: null },
  ])
  // What the file has stored is counted and searched, although the rest could not be made yet.
  await run(`insert into members (name) values ('Dee')`)
  const total = server
    ? `select total as n from registry_state('members')`
    : `select rows as n from registry_tables where name = 'members'`
  assert.equal(await run(total), [{ n: 4 }])
  const search = server
    ? `select count(*) as n from members where registry_searched like '%dee%' or registry_searched like '%ana ng%'`
    : `select count(*) as n from registry_members_search where registry_members_search match 'dee OR ana'`
  assert.equal(await run(search), [{ n: 2 }])
  await run(`delete from members where name = 'Dee'`)
  await migrate(after, { ...first, '2.sql': 'update members set team_id = 7' })
  const storage = await start(after, { ...first, '2.sql': 'update members set team_id = 7' })
  assert.equal(
    (await servedRows(storage, membersOf(after))).map(({ level, team_id }) => [level, team_id]),
    [
      [3, 7],
      [9, 7],
      [3, 7],
    ],
  )
  await storage.close()
})

test('a file that fails is undone, names its line, and later ones do not run', async () => {
  const { refused, migrate, entries, run, start } = await databaseWith(named, three)
  const files = {
    '1.sql': `update members set born = 'one' where id = 1;`,
    '2.sql': `-- two\n\nupdate members set born = 'two' where id = 2;\nupdate members\n  set nothing = 1;\nselect 1;`,
    '3.sql': `update members set born = 'three' where id = 3;`,
  }
  const message = await refused(named, files)
  assert.match(message, /migrations\/2\.sql:4: .*nothing.* Nothing of the file was stored\./)
  if (server) assert.match(message, /\(at line 5\)/)
  const born = async () => (await run('select born from members order by id')).map((row) => row['born'])
  assert.equal(await born(), ['one', null, '1970-12-31'])
  assert.equal(
    (await entries()).map(({ name }) => name),
    ['1'],
  )
  // Everything derived from the table is as it was.
  const storage = await start(named, { '1.sql': files['1.sql'] })
  assert.is(await found(storage, membersOf(named), 'one'), 1)
  await storage.close()
  await migrate(named, { ...files, '2.sql': `update members set born = 'two' where id = 2` })
  assert.equal(await born(), ['one', 'two', 'three'])
})

test('a file that leaves a reference to no row is undone', async () => {
  const before = registryWith({ ...names, team_id: integer({ references: 'teams', filter: true }) })
  const { refused, run } = await databaseWith(before, three, [{ id: 7, name: 'north' }])
  const message = await refused(before, { '1.sql': 'update members set team_id = 8 where id = 2;' })
  assert.match(message, /migrations\/1\.sql.*(?:row 2 of "members" references|violates foreign key constraint)/)
  assert.equal(await run('select count(*) as n from members where team_id is not null'), [{ n: 0 }])
})

test('statements that would leave the transaction are refused before anything runs', async () => {
  const after = registryWith({ ...names, extra: text() })
  const { refused, run } = await databaseWith(named, three)
  const message = await refused(after, {
    '1.sql': `update members set born = 'x'`,
    '2.sql': `select 1;\ncommit;\n\nvacuum;`,
  })
  assert.match(message, /migrations\/2\.sql:2: COMMIT: /)
  assert.match(message, /migrations\/2\.sql:4: VACUUM: /)
  assert.equal(await run(`select count(*) as n from members where born = 'x'`), [{ n: 0 }])
  assert.match(await run('select extra from members').then(String, String), /no such column|does not exist/)
})

test('a start is refused while a file has not run, and only warns of one that was changed or is gone', async () => {
  const { start, migrate, refused, entries } = await databaseWith(named, three)
  const files = { '1.sql': 'select 1', '2.sql': 'select 2' }
  assert.match(
    await refusedStart(start(named, files)),
    /2 files have not run on this database: migrations\/1\.sql, migrations\/2\.sql\. Run npm run migrate first\./,
  )
  await migrate(named, files)
  const changed = { '1.sql': 'select 10' }
  const warnings: string[] = []
  await (await start(named, changed, warnings)).close()
  assert.match(
    warnings.join('\n'),
    /migrations\/1\.sql was changed after it ran on this database\..*\n.*migrations\/2\.sql has run on this database, but is missing\./,
  )
  const withoutFolder: string[] = []
  await (await start(named, {}, withoutFolder)).close()
  assert.is(withoutFolder.length, 2)
  const message = await refused(named, changed)
  assert.match(message, /run: npm run migrate -- --accept 1\n.*--accept 2/s)
  assert.match(await refused(named, changed, { accepted: ['1'] }), /--accept 2/)
  assert.match(
    await refused(named, changed, { accepted: ['3'] }),
    /nothing to accept for "3"\. Those to accept are 1, 2\./,
  )
  await migrate(named, changed, { accepted: ['migrations/1.sql', '2'] })
  // Once and for good.
  assert.equal((await migrate(named, changed)).done, [])
  const quiet: string[] = []
  await (await start(named, changed, quiet)).close()
  assert.equal(quiet, [])
  assert.equal(
    (await entries()).map(({ name }) => name),
    ['1', '2'],
  )
  // A file that is back is another one, which does not run by itself.
  assert.match(await refused(named, files), /migrations\/1\.sql was changed.*migrations\/2\.sql was changed/s)
})

test('a new database counts all files as run', async () => {
  const { url, run } = await sharedDatabase()
  const files = filesIn({ '1.sql': 'this would fail', '2.sql': 'select 1' })
  const changes: string[] = []
  const opened = (event: { changes: readonly string[] }) => void changes.push(...event.changes)
  await (await openStorage(named, url, { ...options, files, opened })).close()
  assert.equal(changes, ['registry_migrations: 1, 2 in migrations/ count as run, because the database is new'])
  assert.equal(
    (await run('select name from registry_migrations order by name')).map(({ name }) => name),
    ['1', '2'],
  )
  await (await openStorage(named, url, { ...options, files })).close()
  const plan = await planStorage(named, url, 5_000, { files })
  assert.equal([plan.steps, plan.files], [[], { pending: [], wrong: [] }])
})

test('a database without such files has no table for them', async () => {
  const { run } = await databaseWith(named, three)
  assert.match(await run('select * from registry_migrations').then(String, String), /no such table|does not exist/)
})

test('a plan lists the files that have not run, and what is made before them', async () => {
  const after = registryWith({ first: text(), born: text() })
  const { url, migrate } = await databaseWith(named, three)
  const files = { '1.sql': 'update members set first = name; alter table members drop column name' }
  const plan = await planStorage(after, url, 5_000, { files: filesIn(files) })
  assert.equal(plan.files.pending, ['migrations/1.sql'])
  assert.equal(
    plan.steps.map(({ about }) => about),
    ['create the table registry_migrations', 'add to members: first'],
  )
  // The file approves the column.
  assert.not.ok(plan.differences.some(({ approval }) => approval?.startsWith('add:')))
  await migrate(after, files)
  assert.equal((await planStorage(after, url, 5_000, { files: filesIn(files) })).steps, [])
})

test('the rows that break rules are named at the end, because files pass by rules', async () => {
  const after = registryWith({ name: text({ oneOf: ['Ana Ng', 'Bo Li', 'Cy Ng'] }), born: text() })
  const { migrate } = await databaseWith(named, three)
  const { broken } = await migrate(after, { '1.sql': `update members set name = 'Eve' where id = 2` })
  assert.match(
    broken.map(({ message }) => message).join(),
    /1 row \(id 2\) has a value that breaks a rule of the field/,
  )
})

test('a file renames a table, and drops one that no resource uses', async () => {
  const moved: Registry = [
    memberIn({ fields: names, table: 'people', renamedFromTable: 'members', required: ['name'] }),
  ]
  const { migrate, start, url } = await databaseWith(named, three, [{ id: 1, name: 'north' }])
  const files = { '1.sql': 'alter table members rename to people;\ndrop table teams;' }
  await migrate(moved, files)
  const storage = await start(moved, files)
  assert.is((await servedRows(storage, membersOf(moved))).length, 3)
  assert.is(await found(storage, membersOf(moved), 'cy ng'), 1)
  await storage.close()
  const { steps, differences } = await planStorage(moved, url, 5_000)
  assert.equal([steps, differences.filter(({ isBlocking }) => isBlocking)], [[], []])
  assert.not.ok(differences.some(({ table }) => table === 'teams'))
})

test('a table that no resource uses any more stays counted for the processes that still serve it', async () => {
  const alone: Registry = [memberIn({ fields: names, required: ['name'] })]
  const { migrate, start } = await databaseWith(named, three, [{ id: 1, name: 'north' }])
  await migrate(alone, { '1.sql': `insert into teams (name) values ('south')` })
  const storage = await start(named, {})
  assert.is((await servedRows(storage, team)).length, 2)
  assert.is(await found(storage, team, 'south'), 1)
  await storage.close()
})

test('a draft has the statements that the plan refuses, and comments for the rest, and runs', async () => {
  const before = registryWith(
    { name: text({ filter: true }), age: text({ sort: true }), team_id: text(), old: text(), extra: text() },
    { required: ['name', 'old'] },
  )
  const rows = three.map(({ id, name }) => ({ id, name, age: String(id * 10), team_id: '7', old: 'o', extra: null }))
  const { url, migrate, start } = await databaseWith(before, rows, [{ id: 7, name: 'north' }])
  const after = registryWith(
    {
      title: text({ filter: true, renamedFrom: 'name' }),
      age: integer({ sort: true }),
      team_id: integer({ references: 'teams', filter: true }),
      note: text(),
    },
    { required: ['title', 'age'] },
  )
  const draft = await draftStorage(after, url, options)
  const lines = draft.split('\n')
  for (const line of [
    'alter table "members" rename column "name" to "title";',
    '-- update "members" set "note" = …;',
    'alter table "members" drop column "old";',
    '-- alter table "members" drop column "extra";',
  ])
    assert.ok(lines.includes(line), `${line}\n${draft}`)
  assert.ok(
    lines.some((line) => /^(?:alter|update).*"age"/.test(line)),
    draft,
  )
  await migrate(after, { '1.sql': draft })
  const storage = await start(after, { '1.sql': draft })
  assert.equal(
    await servedRows(storage, membersOf(after)),
    three.map(({ id, name }) => ({ title: name, age: id * 10, team_id: 7, note: null })),
  )
  await storage.close()
})

test('a draft for tables that fit has nothing to do', async () => {
  const { url } = await databaseWith(named, three)
  assert.match(await draftStorage(named, url, options), /^-- Runs once on each database.*\n$/)
})

test('a copy has the entries of its source, with the digests of its own files', async () => {
  const files = filesIn({ 'a.sql': 'select 1', 'b.sqlite.sql': 'select 2', 'b.postgres.sql': 'select 3' })
  const [a, postgres, sqlite] = ['a', 'b', 'b'].map((name, n) => {
    const file = files.filter((one) => one.name === name).at(n === 2 ? 1 : 0)
    return { name, digest: String(file?.digest), at: 'then' }
  })
  const other = { name: 'gone', digest: 'x', at: 'then' }
  const [first, second] =
    files.find(({ file }) => file.includes('postgres'))?.digest === postgres?.digest
      ? [postgres, sqlite]
      : [sqlite, postgres]
  const [onPostgres, onSqlite] = [first, second] as [typeof other, typeof other]
  assert.equal(entriesOnCopy([a as typeof other, onSqlite, other], files, ['sqlite', 'postgres']), [
    a,
    onPostgres,
    other,
  ])
  const changed = { ...onSqlite, digest: 'changed' }
  assert.equal(entriesOnCopy([changed], files, ['sqlite', 'postgres']), [changed])
})

const wrongFiles: readonly (readonly [file: string, message: RegExp])[] = [
  ['a.SQL', /migrations\/a\.SQL: is not read; a migration ends with \.sql/],
  ['a.pg.sql', /migrations\/a\.pg\.sql: ends with \.pg\.sql; write \.postgres\.sql/],
  ['a.sqlite3.sql', /write \.sqlite\.sql/],
]
for (const [file, message] of wrongFiles)
  test(`${file} is refused`, () => assert.throws(() => filesIn({ [file]: '' }), message))

test('two files of one name are refused, unless they are for different databases', () => {
  assert.throws(
    () => filesIn({ 'a.sql': '', 'a.sqlite.sql': '' }),
    /a\.sqlite\.sql: has the name of migrations\/a\.sql/,
  )
  assert.is(filesIn({ 'a.postgres.sql': '', 'a.sqlite.sql': '' }).length, 2)
})

const onServer = (name: string, work: (database: SharedDatabase) => Promise<void>) =>
  server && test(name, async () => work(await sharedDatabase()))

onServer('code in a file cannot end its transaction', async () => {
  const { refused, run } = await databaseWith(named, three)
  const message = await refused(named, {
    '1.sql': `update members set born = 'x';\ndo $$ begin commit; end $$;`,
  })
  assert.match(message, /migrations\/1\.sql:2: invalid transaction termination/)
  assert.equal(await run(`select count(*) as n from members where born = 'x'`), [{ n: 0 }])
})

onServer('a file waits for a lock of another session, and begins again', async () => {
  const { url, migrate, run } = await databaseWith(named, three)
  const session = await sessionOn(url)
  await session.query('begin; lock table members in row exclusive mode')
  const migrated = migrate(named, { '1.sql': `update members set born = coalesce(born, '') || '!'` })
  const timer = setTimeout(() => void session.end(), 1_500)
  await migrated
  clearTimeout(timer)
  assert.equal(await run('select born from members where id = 2'), [{ born: '!' }])
})

onServer('without derived objects, files run too', async () => {
  const { url, run } = await sharedDatabase()
  const plain = { ...options, derivedObjects: false }
  await (await openStorage(named, url, plain)).close()
  await run(`insert into members (name) values ('Ana')`)
  const after = registryWith({ first: text({ filter: true }), born: text() }, { required: ['first'] })
  const files = filesIn({ '1.sql': 'update members set first = name; alter table members drop column name;' })
  const command = { accepted: [], done: () => {} }
  await migrateStorage(after, url, { ...plain, files, command })
  assert.equal((await planStorage(after, url, 5_000, { derivedObjects: false, files })).steps, [])
  const storage = await openStorage(after, url, { ...plain, files })
  assert.equal(await servedRows(storage, membersOf(after)), [{ first: 'Ana', born: null }])
  await storage.close()
})

test.run()
