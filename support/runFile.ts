/** Runs the test file that its arguments name, a folder and a path in it, and sends the counts to the parent process. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import './closedOutput.js'
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
const [, , folder = '', file = ''] = process.argv
console.log(file)
await import(pathToFileURL(join(folder, file)).href)
const suites = globalThis.UVU_QUEUE.flat()
// A project may have no resource that a file of tests is about.
if (suites.length === 0 && process.env['TEST_PROJECT'] === undefined) throw new Error('The file runs no suite.')

const counts = { passed: 0, failed: 0 }
for (const suite of suites) {
  const [errors, passed, , total] = await suite()
  if (errors !== true) console.log(`\n${errors}`)
  counts.passed += passed
  counts.failed += total - passed
}
// Handles that a suite left open would keep the process alive.
process.send?.(counts satisfies Counts, () => process.exit())
