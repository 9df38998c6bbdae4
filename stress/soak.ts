/** `npm run soak -- --minutes 10 [--rows 21000] [--seed N]`: full load of every kind, and whether anything grows under it. */
import { progressBar } from '../support/progress.js'
import { numbersFrom } from './options.js'
import { anySeed } from './random.js'
import { growths, type Sample, tolerances } from './samples.js'
import { soak } from './soaking.js'

/** Tables of this size are read by threads too. */
const { minutes, rows, seed } = numbersFrom({ minutes: 10, rows: 21_000, seed: anySeed() })
console.log(`Seed ${seed}: the same requests again with --seed ${seed}.`)
const { samples, asked, wrong } = await soak({
  minutes,
  rows,
  seed,
  told: progressBar('soak', minutes * 60, 'seconds'),
})

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
