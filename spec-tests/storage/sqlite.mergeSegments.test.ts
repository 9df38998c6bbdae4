/** Merging the segments of SQLite's search index, to which every commit adds one. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { startOffice } from '../support/service.js'

const { path: folder } = temporaryFolder('segments')
const path = join(folder, 'shared.sqlite')
const service = await startOffice({ url: `sqlite:${path}` })
const otherProgram = new Database(path)

const test = suite('merging search segments')

test('segments are merged in idle time, and searches find the same rows', async () => {
  const rows = 3_000
  const insert = otherProgram.prepare('insert into departments (name) values (?)')
  // Small commits leave many segments.
  for (let n = 0; n < rows; n += 100) {
    otherProgram.transaction(() => {
      for (let row = n; row < n + 100; row++) insert.run(`Row ${row} Piecemeal`)
    })()
  }
  const structure = otherProgram
    .prepare('select length(block) from registry_departments_search_data where id = 10')
    .pluck()
  const before = structure.get() as number
  for (let tries = 0; tries < 200 && (structure.get() as number) >= before; tries++) await setTimeout(100)
  assert.ok((structure.get() as number) < before)
  assert.is((await service.get('/v1/departments?q=piecemeal')).body.meta.total, rows)
  assert.is((await service.get('/v1/departments?q=row%202999%20piece')).body.meta.total, 1)
})

test.after(() => {
  otherProgram.close()
  rmSync(folder, { recursive: true })
})
test.run()
