/** A progress bar: redrawn in a terminal, printed every five seconds elsewhere. */

const width = 30

/** The rate is measured over the last ten seconds; below half a second it is too inexact to show. */
const windowMs = 10_000
const minMs = 500

interface Measurement {
  readonly at: number
  readonly done: number
}

/** Tests replace the clock and the stream. */
interface Output {
  readonly now: () => number
  readonly isTerminal: boolean
  readonly write: (text: string) => void
}

const standardError: Output = {
  now: () => performance.now(),
  isTerminal: process.stderr.isTTY === true,
  write: (text) => void process.stderr.write(text),
}

const count = (value: number): string => Math.round(value).toLocaleString('en')

const duration = (ms: number): string => {
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Returns a function that reports progress. Its first call starts the clock. */
export const progressBar = (
  name: string,
  total: number,
  unit: string,
  { now, isTerminal, write }: Output = standardError,
): ((done: number) => void) => {
  const interval = isTerminal ? 100 : 5_000
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
      return rate && !isTime ? [...took, `${count(rate * 1000)} ${unit}/s on average`] : took
    }
    const since = recent.find(({ at }) => current.at - at <= windowMs) ?? recent.at(-1) ?? start
    const rate = isTime ? 1 / 1000 : rateSince(since, current)
    if (!rate) return []
    const left = `${duration((total - current.done) / rate)} left`
    return isTime ? [left] : [`${count(rate * 1000)} ${unit}/s`, left]
  }

  const lineOf = (current: Measurement, start: Measurement): string => {
    const filled = total > 0 ? Math.min(width, Math.round((current.done / total) * width)) : width
    const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)}`
    return [`${name} ${bar} ${count(current.done)} of ${count(total)} ${unit}`, ...details(current, start)].join(' · ')
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
    // ESC[K erases the rest of a longer previous line.
    write(isTerminal ? `\r${line}\u001b[K${isDone ? '\n' : ''}` : `${line}\n`)
  }
}
