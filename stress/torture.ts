/** `npm run torture`: kills the service during writes, restarts it, and checks for lost or damaged rows. */

import { progressBar } from '../engine/process/progress.js'
import { defineCommand, integer, runCommand } from '../support/options.js'
import { seedOption } from '../support/random.js'
import { median } from '../support/statistics.js'
import { openDatabases, postgresOption } from './databases.js'

const command = {
  name: 'torture',
  about:
    'Kills the service while clients create, update and delete rows, restarts it, and checks for lost or damaged rows.',
  options: {
    rounds: integer('number of kills', 100),
    workers: integer('worker processes of the service', 1, { max: 64 }),
    // A restart takes about a second, but longer on a busy machine.
    restart: integer('longest allowed restart in milliseconds', 5_000),
    postgres: postgresOption,
    seed: seedOption(),
  },
  example: '--rounds 1000 --workers 2',
}

await runCommand(
  defineCommand(command, async ({ rounds, workers, restart, postgres, seed }) => {
    const { crashTest } = await import('./crashTest.js')
    console.log(`Seed ${seed}; --seed ${seed} repeats the choices, but not the exact moment of each kill.`)
    const onProgress = progressBar('torture', rounds, 'rounds')
    const { newDatabase, keep, close } = await openDatabases(postgres)
    const result = await crashTest({ rounds, workers, seed, newDatabase, onProgress })

    const { restarts, failures } = result
    const slowest = Math.max(...restarts)
    const count = (n: number): string => n.toLocaleString('en')
    console.log(
      [
        `${count(result.rounds)} rounds, ${workers === 1 ? 'one process' : `${workers} workers`}`,
        `${count(result.sent)} writes sent, ${count(result.acknowledged)} acknowledged before the kill`,
        `${count(result.repeated)} had no response and were repeated with their keys`,
        `${count(result.killsDuringStart)} kills during a start`,
        `ready again in ${Math.round(median(restarts))} ms (median of ${restarts.length}), ${Math.round(slowest)} ms (slowest), ${restarts.filter((ms) => ms > 1_000).length} over a second`,
      ].join('\n'),
    )
    if (slowest > restart) failures.push(`a restart took ${Math.round(slowest)} ms`)
    if (failures.length > 0) {
      console.error(`${failures.length} failures:\n${failures.slice(0, 10).join('\n')}`)
      if (!postgres && result.database !== undefined) {
        keep()
        console.error(`The database: ${result.database}`)
      }
      process.exit(1)
    }
    await close()
    console.log('No write was lost, made half or made twice, and every index matches its rows.')
  }),
)
