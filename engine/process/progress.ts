/** Shows the progress of long work, its rate and the time left: a redrawn line in a terminal, a line every few seconds elsewhere. */

/** The longest and the shortest bar; in a narrower terminal there is none. */
const maxBar = 30
const minBar = 8

/** The rate is measured over the last ten seconds; below half a second it is too inexact to show. */
const windowMs = 10_000
const minMs = 500

/** How often a terminal and any other output get a line, in milliseconds. */
const redrawMs = 100
const plainMs = 5_000

/** Fewer rows than this are processed too quickly for progress to be useful. */
const manyRows = 100_000

/** Where the lines go; tests replace the clock and the stream. */
interface ProgressOutput {
  readonly now: () => number
  readonly isTerminal: boolean
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

const formatNumber = (value: number): string => {
  const maximumFractionDigits = value < 1 ? 2 : value < 10 ? 1 : 0
  return value.toLocaleString('en', { maximumFractionDigits })
}

const formatTimeLeft = (ms: number): string => {
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
export const progressBar = (name: string, total: number, unit: string, output: ProgressOutput = standardError) => {
  const { now, isTerminal, columns = 80, intervalMs = isTerminal ? redrawMs : plainMs, write } = output
  let recent: { readonly at: number; readonly done: number }[] = []
  let drawn = 0
  let isDone = false
  return (done: number) => {
    const at = now()
    if (recent.length === 0) {
      recent = [{ at, done }]
      drawn = at
    }
    if (isDone || (done < total && at - drawn < intervalMs)) return
    isDone = done >= total
    drawn = at
    const since = recent.find((earlier) => at - earlier.at <= windowMs) ?? recent.at(-1)
    recent = [...recent.filter((earlier) => at - earlier.at <= windowMs), { at, done }]
    const rate = since && at - since.at >= minMs ? (done - since.done) / (at - since.at) : 0
    const text = [
      `${formatNumber(done)} of ${formatNumber(total)} ${unit}`,
      ...(rate > 0 && unit !== 'seconds' ? [`${formatNumber(rate * 1000)} ${unit}/s`] : []),
      ...(rate > 0 && !isDone ? [`${formatTimeLeft((total - done) / rate)} left`] : []),
    ].join(' · ')
    isLineOpen = isTerminal && !isDone
    if (!isTerminal) return write(`${name}: ${text}\n`, done)
    // A line that the terminal wraps could not be redrawn.
    const width = Math.min(maxBar, columns - name.length - text.length - 3)
    const filled = Math.round(Math.min(1, done / (total || 1)) * width)
    const bar = width < minBar ? '' : `${'█'.repeat(filled)}${'░'.repeat(width - filled)} `
    // ESC[K erases the rest of a longer previous line.
    write(`\r${`${name} ${bar}${text}`.slice(0, columns - 1)}\u001b[K${isDone ? '\n' : ''}`, done)
  }
}

const indexingBar = (table: string, total: number) => progressBar(`Indexing ${table}`, total, 'rows')

export const stepProgress = (bar = indexingBar) => {
  let current: { table: string; done: number; report: (done: number) => void } | undefined
  return (table: string, done: number, total: number): void => {
    if (total < manyRows) return
    if (current?.table !== table || done < current.done) current = { table, done, report: bar(table, total) }
    current.done = done
    current.report(done)
  }
}
