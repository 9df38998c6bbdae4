/** Requests by chance, a few thousand at each run; `npm run fuzz` makes as many as one likes. */
import { suite } from 'uvu'
import { fuzz } from '../stress/fuzzing.js'
import { anySeed } from '../stress/random.js'

const test = suite('fuzz')

test('whatever is sent, every answer is documented and true to the rows', async () => {
  // The seed is in the message of a failure.
  await fuzz({ cases: 3_000, seed: anySeed(), rows: 100, told: () => {} })
})

test.run()
