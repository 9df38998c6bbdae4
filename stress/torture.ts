/** `npm run torture`: kills the service while it works, restarts it, and looks for lost or damaged rows. */
import { integer, runCommand } from '../support/options.js'
import { progressBar } from '../support/progress.js'
import { median } from '../support/statistics.js'
import { seedOption } from './random.js'

const command = {
  name: 'npm run torture',
  about: 'Kills the service in the middle of creates, restarts it, and looks for lost or damaged rows.',
  options: {
    rounds: integer('how often it is killed', 100),
    workers: integer('processes of the service', 1, { max: 64 }),
    // A restart is meant to take a second; on a machine that is busy with other things it may take this long.
    restart: integer('the most milliseconds that a restart may take', 5_000),
    seed: seedOption(),
  },
  example: 'npm run torture -- --rounds 1000 --workers 2',
}

await runCommand(command, async ({ rounds, workers, restart, seed }) => {
  const { crash } = await import('./crashes.js')
  console.log(`Seed ${seed}; --seed ${seed} repeats the choices, but not the exact moment of each kill.`)
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
})
