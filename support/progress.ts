/** A progress line: redrawn in a terminal, and repeated every five seconds elsewhere. */

const width = 30

/** The rate is that of the last ten seconds; over less than half a second there is none worth showing. */
const windowMs = 10_000
const leastMs = 500

interface Moment {
  readonly at: number
  readonly done: number
}

/** Where the line goes; the clock and the stream can be replaced by tests. */
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

/** Reports how many of a total are done. The first call starts the clock: what came before it is in no rate. */
export const progressBar = (
  name: string,
  total: number,
  unit: string,
  { now, isTerminal, write }: Output = standardError,
): ((done: number) => void) => {
  const interval = isTerminal ? 100 : 5_000
  let first: Moment | undefined
  let recent: Moment[] = []
  let drawn = 0
  let isOver = false

  const rateSince = (from: Moment, to: Moment): number | undefined =>
    to.at - from.at >= leastMs ? (to.done - from.done) / (to.at - from.at) : undefined

  const details = (moment: Moment, start: Moment): string[] => {
    // A total of seconds has no rate of its own: the clock runs as it does.
    const isTime = unit === 'seconds'
    if (moment.done >= total) {
      const rate = rateSince(start, moment)
      const took = moment.at - start.at >= leastMs ? [`took ${duration(moment.at - start.at)}`] : []
      return rate && !isTime ? [...took, `${count(rate * 1000)} ${unit}/s on average`] : took
    }
    const since = recent.find(({ at }) => moment.at - at <= windowMs) ?? recent.at(-1) ?? start
    const rate = isTime ? 1 / 1000 : rateSince(since, moment)
    if (!rate) return []
    const left = `${duration((total - moment.done) / rate)} left`
    return isTime ? [left] : [`${count(rate * 1000)} ${unit}/s`, left]
  }

  const lineOf = (moment: Moment, start: Moment): string => {
    const filled = total > 0 ? Math.min(width, Math.round((moment.done / total) * width)) : width
    const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)}`
    return [`${name} ${bar} ${count(moment.done)} of ${count(total)} ${unit}`, ...details(moment, start)].join(' · ')
  }

  return (done) => {
    const moment = { at: now(), done }
    if (first === undefined) {
      first = moment
      recent = [moment]
      drawn = moment.at
    }
    if (isOver || (done < total && moment.at - drawn < interval)) return
    isOver = done >= total
    drawn = moment.at
    const line = lineOf(moment, first)
    recent = [...recent.filter(({ at }) => moment.at - at <= windowMs), moment]
    // The rest of a longer line before it is erased.
    write(isTerminal ? `\r${line}\u001b[K${isOver ? '\n' : ''}` : `${line}\n`)
  }
}
