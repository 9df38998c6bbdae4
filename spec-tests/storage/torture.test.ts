/** Runs a few rounds of the crash test with a fixed seed; `npm run torture` runs more with other seeds. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { crashTest } from '../../stress/crashTest.js'
import { freshUrl } from '../support/database.js'

const seed = 20_260_101

const test = suite('torture')

test(`after a crash, rows are old or new, and what was acknowledged holds (seed ${seed})`, async () => {
  const options = { rounds: 4, workers: 1, seed, newDatabase: freshUrl, onProgress: () => {} }
  const { rounds, acknowledged, failures } = await crashTest(options)
  assert.equal(failures, [])
  assert.is(rounds, 4)
  assert.ok(acknowledged > 0)
})

test.run()
