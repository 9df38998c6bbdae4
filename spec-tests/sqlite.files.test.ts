/** The file that SQLite's database is: made with its folder, and left alone where it is something else. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../support/cleanup.js'
import { startAndFail, startProcess } from '../support/process.js'

const { path: folder } = temporaryFolder('files')
chmodSync(folder, 0o777)

const test = suite('the file of the database')

test('it is made together with the folder it is in', async () => {
  const path = join(folder, 'new', 'folder', 'first.sqlite')
  const running = await startProcess({ DATABASE_URL: `sqlite:${path}` })
  assert.is(await running.end('SIGTERM'), 0)
  assert.ok(existsSync(path))
})

/** Nobody refuses anything to root, who has to become somebody else first. */
const asUser = process.getuid?.() === 0 ? { uid: 65_534 } : {}

const unusable: [what: string, make: (path: string) => void, says: RegExp][] = [
  ['a folder', (path) => mkdirSync(path), /it is a folder; name a file in it, such as \S+\/workforce\.sqlite\n$/],
  [
    'a file that this user may not read',
    (path) => {
      writeFileSync(path, 'x')
      chmodSync(path, 0)
    },
    /this user may not read the file; change its permissions or its owner\n$/,
  ],
  [
    'an empty file that is read-only',
    (path) => {
      writeFileSync(path, '')
      chmodSync(path, 0o444)
    },
    /the file is empty and read-only; change its permissions\n$/,
  ],
]
for (const [what, make, says] of unusable) {
  test(`${what} ends the start with a line of its own`, async () => {
    const path = join(folder, what.replaceAll(' ', '-'))
    make(path)
    const { code, output } = await startAndFail({ DATABASE_URL: `sqlite:${path}` }, asUser)
    assert.is(code, 1)
    assert.match(output, /^The database [^\n]+ cannot be used: [^\n]+\n$/)
    assert.match(output, says)
  })
}

test('a folder that this user may not write to, and a file in the place of a folder, are named', async () => {
  const closed = join(folder, 'closed')
  mkdirSync(closed)
  chmodSync(closed, 0o555)
  const { code, output } = await startAndFail({ DATABASE_URL: `sqlite:${join(closed, 'new', 'x.sqlite')}` }, asUser)
  assert.is(code, 1)
  assert.match(output, new RegExp(`cannot be used: this user may not write to the folder ${closed},[^\\n]+\\n$`))
  const file = join(folder, 'file')
  writeFileSync(file, '')
  const other = await startAndFail({ DATABASE_URL: `sqlite:${join(file, 'x.sqlite')}` }, asUser)
  assert.match(other.output, new RegExp(`cannot be used: ${file} is a file, not a folder; name another path\\n$`))
})

test('a database that is read-only is served with a warning; one that lacks something is refused', async () => {
  const path = join(folder, 'read-only.sqlite')
  const first = await startProcess({ DATABASE_URL: `sqlite:${path}` }, asUser)
  assert.is(await first.end('SIGTERM'), 0)
  chmodSync(path, 0o444)
  const running = await startProcess({ DATABASE_URL: `sqlite:${path}` }, asUser)
  const warning = `The database ${path} is read-only: reads are served, and creates respond with 503.`
  assert.ok(running.messages().includes(warning))
  assert.is(await running.end('SIGTERM'), 0)
  chmodSync(path, 0o644)
  const database = new Database(path)
  database.exec('drop table registry_keys')
  database.close()
  chmodSync(path, 0o444)
  const { code, output } = await startAndFail({ DATABASE_URL: `sqlite:${path}` }, asUser)
  assert.is(code, 1)
  assert.match(
    output,
    /cannot be used: the file is read-only and lacks what the descriptors ask for; make it writable\n$/,
  )
})

test('a file that is no database ends the start, its bytes untouched', async () => {
  const path = join(folder, 'foreign')
  const bytes = 'something else entirely, and long enough to be looked at'
  writeFileSync(path, bytes)
  const { code, output } = await startAndFail({ DATABASE_URL: `sqlite:${path}` })
  assert.is(code, 1)
  assert.match(output, /^The database .* cannot be used: .*not a database.*\n$/)
  assert.is(readFileSync(path, 'utf8'), bytes)
})

test.run()
