/** The SQLite file that a start is given: created, refused or served read-only. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { temporaryProject } from '../../support/temporaryProject.js'
import { refusal } from '../support/members.js'
import { office } from '../support/office.js'
import { officeFolder } from '../support/officeFiles.js'
import { obeyingPermissions, startAndFail, startProcess } from '../support/process.js'

const { path: folder } = temporaryFolder('files')

const test = suite('the database file')

test('the folder of the default path is created, and no other', async () => {
  const project = temporaryProject(officeFolder)
  rmSync(join(project, 'data'), { recursive: true })
  const running = await startProcess({}, { project })
  assert.is(await running.end('SIGTERM'), 0)
  assert.ok(existsSync(join(project, 'data', 'registry.sqlite')))
  const message = await refusal(office, `sqlite:${join(folder, 'new', 'first.sqlite')}`)
  assert.match(message, /cannot be used: the folder \S+\/new does not exist; create it, or correct the path$/)
  assert.not.ok(existsSync(join(folder, 'new')))
})

const closed = join(folder, 'closed')
const file = join(folder, 'file')
/** What is made in the folder, the path that a start is given, and what it says. */
const unusable: [name: string, make: () => void, path: string, message: string][] = [
  [
    'a file that this user may not read',
    () => writeFileSync(join(folder, 'secret'), 'x', { mode: 0 }),
    join(folder, 'secret'),
    'this user may not read the file; change its permissions or its owner\n',
  ],
  [
    'an empty file that is read-only',
    () => writeFileSync(join(folder, 'empty'), '', { mode: 0o444 }),
    join(folder, 'empty'),
    'the file is empty and read-only; change its permissions\n',
  ],
  [
    'a folder that this user may not write to',
    () => mkdirSync(closed, { mode: 0o555 }),
    join(closed, 'new', 'x.sqlite'),
    `this user may not write to the folder ${closed},`,
  ],
  [
    'a file instead of a folder',
    () => writeFileSync(file, ''),
    join(file, 'x.sqlite'),
    `${file} is a file, not a folder; use another path\n`,
  ],
]
for (const [name, make, path, message] of unusable) {
  test(`${name} stops the start with its own message`, async () => {
    make()
    const { code, output } = await startAndFail({ DATABASE_URL: `sqlite:${path}` }, obeyingPermissions)
    assert.is(code, 1)
    assert.match(output, /^The database [^\n]+ cannot be used: [^\n]+\n$/)
    assert.match(output, ` cannot be used: ${message}`)
  })
}

test('a read-only database is served with a warning; an incomplete one is rejected', async () => {
  const path = join(folder, 'read-only.sqlite')
  const first = await startProcess({ DATABASE_URL: `sqlite:${path}` }, obeyingPermissions)
  assert.is(await first.end('SIGTERM'), 0)
  chmodSync(path, 0o444)
  const running = await startProcess({ DATABASE_URL: `sqlite:${path}` }, obeyingPermissions)
  const warning = `The database ${path} is read-only: reads are served, and creates respond with 503.`
  assert.ok(running.messages().includes(warning))
  for (const probe of ['/readyz', '/api/v1/health']) {
    const response = await fetch(`${running.address}${probe}`)
    assert.is(((await response.json()) as { status: string }).status, 'read-only', probe)
  }
  assert.is(await running.end('SIGTERM'), 0)
  chmodSync(path, 0o644)
  // SQLite has created them with the permissions of the file.
  for (const name of ['-shm', '-wal']) rmSync(`${path}${name}`, { force: true })
  const database = new Database(path)
  database.exec('drop table registry_keys')
  database.close()
  chmodSync(path, 0o444)
  const { code, output } = await startAndFail({ DATABASE_URL: `sqlite:${path}` }, obeyingPermissions)
  assert.is(code, 1)
  assert.match(
    output,
    /cannot be used: the file is read-only and lacks what the descriptors ask for; make it writable\n$/,
  )
})

test('a folder and a file that is not a database are named, and not changed', async () => {
  const advice = /^The database .* cannot be used: it is a folder; name a file in it, such as \S+\/registry\.sqlite$/
  assert.match(await refusal(office, `sqlite:${folder}`), advice)
  const path = join(folder, 'foreign')
  const bytes = 'plain text, long enough for the header of a database file'
  writeFileSync(path, bytes)
  const message = await refusal(office, `sqlite:${path}`)
  assert.match(message, /^The database .* cannot be used: it is not an SQLite database; use another file$/)
  assert.is(readFileSync(path, 'utf8'), bytes)
})

test.run()
