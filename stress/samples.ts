/** What a process holds, looked at from outside now and then, and whether it grows. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { median } from '../support/statistics.js'

/** A process at one moment. */
export interface Sample {
  readonly seconds: number
  /** Requests answered since the last sample. */
  readonly requests: number
  readonly rssMb: number
  readonly descriptors: number
  readonly walMb: number
  /** Of a plain read, in milliseconds. */
  readonly p99: number
}

const megabyte = 2 ** 20

/** What the system says of a process and of its database's log. */
export const lookAt = (pid: number, path: string): Pick<Sample, 'rssMb' | 'descriptors' | 'walMb'> => ({
  rssMb: Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
  descriptors: readdirSync(`/proc/${pid}/fd`).length,
  walMb: (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) / megabyte,
})

type Measure = 'rssMb' | 'descriptors' | 'walMb' | 'p99'

/** How much each may grow: a factor, and an amount for what is small. */
const tolerated: Record<Measure, { readonly name: string; readonly factor: number; readonly amount: number }> = {
  rssMb: { name: 'RSS in MB', factor: 1.15, amount: 10 },
  descriptors: { name: 'open descriptors', factor: 1, amount: 8 },
  walMb: { name: 'WAL in MB', factor: 1.5, amount: 4 },
  p99: { name: 'p99 in ms', factor: 2, amount: 5 },
}

/** The same in words. */
export const tolerances: string = Object.values(tolerated)
  .map(({ name, factor, amount }) => `${name} ×${factor} + ${amount}`)
  .join(', ')

/** Compares the medians of the first and the last third, after a warm-up of a tenth. */
export const growths = (samples: readonly Sample[]) => {
  const warm = samples.slice(Math.ceil(samples.length / 10))
  const third = Math.max(1, Math.floor(warm.length / 3))
  return (Object.keys(tolerated) as Measure[]).map((measure) => {
    const { name, factor, amount } = tolerated[measure]
    const middle = (part: readonly Sample[]) => median(part.map((sample) => sample[measure]))
    const [first, last] = [middle(warm.slice(0, third)), middle(warm.slice(-third))]
    const most = first * factor + amount
    return { name, first, last, most, grows: last > most }
  })
}
