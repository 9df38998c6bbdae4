/** The pieces of SQLite's search index, which every commit adds to. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../support/cleanup.js'
import { startService } from './support/service.js'

const { path: folder } = temporaryFolder('tidying')
const path = join(folder, 'shared.sqlite')
const one = await startService({ url: `sqlite:${path}` })
const stranger = new Database(path)

const test = suite('tidying the search index')

test('the pieces of a search index are merged when there is time, and what is found stays the same', async () => {
  const many = 3_000
  const insert = stranger.prepare('insert into departments (name) values (?)')
  // A commit for each few rows leaves as many pieces as it can.
  for (let n = 0; n < many; n += 100) {
    stranger.transaction(() => {
      for (let row = n; row < n + 100; row++) insert.run(`Row ${row} Piecemeal`)
    })()
  }
  const structure = stranger.prepare('select length(block) from registry_departments_search_data where id = 10').pluck()
  const before = structure.get() as number
  for (let tries = 0; tries < 200 && (structure.get() as number) >= before; tries++) await setTimeout(100)
  assert.ok((structure.get() as number) < before)
  assert.is((await one.get('/v1/departments?q=piecemeal')).body.meta.total, many)
  assert.is((await one.get('/v1/departments?q=row%202999%20piece')).body.meta.total, 1)
})

test.after(() => {
  stranger.close()
  rmSync(folder, { recursive: true })
})
test.run()
