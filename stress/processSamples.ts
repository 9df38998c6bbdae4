/** Samples the memory, open files, WAL size and latency of a process, and detects growth. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { median } from '../support/statistics.js'

export interface Sample {
  readonly seconds: number
  /** Responses since the last sample. */
  readonly requests: number
  readonly rssMb: number
  readonly descriptors: number
  readonly walMb: number
  /** The 99th percentile of get-one in milliseconds. */
  readonly p99: number
}

const megabyte = 2 ** 20

/** Reads memory and open files from /proc. */
export const sampleProcess = (pid: number, path: string): Pick<Sample, 'rssMb' | 'descriptors' | 'walMb'> => ({
  rssMb: Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
  descriptors: readdirSync(`/proc/${pid}/fd`).length,
  walMb: (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) / megabyte,
})

type Measure = 'rssMb' | 'descriptors' | 'walMb' | 'p99'

/** The largest growth that is allowed: a factor and, for small values, an amount. */
const limits: Record<Measure, { readonly name: string; readonly factor: number; readonly amount: number }> = {
  rssMb: { name: 'RSS in MB', factor: 1.15, amount: 10 },
  descriptors: { name: 'open files', factor: 1, amount: 8 },
  walMb: { name: 'WAL in MB', factor: 1.5, amount: 4 },
  p99: { name: 'p99 in ms', factor: 2, amount: 5 },
}

export const limitsText: string = Object.values(limits)
  .map(({ name, factor, amount }) => `${name} ×${factor} + ${amount}`)
  .join(', ')

/** Compares the medians of the first and the last third, after a warm-up of a tenth. */
export const growths = (samples: readonly Sample[]) => {
  const warm = samples.slice(Math.ceil(samples.length / 10))
  const third = Math.max(1, Math.floor(warm.length / 3))
  return (Object.keys(limits) as Measure[]).map((measure) => {
    const { name, factor, amount } = limits[measure]
    const medianOf = (part: readonly Sample[]) => median(part.map((sample) => sample[measure]))
    const [first, last] = [medianOf(warm.slice(0, third)), medianOf(warm.slice(-third))]
    const limit = first * factor + amount
    return { name, first, last, limit, grows: last > limit }
  })
}
