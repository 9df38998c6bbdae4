/** Runs a few rounds of the crash test with a fixed seed; `npm run torture` runs more with other seeds. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { crashTest } from '../../stress/crashTest.js'
import { creatable } from '../../stress/service.js'

const seed = 20_260_101

const run = suite('torture')
// It kills the service during creates.
const test = creatable.length > 0 ? run : run.skip

test(`an acknowledged row survives a crash, unchanged and once (seed ${seed})`, async () => {
  const { rounds, acknowledged, failures } = await crashTest({ rounds: 4, workers: 1, seed, onProgress: () => {} })
  assert.equal(failures, [])
  assert.is(rounds, 4)
  assert.ok(acknowledged > 0)
})

run.run()
