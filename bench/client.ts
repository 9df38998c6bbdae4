/** Measures single requests, sent in sequence. */
import { median } from '../support/statistics.js'

/** The body of a successful read. */
export const readBody = async (url: string): Promise<string> => {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} responded with ${response.status}`)
  return response.text()
}

/** The median duration of reads in milliseconds. */
export const latency = async (address: string, paths: readonly string[]): Promise<number> => {
  const durations: number[] = []
  for (const path of paths) {
    const start = performance.now()
    await readBody(`${address}${path}`)
    durations.push(performance.now() - start)
  }
  return median(durations)
}
