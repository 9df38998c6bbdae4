/** Backups of a database in use: complete, checked, and never over another file. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { callCommand } from '../support/callCommand.js'
import { officeFile } from '../support/officeFiles.js'
import { startProcess } from '../support/process.js'

const { path: folder } = temporaryFolder('backup')
const DATABASE_URL = `sqlite:${join(folder, 'served.sqlite')}`
const API_TOKEN = 'a-token-of-some-length'
const command = officeFile('cli/backup.js')
const backup = (file: string, url = DATABASE_URL) => callCommand(command, [file], { DATABASE_URL: url })

const test = suite('backups')

test('during creates, each backup is intact and has every row acknowledged before it started', async () => {
  const running = await startProcess({ DATABASE_URL, API_TOKEN })
  const headers = { authorization: `Bearer ${API_TOKEN}`, 'content-type': 'application/json' }
  const acknowledged: number[] = []
  const clients = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads')
     const { address, headers } = workerData
     let stopped = false
     parentPort.on('message', () => { stopped = true })
     const run = async () => {
       while (!stopped) {
         const response = await fetch(address, { method: 'POST', headers, body: '{"leave_type":"Annual"}' })
         parentPort.postMessage((await response.json()).id)
       }
     }
     Promise.all([run(), run(), run(), run()]).then(() => parentPort.close())`,
    { eval: true, workerData: { address: `${running.address}/api/v1/leave`, headers } },
  )
  clients.on('message', (id: number) => acknowledged.push(id))
  const ended = new Promise((resolve) => clients.once('exit', resolve))
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
  clients.postMessage('stop')
  await ended
  assert.is(await running.end('SIGTERM'), 0)
})

test('the service starts on a backup', async () => {
  const restored = await startProcess({ DATABASE_URL: `sqlite:${join(folder, 'copy-0.sqlite')}` })
  const { meta } = (await (await fetch(`${restored.address}/api/v1/leave?limit=1`)).json()) as {
    meta: { total: number }
  }
  assert.ok(meta.total >= 290)
  assert.is(await restored.end('SIGTERM'), 0)
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
