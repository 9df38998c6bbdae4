/** How the cost of each kind of request grows with the table: the demo data beside a large one. */
import { readFileSync } from 'node:fs'
import { p99 } from '../support/statistics.js'
import { type Call, Client } from './client.js'
import type { Entrant } from './processes.js'

const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n))
const list = (query: string): Call => ({ path: `/api/v1/employees?${query}` })

/** How many employees the demo data has; a large table repeats them, each code with the row's place behind it. */
const demoRows = 160

/** Requests of each kind that differ from one another, as those of many clients do. */
const kindsOn = (rows: number): Record<string, readonly Call[]> => {
  const deep = Math.floor(rows * 0.9)
  // The codes of rows all over the table, for a code's digits decide how many others have some of them too.
  const code = (n: number) => {
    const place = Math.floor(rows * (((n + 1) * 0.618) % 1))
    const number = String((place % demoRows) + 1).padStart(4, '0')
    return list(`q=EMP-${number}${place >= demoRows ? `-${place}` : ''}&limit=${1 + n}`)
  }
  return {
    'the first page': times(100, (n) => list(`limit=${50 + n}`)),
    'a page at nine tenths of the table': times(100, (n) => list(`offset=${Math.max(0, deep - n)}`)),
    'one row': times(100, (n) => ({ path: `/api/v1/employees/${1 + n}` })),
    'a filter with few matches': times(100, (n) => list(`candidate_id=${1 + n}`)),
    'a search that finds one row': times(60, code),
    'a filter that most rows match': times(5, (n) => list(`status=Active&offset=${n}`)),
    'a word in a sixth of all rows': times(5, (n) => list(`q=London&offset=${n}`)),
  }
}

export interface Growth {
  readonly kind: string
  readonly small: number
  readonly large: number
}

const residentMegabytes = (pid: number): number | undefined => {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  } catch {
    return undefined
  }
}

/** The 99th percentile of get-one while four clients search for single letters. */
const whileScanning = async (client: Client, rows: number): Promise<number> => {
  let stopped = false
  const scanners = times(4, async (scanner) => {
    for (let n = 0; !stopped; n++)
      await client.timed(list(`q=${'abcdefghijklmnop'[(n * 4 + scanner) % 16]}&offset=${n}`))
  })
  const took: number[] = []
  const end = performance.now() + 8_000
  while (performance.now() < end) {
    took.push(await client.timed({ path: `/api/v1/employees/${1 + ((took.length * 7919) % rows)}` }))
  }
  stopped = true
  await Promise.all(scanners)
  return p99(took)
}

/** Measures both; the peak of memory and the percentile are of the large one. */
export const growth = async (
  small: Entrant,
  large: Entrant,
  rows: number,
): Promise<{ growths: Growth[]; p99: number; megabytes: number | undefined }> => {
  const latencies = async (entrant: Entrant, count: number) => {
    const server = await entrant.start()
    const client = new Client(server.address)
    await client.latency(times(300, (n) => ({ path: `/api/v1/employees?limit=${1 + (n % 200)}&offset=1` })))
    const result = new Map<string, number>()
    for (const [kind, calls] of Object.entries(kindsOn(count))) {
      // Once before, so that neither table is measured by how fast a disk brings what was never read.
      await client.latency(calls)
      result.set(kind, await client.latency(calls))
    }
    return { server, client, result }
  }
  const before = await latencies(small, demoRows)
  await before.server.stop()
  const after = await latencies(large, rows)
  const slowest = await whileScanning(after.client, rows)
  const megabytes = residentMegabytes(after.server.pid)
  await after.server.stop()
  const growths = [...before.result].map(([kind, took]) => ({ kind, small: took, large: after.result.get(kind) ?? 0 }))
  return { growths, p99: slowest, megabytes }
}
