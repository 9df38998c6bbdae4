/** Shows the progress of long work, its rate and the time left: a redrawn line in a terminal, a line every few seconds elsewhere. */

/** The longest and the shortest bar; in a narrower terminal there is none. */
const longestBar = 30
const shortestBar = 8

/** The rate is measured over the last ten seconds; below half a second it is too inexact to show. */
const windowMs = 10_000
const minMs = 500

/** How often a terminal and any other output get a line, in milliseconds. */
const redrawMs = 100
const plainMs = 5_000

/** Fewer rows than this are processed too quickly for progress to be useful. */
const manyRows = 100_000

interface Measurement {
  readonly at: number
  readonly done: number
}

/** Where the lines go; tests replace the clock and the stream. */
interface ProgressOutput {
  readonly now: () => number
  readonly isTerminal: boolean
  /** The width of the terminal. */
  readonly columns?: number | undefined
  /** How often a line is written, in milliseconds. */
  readonly intervalMs?: number
  readonly write: (text: string, done: number) => void
}

const standardError: ProgressOutput = {
  now: () => performance.now(),
  isTerminal: process.stderr.isTTY === true,
  // 0 if the terminal does not know its size.
  columns: process.stderr.columns || undefined,
  write: (text) => void process.stderr.write(text),
}

const number = (value: number): string => {
  const maximumFractionDigits = value < 1 ? 2 : value < 10 ? 1 : 0
  return value.toLocaleString('en', { maximumFractionDigits })
}

const duration = (ms: number): string => {
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Whether a terminal shows a line that is still being redrawn. */
let isLineOpen = false

/** Ends the line that is being redrawn, so that other output does not continue it. */
export const endProgressLine = (): void => {
  if (isLineOpen) process.stderr.write('\n')
  isLineOpen = false
}

/** Returns a function that reports progress. Its first call starts the clock. */
export const progressBar = (
  name: string,
  total: number,
  unit: string,
  { now, isTerminal, columns = 80, intervalMs, write }: ProgressOutput = standardError,
): ((done: number) => void) => {
  const interval = intervalMs ?? (isTerminal ? redrawMs : plainMs)
  let first: Measurement | undefined
  let recent: Measurement[] = []
  let drawn = 0
  let isDone = false

  const rateSince = (from: Measurement, to: Measurement): number | undefined =>
    to.at - from.at >= minMs ? (to.done - from.done) / (to.at - from.at) : undefined

  const details = (current: Measurement, start: Measurement): string[] => {
    // Seconds pass at a fixed rate, which is not shown.
    const isTime = unit === 'seconds'
    if (current.done >= total) {
      const rate = rateSince(start, current)
      const took = current.at - start.at >= minMs ? [`took ${duration(current.at - start.at)}`] : []
      return rate && !isTime ? [...took, `${number(rate * 1000)} ${unit}/s on average`] : took
    }
    const since = recent.find(({ at }) => current.at - at <= windowMs) ?? recent.at(-1) ?? start
    const rate = isTime ? 1 / 1000 : rateSince(since, current)
    if (!rate) return []
    const left = `${duration((total - current.done) / rate)} left`
    return isTime ? [left] : [`${number(rate * 1000)} ${unit}/s`, left]
  }

  const lineOf = (current: Measurement, start: Measurement): string => {
    const part = total > 0 ? Math.min(1, current.done / total) : 1
    const amount = `${number(current.done)} of ${number(total)} ${unit}`
    const text = [amount, ...details(current, start)].join(' · ')
    if (!isTerminal) return `${name}: ${text}\n`
    // A line that the terminal wraps could not be redrawn.
    const width = Math.min(longestBar, columns - name.length - text.length - 3)
    const filled = Math.round(part * width)
    const bar = width < shortestBar ? '' : `${'█'.repeat(filled)}${'░'.repeat(width - filled)} `
    // ESC[K erases the rest of a longer previous line.
    return `\r${`${name} ${bar}${text}`.slice(0, columns - 1)}\u001b[K${isDone ? '\n' : ''}`
  }

  return (done) => {
    const current = { at: now(), done }
    if (first === undefined) {
      first = current
      recent = [current]
      drawn = current.at
    }
    if (isDone || (done < total && current.at - drawn < interval)) return
    isDone = done >= total
    drawn = current.at
    const line = lineOf(current, first)
    recent = [...recent.filter(({ at }) => current.at - at <= windowMs), current]
    isLineOpen = isTerminal && !isDone
    write(line, done)
  }
}

type Bar = (table: string, total: number) => (done: number) => void

/** Reports the steps of a migration over large tables, each with its own bar. */
export const stepProgress = (
  bar: Bar = (table, total) => progressBar(`Indexing ${table}`, total, 'rows'),
): ((table: string, done: number, total: number) => void) => {
  let current: { table: string; done: number; report: (done: number) => void } | undefined
  return (table, done, total) => {
    if (total < manyRows) return
    if (current?.table !== table || done < current.done) current = { table, done, report: bar(table, total) }
    current.done = done
    current.report(done)
  }
}
