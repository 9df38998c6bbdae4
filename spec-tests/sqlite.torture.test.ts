/** Crashes in the middle of creates, a few of them at each run; `npm run torture` does as many as one likes. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { crash } from '../stress/crashes.js'
import { anySeed } from '../stress/random.js'

const test = suite('torture')

test('what was acknowledged outlives a crash, whole and once', async () => {
  const seed = anySeed()
  const { rounds, acknowledged, faults } = await crash({ rounds: 4, workers: 1, seed, told: () => {} })
  assert.equal(faults, [], `with the seed ${seed}`)
  assert.is(rounds, 4)
  assert.ok(acknowledged > 0)
})

test.run()
