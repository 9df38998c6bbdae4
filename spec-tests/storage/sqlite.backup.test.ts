/** Backups of a database in use: complete, checked, and never over another file. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { callCommand } from '../support/callCommand.js'
import { inOffice, startOffice } from '../support/office.js'
import { startProcess } from '../support/process.js'
import { token } from '../support/service.js'

const { path: folder } = temporaryFolder('backup')
const DATABASE_URL = `sqlite:${join(folder, 'served.sqlite')}`
const backup = (file: string, url = DATABASE_URL) => callCommand('backup', [file], { DATABASE_URL: url })

const test = suite('backups')

test('during creates, each backup is intact and has every row acknowledged before it started', async () => {
  const running = await startProcess({ DATABASE_URL, API_TOKEN: token })
  const acknowledged: number[] = []
  let isOver = false
  const clients = [1, 2, 3, 4].map(async () => {
    while (!isOver) acknowledged.push((await running.create('leave', { leave_type: 'Annual' })).body.id)
  })
  for (let n = 0; n < 3; n++) {
    const before = acknowledged.length
    while (acknowledged.length < before + 50) await setTimeout(10)
    const known = [...acknowledged]
    const file = join(folder, `copy-${n}.sqlite`)
    const { status, stdout, stderr } = await backup(file)
    assert.is(status, 0, stderr)
    assert.match(stdout, /and checked its integrity/)
    const copy = new Database(file, { readonly: true })
    const has = copy.prepare('select 1 from leave_requests where id = ?')
    for (const id of known) assert.ok(has.get(id), `row ${id} is missing`)
    assert.equal(copy.pragma('foreign_key_check'), [])
    copy.close()
  }
  isOver = true
  await Promise.all(clients)
  assert.is(await running.end('SIGTERM'), 0)
})

test('the service starts on a backup', async () => {
  const restored = await startOffice({ url: `sqlite:${join(folder, 'copy-0.sqlite')}` })
  assert.ok((await restored.get('/v1/leave?limit=1')).body.meta.total >= inOffice('leave').demo.length + 50)
})

test('existing files are not overwritten, and errors are one line', async () => {
  const existing = join(folder, 'existing')
  writeFileSync(existing, 'mine')
  for (const [file, url] of [
    ...[existing, '', '-x', '--help-me', join(folder, 'missing', 'folder', 'new')].map((name) => [name] as const),
    [join(folder, 'new'), `sqlite:${join(folder, 'none.sqlite')}`],
    [join(folder, 'new'), 'sqlite::memory:'],
  ] as const) {
    const { status, stderr } = await backup(file, url)
    assert.ok(status, stderr)
    assert.match(stderr, /^[^\n]+\n$/)
  }
  assert.not.ok(existsSync(join(folder, 'new')))
  assert.not.ok(existsSync(join(folder, 'none.sqlite')))
  assert.is(readFileSync(existing, 'utf8'), 'mine')
})

test.run()
