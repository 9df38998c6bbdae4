/** A service with metrics, and what a scrape of them contains. */
import * as assert from 'uvu/assert'
import { freshUrl } from './database.js'
import { type RunningService, startProcess } from './process.js'

export const API_TOKEN = 'a-token-of-some-length'
export const startMeasured = async (more: Record<string, string> = {}) =>
  startProcess({ DATABASE_URL: await freshUrl(), API_TOKEN, METRICS_PORT: '0', ...more })

export const scrape = async (running: RunningService): Promise<string> => {
  const response = await fetch(/Metrics at ([^\s"]+)/.exec(running.output())?.[1] ?? '')
  assert.is(response.status, 200)
  return response.text()
}
const escaped = (name: string): string => name.replaceAll(/[{}]/g, '\\$&')
export const sample = (metrics: string, name: string): number =>
  Number(new RegExp(`^${escaped(name)} (\\S+)$`, 'm').exec(metrics)?.[1])

/** The labels of each metric in a scrape; of one without samples, nothing. */
export const labelsOf = (metrics: string): Map<string, Set<string>> => {
  const found = new Map<string, Set<string>>()
  for (const line of metrics.split('\n')) {
    const [, declared] = /^# TYPE (\S+)/.exec(line) ?? []
    if (declared !== undefined) found.set(declared, new Set())
    const [, name, labels = ''] = /^([a-z]\w*)(?:\{(.*)\})? \S+$/.exec(line) ?? []
    if (name === undefined) continue
    const known = found.get(name) ?? new Set()
    for (const [, label] of labels.matchAll(/(\w+)="/g)) known.add(String(label))
    found.set(name, known)
  }
  return found
}

/** Uses every kind of operation, and one page often enough to cache it. */
export const exercise = async ({ address }: RunningService): Promise<void> => {
  const get = async (path: string) => (await fetch(`${address}${path}`)).text()
  for (let n = 0; n < 3; n++) await get('/api/v1/employees?limit=7')
  for (const path of ['/api', '/api/v1/health', '/api/v1/employees/3', '/api/v1/employees?q=a', '/nowhere'])
    await get(path)
  const headers = { authorization: `Bearer ${API_TOKEN}`, 'content-type': 'application/json' }
  await fetch(`${address}/api/v1/leave`, { method: 'POST', headers, body: '{"leave_type":"Annual"}' })
}
