/** Compares rows that are imported with rows that are created one by one, in one run. */
import { join } from 'node:path'
import { startProcess } from '../support/process.js'
import { root } from '../support/root.js'
import { temporaryProject } from '../support/temporaryProject.js'

const API_TOKEN = 'the-write-token-of-the-benchmark'

/** A made-up resource with an import, which those of the example do not have. */
const path = '/api/v1/stress-notes'
const madeUp = join(root, 'stress')

const [clients, singleRows, importedRows] = [16, 5_000, 10_000]

const row = (prefix: string, n: number) => ({
  slug: `${prefix}-${n}`,
  author: `author ${n % 50}`,
  body: `The text of note ${n}.`,
})

export interface ImportRates {
  /** Rows per second, one by one and imported. */
  readonly single: number
  readonly imported: number
  /** The longest that a read waited during the import, in milliseconds. */
  readonly longestRead: number
}

export const measureImports = async (url: string): Promise<ImportRates> => {
  const project = temporaryProject(root, madeUp)
  const { address, end } = await startProcess({ DATABASE_URL: url, API_TOKEN }, { project })
  const post = async (to: string, type: string, body: string): Promise<void> => {
    const headers = { authorization: `Bearer ${API_TOKEN}`, 'content-type': type }
    const response = await fetch(`${address}${to}`, { method: 'POST', headers, body })
    const text = await response.text()
    if (response.status !== 201) throw new Error(`${to} responded with ${response.status}: ${text.slice(0, 200)}`)
  }
  const rate = async (rows: number, work: () => Promise<unknown>): Promise<number> => {
    const started = performance.now()
    await work()
    return (1_000 * rows) / (performance.now() - started)
  }
  const run = String(Date.now())
  let next = 0
  const client = async (): Promise<void> => {
    while (next < singleRows) await post(path, 'application/json', JSON.stringify(row(`s${run}`, next++)))
  }
  const single = await rate(singleRows, () => Promise.all(Array.from({ length: clients }, client)))
  let longestRead = 0
  let isImporting = true
  const reader = async (): Promise<void> => {
    while (isImporting) {
      const started = performance.now()
      await (await fetch(`${address}/api/v1/employees?limit=1`)).text()
      longestRead = Math.max(longestRead, performance.now() - started)
    }
  }
  const lines = Array.from({ length: importedRows }, (_, n) => JSON.stringify(row(`i${run}`, n))).join('\n')
  const reading = reader()
  const imported = await rate(importedRows, () => post(`${path}/import`, 'application/x-ndjson', lines))
  isImporting = false
  await reading
  await end('SIGTERM')
  return { single, imported, longestRead }
}
