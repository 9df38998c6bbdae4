/** Runs the fuzzer with a fixed seed and some thousand requests; `npm run fuzz` runs more with other seeds. */
import { suite } from 'uvu'
import { fuzz } from '../../stress/fuzzer.js'
import { freshUrl } from '../support/database.js'

const seed = 20_260_101

const test = suite('fuzz')

test(`every response is documented and matches the rows (seed ${seed})`, async () => {
  await fuzz({ url: await freshUrl(), cases: 1_500, seed, rows: 100, onProgress: () => {} })
})

test.run()
