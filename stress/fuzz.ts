/** `npm run fuzz`: sends random requests and stops at the first wrong response. */

import { progressBar } from '../engine/process/progress.js'
import { CommandError, defineCommand, integer, runCommand } from '../support/options.js'
import { seedOption } from '../support/random.js'
import { openDatabases, postgresOption } from './databases.js'

const command = {
  name: 'fuzz',
  about: 'Sends random requests to the service and checks every response against the OpenAPI document and an oracle.',
  options: {
    cases: integer('number of requests', 200_000),
    rows: integer('rows in each table, in addition to the demo rows', 100, { min: 0, max: 1_000_000 }),
    postgres: postgresOption,
    seed: seedOption(),
  },
  example: '--cases 5000 --rows 45000 --seed 7',
}

await runCommand(
  defineCommand(command, async ({ cases, rows, postgres, seed }) => {
    const { fuzz } = await import('./fuzzer.js')
    console.log(`Seed ${seed}; --seed ${seed} with the same --rows repeats the requests.`)
    const { newDatabase, close } = await openDatabases(postgres)
    await fuzz({ url: await newDatabase(), cases, seed, rows, onProgress: progressBar('fuzz', cases, 'cases') }).catch(
      (error: Error) => {
        throw new CommandError(error.message)
      },
    )
    await close()
    console.log(`${cases.toLocaleString('en')} requests, all with the right response.`)
  }),
)
