/** What a read that has not changed (304) costs, beside the same read in full; of every server that knows such answers. */
import { median } from '../support/statistics.js'
import type { Generator } from './load.js'
import type { Server } from './processes.js'

export interface Unchanged {
  readonly server: string
  /** Requests a second, the median of the rounds: of the 304, and of the full answer from memory. */
  readonly rate: number
  readonly full: number
}

/** The tag that a server answers with 304, where it does. */
const tagOf = async (url: string): Promise<string | undefined> => {
  const full = await fetch(url, { headers: { 'Accept-Encoding': 'identity' } })
  const tag = full.headers.get('etag') ?? '"any"'
  const { status } = await fetch(url, { headers: { 'Accept-Encoding': 'identity', 'If-None-Match': tag } })
  return status === 304 ? tag : undefined
}

/** Measures both in alternating rounds. */
export const measureUnchanged = async (
  servers: readonly Server[],
  generate: Generator,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<Unchanged[]> => {
  const measured: Unchanged[] = []
  for (const { name, address, page } of servers) {
    const url = `${address}${page(0)}`
    const tag = await tagOf(url)
    if (tag === undefined) continue
    const [rates, fulls]: [number[], number[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      rates.push(await generate({ url, headers: { 'If-None-Match': tag }, seconds }))
      fulls.push(await generate({ url, seconds }))
    }
    measured.push({ server: name, rate: median(rates), full: median(fulls) })
  }
  return measured
}
