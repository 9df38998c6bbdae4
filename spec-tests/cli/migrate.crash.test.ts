/** `migrate` as a process: it is killed in the middle of files, and another one waits for it. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createService } from '../../engine/service.js'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { whileLocked } from '../../engine/storage/sqlite/lockFile.js'
import { spawnChild } from '../../support/cleanup.js'
import { main } from '../../support/root.js'
import { temporaryProject } from '../../support/temporaryProject.js'
import { type SharedDatabase, server, sessionOn, sharedDatabase } from '../support/database.js'
import { startAndFail } from '../support/process.js'
import { until } from '../support/until.js'

const resource = (
  fields: string,
  required: string,
) => `import { defineResource, integer, text } from 'resource-registry-engine'
export default defineResource({
  name: 'Person', plural: 'People', area: 'Test', table: 'people',
  fields: { ${fields} }, required: [${required}], create: true,
})
`

/** The last file takes as long as the table `pace` of another program says. */
const files = {
  'migrations/1.sql': 'update people set first_name = name;',
  'migrations/2.sql': `update people set last_name = 'two', born = upper(born);
with recursive n (i) as (select 1 union all select i + 1 from n where i < (select steps from pace)) select count(*) from n;
alter table people drop column name;`,
}

const projectWith = (texts: Readonly<Record<string, string>>): string => {
  const folder = temporaryProject()
  for (const name of ['resources', 'migrations']) mkdirSync(join(folder, name))
  for (const [file, text] of Object.entries(texts)) writeFileSync(join(folder, file), text)
  return folder
}

const [formerFields, newFields] = [
  'name: text({ filter: true }), born: text()',
  'first_name: text({ filter: true }), last_name: text(), level: integer({ default: 3 }), born: text()',
]
const former = projectWith({ 'resources/people.ts': resource(formerFields, "'name'") })
const project = projectWith({ 'resources/people.ts': resource(newFields, "'first_name', 'level'"), ...files })

const rows = 300

/** A database of the former fields with rows, and how fast the last file is. */
const databaseWith = async (steps: number): Promise<SharedDatabase> => {
  const database = await sharedDatabase()
  const service = await createService({
    folder: former,
    settings: { DATABASE_URL: database.url, DEMO_DATA: 'false', LOG_LEVEL: 'error' },
  })
  await service.close()
  await database.run('create table pace (steps bigint)')
  await database.run(`insert into pace values (${steps})`)
  await database.run(
    `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${rows})
      insert into people (name, born) select 'Person ' || i, 'somewhere' from n`,
  )
  return database
}

const start = ({ url: DATABASE_URL }: SharedDatabase, ...args: string[]) => {
  const { PATH, HOME } = process.env
  const child = spawnChild(process.execPath, [main, 'migrate', ...args], {
    cwd: project,
    env: { PATH, HOME, DATABASE_URL },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output += chunk
    })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  return { child, ended, output: () => output }
}

const migrate = async (database: SharedDatabase): Promise<string> => {
  const { ended, output } = start(database)
  assert.is(await ended, 0, output())
  return output()
}

/** Whether a file that has begun is not stored yet. */
const isInFile = async ({ url, run }: SharedDatabase): Promise<boolean> => {
  if (server)
    return (
      (
        await run(
          `select 1 from pg_stat_activity where datname = current_database() and state = 'active' and query like 'with recursive%from pace%'`,
        )
      ).length > 0
    )
  const other = new Database(url.replace('sqlite:', ''), { timeout: 0 })
  try {
    other.exec('begin immediate; rollback')
    return false
  } catch {
    return true
  } finally {
    other.close()
  }
}

/** What clients see once every file has run. */
const checkMigrated = async ({ url }: SharedDatabase): Promise<void> => {
  const service = await createService({
    folder: project,
    settings: { DATABASE_URL: url, DEMO_DATA: 'false', LOG_LEVEL: 'error' },
  })
  const read = async (path: string) =>
    // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
    (await (await service.fetch(new Request(`http://localhost/api/v1/${path}`))).json()) as any
  const { data, meta } = await read('people?limit=1')
  assert.equal(data, [{ id: 1, first_name: 'Person 1', last_name: 'two', level: 3, born: 'SOMEWHERE' }])
  assert.is(meta.total, rows)
  assert.is((await read('people?q=person%20299%20two')).meta.total, 1)
  await service.close()
}

const test = suite('migrate as a process')

test('killed in the middle of a file, it leaves the database as before the file, and the next one goes on', async () => {
  const database = await databaseWith(10 ** 12)
  const first = start(database)
  await until(() => first.output().includes('Done: run migrations/1.sql.'))
  await until(() => isInFile(database))
  first.child.kill('SIGKILL')
  await first.ended
  const refused = await startAndFail({ DATABASE_URL: database.url }, { project })
  assert.is(refused.code, 1)
  assert.match(refused.output, /migrations\/2\.sql has not run on this database\. Run npm run migrate first\./)
  assert.equal(await database.run('select name, first_name, last_name, born from people where id = 7'), [
    { name: 'Person 7', first_name: 'Person 7', last_name: null, born: 'somewhere' },
  ])
  await database.run('update pace set steps = 10')
  const output = await migrate(database)
  assert.not.match(output, /run migrations\/1\.sql/)
  assert.match(output, /^Done: run migrations\/2\.sql\.$/m)
  await checkMigrated(database)
})

test('killed at any other moment, the next one ends where it would have ended', async () => {
  for (const pause of [0.4, 0.6, 0.8, 1, 1.3, 1.7]) {
    const database = await databaseWith(50_000)
    const { child, ended } = start(database)
    await delay(pause * 1_000)
    child.kill('SIGKILL')
    await ended
    await migrate(database)
    await checkMigrated(database)
  }
})

/** Holds what `migrate` holds while it runs. */
const whileMigrating = async ({ url }: SharedDatabase, work: () => Promise<void>): Promise<void> => {
  if (!server) return whileLocked(`${url.replace('sqlite:', '')}.migrating`, () => {}, work)
  const session = await sessionOn(url)
  await session.query('select pg_advisory_lock(7238116901)')
  await work().finally(() => session.end())
}

test('of two at once, one waits with a message, and finds nothing to do', async () => {
  const database = await databaseWith(10)
  const both: ReturnType<typeof start>[] = []
  await whileMigrating(database, async () => {
    both.push(start(database), start(database))
    const isWaiting = () =>
      both.every(({ output }) => output().includes('Another process migrates the database; waiting for it.'))
    await until(isWaiting)
  })
  for (const { ended, output } of both) assert.is(await ended, 0, output())
  const outputs = both.map(({ output }) => output())
  for (const file of ['1', '2'])
    assert.is(outputs.filter((output) => output.includes(`Done: run migrations/${file}.sql.`)).length, 1)
  assert.is(outputs.filter((output) => output.includes('The database is up to date.')).length, 1)
  await checkMigrated(database)
})

if (!server)
  test('an SQLite file is copied before the first file, and no lock is left', async () => {
    const database = await databaseWith(10)
    const output = await migrate(database)
    const [, copy = ''] = /^Saved the database in (\S+)\.$/m.exec(output) ?? []
    const saved = new Database(copy, { readonly: true })
    assert.equal(saved.prepare(`select name from pragma_table_info('people')`).pluck().all(), ['id', 'name', 'born'])
    saved.close()
    const folder = join(database.url.replace('sqlite:', ''), '..')
    assert.not.ok(readdirSync(folder).some((name) => name.endsWith('.migrating')))
    assert.not.match(await migrate(database), /Saved the database/)
  })

test.run()
