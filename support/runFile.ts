/** Runs the test file that its arguments name, a folder and a path in it, and sends the counts to the parent process. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import './closedOutput.js'
import type { Counts } from './runTests.js'
import { skipLines, skips } from './skips.js'
import { counts, queueSuites, runSuites } from './suites.js'

// The parent process was killed.
process.once('disconnect', () => process.exit(1))

queueSuites()
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
await runSuites()
// A project may have no resource that a file of tests is about.
if (counts.suites === 0 && process.env['TEST_PROJECT'] === undefined) throw new Error('The file runs no suite.')

for (const line of skipLines()) console.log(`  ${line}`)
// uvu counts a test that was skipped while it ran as passed.
const ended = {
  passed: counts.passed - skips.length,
  failed: counts.failed,
  skipped: counts.skipped + skips.length,
}
if (isOwn && ended.passed + ended.failed + ended.skipped === 0) {
  console.log(`\n${file} has no tests; write test('…', () => { … }) in it.`)
  ended.failed = 1
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
process.send?.({ ...ended, cpuSeconds: cpuSeconds() } satisfies Counts, () => process.exit())
