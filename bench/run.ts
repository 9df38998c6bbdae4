/** `npm run bench`: measures the service beside its peers and writes docs/benchmarks.md, or the report on PostgreSQL. */
import { flag, integer, runCommand } from '../support/options.js'

const command = {
  name: 'npm run bench',
  about: 'Measures the service beside its peers, and writes docs/benchmarks.md or docs/benchmarks-postgres.md.',
  options: {
    postgres: flag('measure on PostgreSQL instead of SQLite'),
    rows: integer('rows of the large table', 1_000_000, { min: 1_000, max: 100_000_000 }),
    rounds: integer('rounds of each measurement; the median counts', 5, { max: 1_000 }),
    seconds: integer('how long each measurement lasts', 4, { max: 3_600 }),
  },
  example: 'npm run bench -- --rows 100000 --rounds 3 --seconds 2',
}

await runCommand(command, async (options) => (await import('./benchmarks.js')).runBenchmarks(options))
