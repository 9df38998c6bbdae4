/** `npm run bench`: compares the service with its peers and writes its section of docs/benchmarks.md. */
import { flag, integer, runCommand } from '../support/options.js'

const command = {
  name: 'npm run bench',
  about: 'Compares the service with its peers, and writes its section of docs/benchmarks.md.',
  options: {
    postgres: flag('measure on PostgreSQL instead of SQLite'),
    rows: integer('rows of the large table', 1_000_000, { min: 1_000, max: 100_000_000 }),
    rounds: integer('rounds of each measurement; the report has the median', 5, { max: 1_000 }),
    seconds: integer('seconds per measurement', 4, { max: 3_600 }),
  },
  example: 'npm run bench -- --rows 100000 --rounds 3 --seconds 2',
}

await runCommand(command, async (options) => (await import('./benchmarks.js')).runBenchmarks(options))
