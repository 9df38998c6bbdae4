/** `npm run soak`: loads the service for minutes and reports whether memory, open files, the WAL or latency grow. */

import { progressBar } from '../engine/process/progress.js'
import { integer, runCommand } from '../support/options.js'
import { growths, limitsText, type Sample } from './processSamples.js'
import { seedOption } from './random.js'

const command = {
  name: 'npm run soak',
  about:
    'Loads the service with requests of every kind for minutes and reports growth of memory, open files, WAL and latency.',
  options: {
    minutes: integer('duration of the load', 10, { max: 10_000 }),
    // Enough rows for some reads to run in worker threads.
    rows: integer('rows in each table, in addition to the demo rows', 21_000, { min: 0, max: 1_000_000 }),
    seed: seedOption(),
  },
  example: 'npm run soak -- --minutes 2',
}

await runCommand(command, async ({ minutes, rows, seed }) => {
  const { soakTest } = await import('./soakTest.js')
  console.log(`Seed ${seed}; --seed ${seed} repeats the requests.`)
  const onProgress = progressBar('soak', minutes * 60, 'seconds')
  const { samples, requests: total, errors } = await soakTest({ minutes, rows, seed, onProgress })

  const cell = (value: number | string): string => String(value).padStart(14)
  const line = ({ seconds, requests, rssMb, descriptors, walMb, p99 }: Sample): string =>
    [seconds, requests, rssMb.toFixed(1), descriptors, walMb.toFixed(1), p99.toFixed(1)].map(cell).join('')
  console.log(['seconds', 'requests', 'RSS MB', 'open files', 'WAL MB', 'p99 ms'].map(cell).join(''))
  console.log(samples.map(line).join('\n'))
  console.log(`${total.toLocaleString('en')} requests in ${minutes} minutes`)

  let failed = false
  for (const { name, first, last, limit, grows } of growths(samples)) {
    failed ||= grows
    const verdict = grows ? 'GROWS' : 'flat'
    console.log(
      `${name}: ${first.toFixed(1)} in the first third, ${last.toFixed(1)} in the last (limit ${limit.toFixed(1)}): ${verdict}`,
    )
  }
  console.log(`Limits: ${limitsText}; the first tenth of the samples is ignored.`)
  for (const [message, count] of errors) console.error(`${count} times: ${message}`)
  process.exit(failed || errors.size > 0 ? 1 : 0)
})
