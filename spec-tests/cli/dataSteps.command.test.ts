/** Files of `migrations/` on the command line: check, plan, migrate, seed and copy. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../../support/cleanup.js'
import { temporaryProject } from '../../support/temporaryProject.js'
import { callCommand } from '../support/callCommand.js'
import { freshUrl, runOn, server, sharedDatabase } from '../support/database.js'

const people = (fields: string) => `import { defineResource, text } from 'resource-registry-engine'
export default defineResource({
  name: 'Person', plural: 'People', area: 'Test', table: 'people',
  fields: { ${fields} }, required: [], create: true,
})
`

const projectWith = (fields: string, files: Readonly<Record<string, string>>): string => {
  const folder = temporaryProject()
  for (const name of ['resources', 'seeds', 'migrations']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'resources', 'people.ts'), people(fields))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'migrations', name), text)
  return folder
}

const write = (folder: string, name: string, text: string) => writeFileSync(join(folder, 'migrations', name), text)

/** A project whose resource has changed since its database was filled. */
const changedProject = async (files: Readonly<Record<string, string>>) => {
  const database = await sharedDatabase()
  const environment = { DATABASE_URL: database.url }
  const former = projectWith('name: text({ filter: true })', {})
  writeFileSync(join(former, 'seeds', 'people.json'), '[{ "id": 1, "name": "Ana Ng" }, { "id": 2, "name": "Bo Li" }]')
  const seeded = await callCommand('seed', ['--demo', 'people'], environment, former)
  assert.is(seeded.status, 0, seeded.stderr)
  const folder = projectWith('title: text(), name: text({ filter: true })', files)
  return {
    ...database,
    folder,
    call: (name: string, ...args: string[]) => callCommand(name, args, environment, folder),
  }
}

const test = suite('files of migrations/ on the command line')

test('check names the lines of statements that cannot run, and a database on which a file has not run', async () => {
  const { call, folder } = await changedProject({ '1.sql': `select 1;\ncommit` })
  const checked = await call('check')
  assert.is(checked.status, 1)
  assert.match(checked.stdout, /^migrations\/1\.sql:2:1: COMMIT: .*\n {4}commit\n {4}\^$/m)
  write(folder, '1.sql', 'select 1')
  assert.is((await call('check')).status, 0)
  const compared = await call('check', '--database')
  assert.match(compared.stdout, /^migrations\/1\.sql: has not run on the database; run npm run migrate$/m)
  assert.is(compared.status, 1)
})

test('plan and migrate say what happens', async () => {
  const { call, folder } = await changedProject({ '1.sql': 'update people set title = name' })
  const planned = await call('plan', '--check')
  assert.is(planned.status, 1)
  assert.match(
    planned.stdout,
    /npm run migrate makes these changes first:\n {2}- create the table registry_migrations\n {2}- add to people: title\n\nA start is refused until npm run migrate has run these files:\n {2}- migrations\/1\.sql/,
  )
  const refused = await call('seed', '--rows', '1', '--resource', 'people')
  assert.match(refused.stderr, /migrations\/1\.sql has not run on this database\. Run npm run migrate first\./)
  // What a file approves may be given too.
  const migrated = await call('migrate', '--apply', 'add:people.title')
  assert.is(migrated.status, 0, migrated.stderr)
  assert.match(migrated.stdout, /Done: add to people: title\.\nDone: run migrations\/1\.sql\.\n/)
  assert.is((await call('plan', '--check')).status, 0)
  write(folder, '1.sql', 'update people set title = upper(name)')
  assert.match((await call('plan')).stdout, /migrations\/1\.sql was changed .*npm run migrate -- --accept 1/)
  assert.match((await call('migrate')).stderr, /migrations\/1\.sql was changed after it ran.*--accept 1/)
  assert.is((await call('migrate', '--accept', '1')).status, 0)
  assert.is((await call('migrate')).status, 0)
})

test('when a file fails, the files before it stay applied, and the output names both', async () => {
  const { call } = await changedProject({
    '1.sql': 'update people set title = name',
    '2.sql': '\nupdate nobody set x = 1',
  })
  const failed = await call('migrate')
  assert.is(failed.status, 1)
  assert.match(failed.stdout, /Done: run migrations\/1\.sql\./)
  assert.match(failed.stderr, /migrations\/2\.sql:2: .*nobody.* Nothing of the file was stored\./)
})

const wrongDrafts: readonly (readonly [args: string[], message: RegExp])[] = [
  [['--draft', 'a/b'], /--draft is "a\/b", but it must be letters, digits/],
  [['--draft', 'a', '--recount'], /--draft changes nothing; give it alone/],
]
for (const [args, message] of wrongDrafts)
  test(`migrate ${args.join(' ')} is refused`, async () => {
    const { call } = await changedProject({})
    const { status, stderr } = await call('migrate', ...args)
    assert.match(stderr, message)
    assert.is(status, 2)
  })

test('a draft does not replace a file', async () => {
  const { call, folder } = await changedProject({})
  assert.is((await call('migrate', '--draft', 'title')).status, 0)
  assert.match((await call('migrate', '--draft', 'title')).stderr, /There is migrations\/\S+-title\.sql already/)
  assert.is(readdirSync(join(folder, 'migrations')).length, 1)
})

test('a copy takes the entries along', async () => {
  const { call, folder, run, url } = await changedProject({ '1.sql': 'update people set title = name' })
  const [other, own] = server ? ['sqlite', 'postgres'] : ['postgres', 'sqlite']
  write(folder, `2.${own}.sql`, 'select 2')
  write(folder, `2.${other}.sql`, 'select 3')
  assert.is((await call('migrate')).status, 0)
  const source = await run('select name, digest, at from registry_migrations order by name')
  const target = await freshUrl()
  const copied = await callCommand('copy', ['--from', url, '--to', target], {}, folder)
  assert.is(copied.status, 0, copied.stderr)
  const planned = await callCommand('plan', ['--check'], { DATABASE_URL: target }, folder)
  assert.is(planned.status, 0, planned.stdout)
  // Once more, to the file of another database.
  const file = `sqlite:${join(temporaryFolder('copied').path, 'copy.sqlite')}`
  assert.is((await callCommand('copy', ['--from', target, '--to', file], {}, folder)).status, 0)
  const onFile = await callCommand('plan', ['--check'], { DATABASE_URL: file }, folder)
  assert.is(onFile.status, 0, onFile.stdout)
  assert.not.match(onFile.stdout, /changed|missing/)
  if (server)
    assert.equal(await runOn(target, 'select name, digest, at from registry_migrations order by name'), source)
  // A file that is missing is so in the copy too.
  rmSync(join(folder, 'migrations', '1.sql'))
  assert.match(
    (await callCommand('migrate', [], { DATABASE_URL: file }, folder)).stderr,
    /migrations\/1\.sql has run on this database, but is missing/,
  )
})

test.run()
