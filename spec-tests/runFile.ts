/** Runs the test file that its argument names and sends the counts to the parent process. */
import { join } from 'node:path'
import type { Counts } from './runTests.js'

type Suite = () => Promise<[errors: true | string, passed: number, skipped: number, total: number]>
declare global {
  var UVU_DEFER: number
  var UVU_QUEUE: Suite[][]
}

// The parent process was killed.
process.once('disconnect', () => process.exit(1))

// Suites wait in the queue. uvu's own exec would not count a suite whose hook throws as a failure.
globalThis.UVU_DEFER = 1
globalThis.UVU_QUEUE = [[]]
const file = process.argv[2] ?? ''
console.log(file)
await import(join(import.meta.dirname, file))
const suites = globalThis.UVU_QUEUE.flat()
if (suites.length === 0) throw new Error('The file runs no suite.')

const counts = { passed: 0, failed: 0 }
for (const suite of suites) {
  const [errors, passed, , total] = await suite()
  if (errors !== true) console.log(`\n${errors}`)
  counts.passed += passed
  counts.failed += total - passed
}
// Handles that a suite left open would keep the process alive.
process.send?.(counts satisfies Counts, () => process.exit())
