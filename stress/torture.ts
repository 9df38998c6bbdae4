/** `npm run torture -- --rounds 1000 [--workers 2] [--restart 5000] [--seed N]`: kills the service in the middle of its work and looks for losses. */
import { progressBar } from '../support/progress.js'
import { median } from '../support/statistics.js'
import { crash } from './crashes.js'
import { numbersFrom } from './options.js'
import { anySeed } from './random.js'

// A restart is meant to take a second; on a machine that is busy with other things it may take this many milliseconds.
const defaults = { rounds: 100, workers: 1, restart: 5_000, seed: anySeed() }
const { rounds, workers, restart, seed } = numbersFrom(defaults)
console.log(
  `Seed ${seed}: the same choices again with --seed ${seed}; when a kill meets the service is chance all the same.`,
)
const outcome = await crash({ rounds, workers, seed, told: progressBar('torture', rounds, 'rounds') })

const { restarts, faults } = outcome
const slowest = Math.max(...restarts)
const count = (n: number): string => n.toLocaleString('en')
console.log(
  [
    `${count(outcome.rounds)} rounds, ${workers === 1 ? 'one process' : `${workers} workers`}`,
    `${count(outcome.sent)} creates sent, ${count(outcome.acknowledged)} acknowledged before the kill`,
    `${count(outcome.unheard)} more found there, or stored by sending them again`,
    `${count(outcome.inStart)} kills while it was starting`,
    `ready again in ${Math.round(median(restarts))} ms (median of ${restarts.length}), ${Math.round(slowest)} ms (slowest), over a second: ${restarts.filter((took) => took > 1_000).length}`,
  ].join('\n'),
)
if (slowest > restart) faults.push(`a restart took ${Math.round(slowest)} ms`)
if (faults.length > 0) {
  console.error(`${faults.length} faults, the first of them:\n${faults.slice(0, 10).join('\n')}`)
  if (outcome.file !== undefined) console.error(`The file is kept: ${outcome.file}`)
  process.exit(1)
}
console.log('Nothing was lost, nothing was half there, no key made two rows, and every index agrees with its rows.')
