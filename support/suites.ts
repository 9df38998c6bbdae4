/** The suites of a test file, which wait until they are run. */

type Suite = () => Promise<[errors: true | string, passed: number, skipped: number, total: number]>
declare global {
  var UVU_DEFER: number
  var UVU_QUEUE: Suite[][]
}

export const counts = { suites: 0, passed: 0, failed: 0, skipped: 0 }

/** Makes suites wait. uvu's own exec would not count a suite whose hook throws as a failure. */
export const queueSuites = (): void => {
  globalThis.UVU_DEFER = 1
  globalThis.UVU_QUEUE = [[]]
}

/** Runs those that wait. */
export const runSuites = async (): Promise<void> => {
  for (const suite of globalThis.UVU_QUEUE.flatMap((queue) => queue.splice(0))) {
    const [errors, passed, skipped, total] = await suite()
    if (errors !== true) console.log(`\n${errors}`)
    else if (passed < total) console.log('\nA hook failed, or something other than an Error was thrown.')
    counts.suites++
    counts.passed += passed
    counts.failed += total - passed
    counts.skipped += skipped
  }
}
