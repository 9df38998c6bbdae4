/** `npm run soak`: loads the service for minutes and reports whether memory, descriptors, the WAL or latency grow. */
import { integer, runCommand } from '../support/options.js'
import { progressBar } from '../support/progress.js'
import { seedOption } from './random.js'
import { growths, type Sample, tolerances } from './samples.js'

const command = {
  name: 'npm run soak',
  about: 'Loads the service with requests of every kind for minutes and reports whether anything grows.',
  options: {
    minutes: integer('how long the load lasts', 10, { max: 10_000 }),
    // Tables of this size are read by threads too.
    rows: integer('rows in each table beforehand, besides the demo rows', 21_000, { min: 0, max: 1_000_000 }),
    seed: seedOption(),
  },
  example: 'npm run soak -- --minutes 2',
}

await runCommand(command, async ({ minutes, rows, seed }) => {
  const { soak } = await import('./soaking.js')
  console.log(`Seed ${seed}; --seed ${seed} repeats the requests.`)
  const told = progressBar('soak', minutes * 60, 'seconds')
  const { samples, asked, wrong } = await soak({ minutes, rows, seed, told })

  const cell = (value: number | string): string => String(value).padStart(14)
  const line = ({ seconds, requests, rssMb, descriptors, walMb, p99 }: Sample): string =>
    [seconds, requests, rssMb.toFixed(1), descriptors, walMb.toFixed(1), p99.toFixed(1)].map(cell).join('')
  console.log(['seconds', 'requests', 'RSS MB', 'descriptors', 'WAL MB', 'p99 ms'].map(cell).join(''))
  console.log(samples.map(line).join('\n'))
  console.log(`${asked.toLocaleString('en')} requests in ${minutes} minutes`)

  let failed = false
  for (const { name, first, last, most, grows } of growths(samples)) {
    failed ||= grows
    const verdict = grows ? 'GROWS' : 'flat'
    console.log(
      `${name}: ${first.toFixed(1)} in the first third, ${last.toFixed(1)} in the last (at most ${most.toFixed(1)}): ${verdict}`,
    )
  }
  console.log(`Tolerated: ${tolerances}; the first tenth is not looked at.`)
  for (const [what, count] of wrong) console.error(`${count} times: ${what}`)
  process.exit(failed || wrong.size > 0 ? 1 : 0)
})
