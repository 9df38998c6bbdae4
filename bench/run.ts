/** `npm run bench`: measures the service beside its peers and writes docs/benchmarks.md, or the report on PostgreSQL. */
import { flag, runCommand, wholeNumber } from '../support/options.js'

const command = {
  name: 'npm run bench',
  about: 'Measures the service beside its peers, and writes docs/benchmarks.md or docs/benchmarks-postgres.md.',
  options: {
    postgres: flag('measure on PostgreSQL instead of SQLite'),
    rows: wholeNumber('rows of the large table', 1_000_000, { least: 1_000, most: 100_000_000 }),
    rounds: wholeNumber('rounds of each measurement; the median counts', 5, { most: 1_000 }),
    seconds: wholeNumber('how long each measurement lasts', 4, { most: 3_600 }),
  },
  example: 'npm run bench -- --rows 100000 --rounds 3 --seconds 2',
}

await runCommand(command, async (options) => (await import('./benchmarks.js')).runBenchmarks(options))
