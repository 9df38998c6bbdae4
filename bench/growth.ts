/** Measures how the latency of each kind of request grows from the demo data to a large table. */
import { progressBar } from '../engine/process/progress.js'
import { median } from '../support/statistics.js'
import type { BenchServer } from './processes.js'

/** The body of a successful read. */
export const readBody = async (url: string): Promise<string> => {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} responded with ${response.status}`)
  return response.text()
}

/** The median duration of reads in milliseconds. */
const latency = async (address: string, paths: readonly string[]): Promise<number> => {
  const durations: number[] = []
  for (const path of paths) {
    const start = performance.now()
    await readBody(`${address}${path}`)
    durations.push(performance.now() - start)
  }
  return median(durations)
}

const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))
const list = (query: string): string => `/api/v1/employees?${query}`

/** The number of demo employees. A large table repeats them, with the row number appended to each code. */
const demoRows = 160

/** Distinct requests of each kind, as from many clients. */
const requestKinds = (rows: number): Record<string, readonly string[]> => {
  const deep = Math.floor(rows * 0.9)
  // Codes from the whole table: the digits of a code determine how many other codes share trigrams with it.
  const code = (n: number) => {
    const index = Math.floor(rows * (((n + 1) * 0.618) % 1))
    const number = String((index % demoRows) + 1).padStart(4, '0')
    return list(`q=EMP-${number}${index >= demoRows ? `-${index}` : ''}&limit=${1 + n}`)
  }
  return {
    'first page': times(100, (n) => list(`limit=${50 + n}`)),
    'first page in another order': times(100, (n) => list(`sort=-date_of_joining&limit=${50 + n}`)),
    'page at 90 % of the table': times(100, (n) => list(`offset=${Math.max(0, deep - n)}`)),
    'one row': times(100, (n) => `/api/v1/employees/${1 + n}`),
    'filter with few matches': times(100, (n) => list(`candidate_id=${1 + n}`)),
    'range with few matches': times(100, (n) => list(`base_salary.gte=${10_000_000_000 + n}`)),
    'search with one match': times(60, code),
    'filter that most rows match': times(5, (n) => list(`status=Active&offset=${n}`)),
    'search for a word in a sixth of the rows': times(5, (n) => list(`q=London&offset=${n}`)),
  }
}

/** Pages that continue after one in the middle of an order, as their `Link` says. */
const linkedPages = async (address: string, rows: number): Promise<string[]> => {
  const response = await fetch(`${address}${list(`sort=last_name&limit=10&offset=${Math.floor(rows / 2)}`)}`)
  await response.text()
  const [, next = ''] = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? []
  return times(100, (n) => next.replace('limit=10', `limit=${50 + n}`))
}

export interface Growth {
  readonly kind: string
  /** Median milliseconds. */
  readonly small: number
  readonly large: number
}

export const measureGrowth = async (small: BenchServer, large: BenchServer, rows: number): Promise<Growth[]> => {
  const report = progressBar('growth', 2 * (Object.keys(requestKinds(rows)).length + 1), 'measurements')
  let done = 0
  report(done)
  const latencies = async (benchServer: BenchServer, count: number) => {
    const { address, stop } = await benchServer.start()
    await latency(
      address,
      times(300, (n) => list(`limit=${1 + (n % 200)}&offset=1`)),
    )
    const result = new Map<string, number>()
    const kinds = { ...requestKinds(count), 'next page by `Link`, in another order': await linkedPages(address, count) }
    for (const [kind, requests] of Object.entries(kinds)) {
      // A first run reads the data from disk, which is not measured.
      await latency(address, requests)
      result.set(kind, await latency(address, requests))
      report(++done)
    }
    await stop()
    return result
  }
  const before = await latencies(small, demoRows)
  const after = await latencies(large, rows)
  return [...before].map(([kind, ms]) => ({ kind, small: ms, large: after.get(kind) ?? 0 }))
}
