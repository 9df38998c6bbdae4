/** Measures conditional requests (304) against the full response, for every server that supports them. */
import { progressBar } from '../engine/progress.js'
import { median } from '../support/statistics.js'
import type { LoadGenerator } from './load.js'
import type { RunningServer } from './processes.js'

export interface NotModified {
  readonly server: string
  /** Requests per second with the status 304, the median of the rounds. */
  readonly rate: number
  /** The same for the full response from the cache. */
  readonly fullRate: number
}

/** The tag for which the server sends 304; undefined if it does not support conditional requests. */
const findTag = async (url: string): Promise<string | undefined> => {
  const full = await fetch(url, { headers: { 'Accept-Encoding': 'identity' } })
  const tag = full.headers.get('etag') ?? '"any"'
  const { status } = await fetch(url, { headers: { 'Accept-Encoding': 'identity', 'If-None-Match': tag } })
  return status === 304 ? tag : undefined
}

export const measureNotModified = async (
  servers: readonly RunningServer[],
  generate: LoadGenerator,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<NotModified[]> => {
  const measured: NotModified[] = []
  const tagged = []
  for (const { name, address, page } of servers) {
    const url = `${address}${page(0)}`
    const tag = await findTag(url)
    if (tag !== undefined) tagged.push({ name, url, tag })
  }
  const report = progressBar('conditional requests', tagged.length * rounds * 2, 'measurements')
  let done = 0
  report(done)
  for (const { name, url, tag } of tagged) {
    const [rates, fullRates]: [number[], number[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      rates.push(await generate({ url, headers: { 'If-None-Match': tag }, seconds }))
      report(++done)
      fullRates.push(await generate({ url, seconds }))
      report(++done)
    }
    measured.push({ server: name, rate: median(rates), fullRate: median(fullRates) })
  }
  return measured
}
