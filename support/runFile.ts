/** Runs the test file that its arguments name, a folder and a path in it, and sends the counts to the parent process. */
import { existsSync, readFileSync } from 'node:fs'
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

/** Whether it is a test that a project wrote; those of the package are compiled. */
const isOwn = file.endsWith('.ts')

/** Imports a file of a project. Its tests run whether or not it calls `test.run()`, and the parent process knows which one runs. */
const importOwn = async (): Promise<void> => {
  const [{ test }, { importFile }] = await Promise.all([import('uvu'), import('../engine/process/typescript.js')])
  const { run } = test
  test.run = () => {}
  test.before.each(({ __test__ }) => void process.send?.({ test: __test__ }))
  await importFile(join(folder, file))
  run()
}

console.log(file)
if (isOwn) await importOwn()
else await import(pathToFileURL(join(folder, file)).href)
const suites = globalThis.UVU_QUEUE.flat()
// A project may have no resource that a file of tests is about.
if (suites.length === 0 && process.env['TEST_PROJECT'] === undefined) throw new Error('The file runs no suite.')

const counts = { passed: 0, failed: 0, skipped: 0 }
for (const suite of suites) {
  const [errors, passed, skipped, total] = await suite()
  if (errors !== true) console.log(`\n${errors}`)
  else if (passed < total) console.log('\nA hook failed, or something other than an Error was thrown.')
  counts.passed += passed
  counts.failed += total - passed
  counts.skipped += skipped
}
if (isOwn && counts.passed + counts.failed + counts.skipped === 0) {
  console.log(`\n${file} has no tests; write test('…', () => { … }) in it.`)
  counts.failed = 1
}
/** On Linux with that of the child processes that have ended. */
const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage()
  const file = '/proc/self/stat'
  // Fields 16 and 17, in hundredths of a second; the second field, a name in parentheses, may have spaces.
  const fields = existsSync(file) ? readFileSync(file, 'utf8').split(') ').at(-1)?.split(' ') : undefined
  return (user + system) / 1e6 + (Number(fields?.[13] ?? 0) + Number(fields?.[14] ?? 0)) / 100
}

// A promise that was rejected and not awaited ends the process here, before the counts are sent.
await new Promise(setImmediate)
// Handles that a suite left open would keep the process alive.
process.send?.({ ...counts, cpuSeconds: cpuSeconds() } satisfies Counts, () => process.exit())
