/** Runs test files, each in its own process, several at a time. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statfsSync } from 'node:fs'
import { availableParallelism, freemem } from 'node:os'
import { join } from 'node:path'
import { spawnChild } from './cleanup.js'

export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

const timeoutMinutes = 60
/** A process takes up to 400 MB, with its services and browser, and often waits: one more than there are cores. */
const lanes = Math.min(availableParallelism() + 1, 4)

/** Where temporary files are in memory, if there is plenty of it: every commit of the many small databases would wait for the disk. */
const memory = '/dev/shm'
const hasMemory = (): boolean => {
  if (process.env['TMPDIR'] !== undefined || !existsSync(memory)) return false
  const { bavail, bsize } = statfsSync(memory)
  return Math.min(bavail * bsize, freemem()) > 4 * 1024 ** 3
}

/** Runs the files of a folder and ends the process. A file that ends without counts is one failure. */
export const runTests = async (
  folder: string,
  files: readonly string[],
  finish: () => Promise<void> = async () => {},
): Promise<never> => {
  const running = new Set<ChildProcess>()
  const failures: string[] = []
  let passed = 0
  let failed = 0
  let skipped = 0
  let isLate = false

  // The output of several files would be mixed, so it is printed when a file ends.
  const output = files.length === 1 ? 'inherit' : 'pipe'
  const env = hasMemory() ? { ...process.env, TMPDIR: memory } : process.env
  const runFile = async (file: string): Promise<Counts> => {
    const args = ['--enable-source-maps', join(import.meta.dirname, 'runFile.js'), folder, file]
    const child = spawnChild(process.execPath, args, { stdio: ['ignore', output, output, 'ipc'], env }, 'SIGTERM')
    const start = performance.now()
    let counts: Counts = { passed: 0, failed: 1, skipped: 0 }
    let text = ''
    const append = (chunk: string) => {
      text += chunk
    }
    child.stdout?.setEncoding('utf8').on('data', append)
    child.stderr?.setEncoding('utf8').on('data', append)
    child.once('message', (message: Counts) => {
      counts = message
    })
    running.add(child)
    await once(child, 'close')
    running.delete(child)
    console.log(`${text}  Seconds:   ${((performance.now() - start) / 1000).toFixed(1)}\n`)
    return counts
  }

  setTimeout(() => {
    isLate = true
    for (const child of running) child.kill('SIGTERM')
  }, timeoutMinutes * 60_000).unref()

  const waiting = [...files]
  const lane = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const counts = isLate ? { passed: 0, failed: 1, skipped: 0 } : await runFile(file)
      passed += counts.passed
      failed += counts.failed
      skipped += counts.skipped
      if (counts.failed > 0) failures.push(file)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  await finish()
  if (isLate) console.log(`The tests did not finish within ${timeoutMinutes} minutes.`)
  if (failures.length > 0) console.log(`Failed: ${failures.join(', ')}`)
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  process.exit(failed === 0 && passed > 0 ? 0 : 1)
}
