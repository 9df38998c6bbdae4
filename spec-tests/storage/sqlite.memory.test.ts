/** `sqlite::memory:`: a private temporary file for each storage, of which nothing is left. */
import { readdirSync, statSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { text } from '../../engine/descriptor/index.js'
import { openStorage } from '../../engine/storage/open.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { storageOptions } from '../../support/storageOptions.js'
import { startAndFail, startProcess } from '../support/process.js'
import { resourceIn } from '../support/registryFrom.js'

const boxes = resourceIn('boxes', { name: text() })
const url = 'sqlite::memory:'
const test = suite(url)

/** Opens it with its temporary file in a separate folder. */
const opened = async (registry = [boxes]) => {
  const folder = temporaryFolder('memory').path
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = folder
  try {
    const storage = await openStorage(registry, url, storageOptions).catch((error: Error) => error)
    return { storage, folder }
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  }
}

test('only this user may read it, no other storage has it, and it is removed at the end', async () => {
  const [one, two] = [await opened(), await opened()]
  for (const { storage, folder } of [one, two]) {
    if (storage instanceof Error) throw storage
    const [name = ''] = readdirSync(folder)
    assert.is(statSync(`${folder}/${name}`).mode & 0o777, 0o700)
    await storage.fill([{ resource: boxes, rows: [{ id: 1, name: 'a' }] }])
    assert.is((await storage.counts()).get(boxes), 1)
    await storage.close()
    assert.equal(readdirSync(folder), [])
  }
})

test('nothing is left of a start that fails', async () => {
  const { storage, folder } = await opened([resourceIn('boxes', { name: text() }, { existing: true, create: false })])
  assert.match(String(storage), /The database :memory: cannot be used: there is no database; correct DATABASE_URL/)
  assert.equal(readdirSync(folder), [])
})

test('nothing is left of a process that ends, or that exits in its start', async () => {
  const TMPDIR = temporaryFolder('memory').path
  const running = await startProcess({ DATABASE_URL: url, TMPDIR })
  assert.is(readdirSync(TMPDIR).length, 1)
  await running.end('SIGTERM')
  assert.equal(readdirSync(TMPDIR), [])
  const { code } = await startAndFail({ DATABASE_URL: url, TMPDIR, HOST: '192.0.2.1' })
  assert.is(code, 1)
  assert.equal(readdirSync(TMPDIR), [])
})

test('a missing folder for temporary files is named, with what to do', async () => {
  const { code, output } = await startAndFail({ DATABASE_URL: url, TMPDIR: '/does/not/exist' })
  assert.is(code, 1)
  assert.match(
    output,
    /^sqlite::memory: needs a temporary file, but the folder \/does\/not\/exist cannot be used \(.*\); set TMPDIR to another\.$/m,
  )
})

test.run()
