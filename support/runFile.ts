/** Runs the test file that its arguments name, a folder and a path in it, and sends the counts to the parent process. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Counts } from './runTests.js'
import { skipLines, skips } from './skips.js'
import { counts, queueSuites, runSuites } from './suites.js'

// The parent process was killed.
process.once('disconnect', () => process.exit(1))

queueSuites()
const [, , folder = '', file = ''] = process.argv
console.log(file)
await import(pathToFileURL(join(folder, file)).href)
await runSuites()
// A project may have no resource that a file of tests is about.
if (counts.suites === 0 && process.env['TEST_PROJECT'] === undefined) throw new Error('The file runs no suite.')

for (const line of skipLines()) console.log(`  ${line}`)
const { passed, failed } = counts
// Handles that a suite left open would keep the process alive.
process.send?.({ passed: passed - skips.length, failed, skipped: skips.length } satisfies Counts, () => process.exit())
