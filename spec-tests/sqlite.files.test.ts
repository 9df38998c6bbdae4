/** The file that SQLite's database is: made with its folder, and left alone where it is something else. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startAndFail, startProcess } from '../support/process.js'

const folder = mkdtempSync(join(tmpdir(), 'files-'))

const test = suite('the file of the database')

test('it is made together with the folder it is in', async () => {
  const path = join(folder, 'new', 'folder', 'first.sqlite')
  const running = await startProcess({ DATABASE_URL: `sqlite:${path}` })
  assert.is(await running.end('SIGTERM'), 0)
  assert.ok(existsSync(path))
})

test('a folder in its place ends the start with a clear line', async () => {
  const { code, output } = await startAndFail({ DATABASE_URL: `sqlite:${folder}` })
  assert.is(code, 1)
  assert.match(output, /^The database .* cannot be used: .*\n$/)
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

test.after(() => rmSync(folder, { recursive: true }))
test.run()
