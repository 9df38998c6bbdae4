/** Runs test files, each in its own process, several at a time. */
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { spawnChild } from '../support/cleanup.js'
import { inLanes } from '../support/inLanes.js'

export interface Counts {
  readonly passed: number
  readonly failed: number
}

const timeoutMinutes = 20
/** A process takes up to 400 MB, with its services and browser. */
const lanes = Math.min(availableParallelism(), 4)

/** Runs the files and ends the process. A file that ends without counts is one failure. */
export const runTests = async (files: readonly string[]): Promise<never> => {
  /** The output so far of the files that have not finished. */
  const unfinished = new Map(files.map((file) => [file, '']))
  const failures: string[] = []
  let passed = 0
  let failed = 0

  const printResult = (): void => {
    if (failures.length > 0) console.log(`Failed: ${failures.join(', ')}`)
    console.log(`${passed} passed, ${failed} failed`)
  }

  // The output of several files would be mixed, so it is printed when a file ends.
  const output = files.length === 1 ? 'inherit' : 'pipe'
  const runFile = (file: string): Promise<void> =>
    new Promise((resolve) => {
      const args = ['--enable-source-maps', join(import.meta.dirname, 'runFile.js'), file]
      const child = spawnChild(process.execPath, args, { stdio: ['ignore', output, output, 'ipc'] }, 'SIGTERM')
      let counts: Counts = { passed: 0, failed: 1 }
      child.once('message', (message: Counts) => {
        counts = message
      })
      const append = (chunk: string) => unfinished.set(file, `${unfinished.get(file)}${chunk}`)
      child.stdout?.setEncoding('utf8').on('data', append)
      child.stderr?.setEncoding('utf8').on('data', append)
      child.once('close', () => {
        console.log(unfinished.get(file))
        unfinished.delete(file)
        passed += counts.passed
        failed += counts.failed
        if (counts.failed > 0) failures.push(file)
        resolve()
      })
    })

  setTimeout(() => {
    console.log([...unfinished.values()].join('\n'))
    console.log(`The tests did not finish within ${timeoutMinutes} minutes.`)
    failures.push(...unfinished.keys())
    failed += unfinished.size
    printResult()
    // Unlike an exit, this lets the processes of the files stop what they started.
    process.kill(process.pid, 'SIGTERM')
  }, timeoutMinutes * 60_000).unref()

  await inLanes(files, lanes, runFile)
  printResult()
  process.exit(failed === 0 && passed > 0 ? 0 : 1)
}
