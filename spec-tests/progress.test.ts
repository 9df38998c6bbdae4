/** The progress bar: its rate, the remaining time and the last line. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { progressBar } from '../support/progress.js'

/** A progress bar with a manual clock, and its lines without the bar. */
const recorded = (total: number, unit: string, isTerminal = false) => {
  let now = 1_000_000
  const lines: string[] = []
  const report = progressBar('x', total, unit, {
    now: () => now,
    isTerminal,
    write: (text) =>
      lines.push(
        text
          .replaceAll(/[█░\r\n]/g, '')
          .replace('\u001b[K', '')
          .replace(/ {2,}/, ' '),
      ),
  })
  return {
    lines,
    at(seconds: number, done: number) {
      now = 1_000_000 + seconds * 1000
      report(done)
    },
  }
}

const test = suite('progress')

test('the rate is measured over the last ten seconds', () => {
  const { at, lines } = recorded(1_000, 'rows')
  at(0, 0)
  at(5, 500)
  at(10, 510)
  at(20, 530)
  assert.equal(lines, [
    'x 500 of 1,000 rows · 100 rows/s · 5 s left',
    'x 510 of 1,000 rows · 51 rows/s · 10 s left',
    'x 530 of 1,000 rows · 2 rows/s · 3 min 55 s left',
  ])
})

test('work done before the first report does not count', () => {
  const { at, lines } = recorded(1_000_000, 'rows')
  at(0, 900_000)
  at(5, 900_050)
  assert.equal(lines, ['x 900,050 of 1,000,000 rows · 10 rows/s · 2 h 46 min left'])
})

test('no rate is shown for less than half a second', () => {
  const { at, lines } = recorded(100, 'rows', true)
  at(0, 0)
  at(0.1, 60)
  at(0.2, 100)
  assert.equal(lines, ['x 60 of 100 rows', 'x 100 of 100 rows'])
})

test('the last line has the duration and the average rate, and nothing follows it', () => {
  const { at, lines } = recorded(100, 'rows')
  at(0, 0)
  at(4, 100)
  at(20, 120)
  assert.equal(lines, ['x 100 of 100 rows · took 4 s · 25 rows/s on average'])
})

test('seconds have no rate', () => {
  const { at, lines } = recorded(600, 'seconds')
  at(0, 0)
  at(60, 60)
  at(600, 600)
  assert.equal(lines, ['x 60 of 600 seconds · 9 min 0 s left', 'x 600 of 600 seconds · took 10 min 0 s'])
})

test('a total of zero is complete at once', () => {
  const { at, lines } = recorded(0, 'rows')
  at(0, 0)
  assert.equal(lines, ['x 0 of 0 rows'])
})

test.run()
