/** Runs test files in this process; a file without a suite, or a hook that throws, is a failure. */
import { join } from 'node:path'

type Result = [errors: true | string, passed: number, skipped: number, total: number]
type Run = () => Promise<Result>
declare global {
  var UVU_DEFER: number
  var UVU_INDEX: number
  var UVU_QUEUE: [string, ...Run[]][]
}

const timeoutMinutes = 20

const run = async (files: readonly string[]): Promise<boolean> => {
  globalThis.UVU_DEFER = 1
  globalThis.UVU_QUEUE = []
  const { exec } = await import('uvu')
  let passed = 0
  let failed = 0

  /** uvu's own total omits a suite whose hook threw, so the results are counted here. */
  const counted =
    (suite: Run): Run =>
    async () => {
      const result = await suite()
      passed += result[1]
      failed += result[3] - result[1]
      return result
    }

  for (const [index, name] of files.entries()) {
    globalThis.UVU_QUEUE.push([name])
    globalThis.UVU_INDEX = index
    try {
      await import(join(import.meta.dirname, name))
      const [, ...suites] = globalThis.UVU_QUEUE[index] ?? []
      if (suites.length === 0) throw new Error('the file runs no suite')
      globalThis.UVU_QUEUE[index] = [name, ...suites.map(counted)]
    } catch (error) {
      failed++
      console.error(`${name}: ${(error as Error).stack}`)
    }
  }
  setTimeout(() => {
    console.error(`The tests did not finish within ${timeoutMinutes} minutes.`)
    console.log(`${passed} passed, ${failed + 1} failed`)
    process.exit(1)
  }, timeoutMinutes * 60_000).unref()
  await exec()
  console.log(`${passed} passed, ${failed} failed`)
  return failed === 0 && passed > 0
}

/** Runs the files and ends the process. */
export const runTests = async (files: readonly string[]): Promise<never> => {
  const isPassed = await run(files)
  // Handles that a suite left open would keep the process alive.
  process.exit(isPassed ? 0 : 1)
}
