/** `npm run fuzz -- --cases 200000 [--rows 45000] [--seed N]`: requests by chance, until one is answered wrongly. */
import { progressBar } from '../support/progress.js'
import { fuzz } from './fuzzing.js'
import { numbersFrom } from './options.js'
import { anySeed } from './random.js'

const { cases, rows, seed } = numbersFrom({ cases: 200_000, rows: 100, seed: anySeed() })
console.log(`Seed ${seed}: the same requests again with --seed ${seed} and the same --rows.`)
try {
  await fuzz({ cases, seed, rows, told: progressBar('fuzz', cases, 'cases') })
  console.log(`${cases.toLocaleString('en')} cases, and every answer was the one it had to be.`)
} catch (error) {
  console.error((error as Error).message)
  process.exit(1)
}
