/** Runs test files, each in its own process, several at a time. */
import type { ChildProcess, StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statfsSync } from 'node:fs'
import { availableParallelism, freemem } from 'node:os'
import { join } from 'node:path'
import { spawnChild, temporaryFolder } from './cleanup.js'

export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** The CPU time of the file and of the processes that it started, in seconds. */
  readonly cpuSeconds?: number
}

/** Test files of a folder; those of the next group run after them. */
export interface TestGroup {
  readonly folder: string
  readonly files: readonly string[]
  /** How long one test may take; a file that exceeds it is stopped. Without it, only the whole run has a limit. */
  readonly testSeconds?: number
}

const timeoutMinutes = 60
/** How long the imports of a file may take where its tests have a limit. */
const importSeconds = 60
/** Of a file that ends without counts. */
const failure: Counts = { passed: 0, failed: 1, skipped: 0 }
/** A process takes up to 400 MB, with its services and browser, and often waits: one more than there are cores. */
const lanes = Math.min(availableParallelism() + 1, 4)

/** Where temporary files are in memory, if there is plenty of it: every commit of the many small databases would wait for the disk. */
const memory = '/dev/shm'
const hasMemory = (): boolean => {
  if (process.env['TMPDIR'] !== undefined || !existsSync(memory)) return false
  const { bavail, bsize } = statfsSync(memory)
  return Math.min(bavail * bsize, freemem()) > 4 * 1024 ** 3
}

interface RunOptions {
  readonly finish?: () => Promise<void>
  /** Whether the files are listed by their CPU time, which does not depend on what else the machine does. */
  readonly hasTimes?: boolean
}

/** Runs the files and ends the process. A file that ends without counts is one failure. */
export const runTests = async (
  groups: readonly TestGroup[],
  { finish = async () => {}, hasTimes = false }: RunOptions = {},
): Promise<never> => {
  const running = new Set<ChildProcess>()
  const failures: string[] = []
  const times: [file: string, cpuSeconds: number][] = []
  let passed = 0
  let failed = 0
  let skipped = 0
  let isLate = false

  // The output of several files would be mixed, so it is printed when a file ends.
  const output = groups.flatMap(({ files }) => files).length === 1 ? 'inherit' : 'pipe'
  const env = hasMemory() ? { ...process.env, TMPDIR: memory } : process.env
  const runFile = async ({ folder, testSeconds }: TestGroup, file: string): Promise<Counts> => {
    const args = ['--enable-source-maps', join(import.meta.dirname, 'runFile.js'), folder, file]
    // A file that is killed cannot remove its own temporary files.
    const temporary = testSeconds === undefined ? undefined : temporaryFolder('tests', env['TMPDIR'])
    const stdio: StdioOptions = ['ignore', output, output, 'ipc']
    const options = { stdio, env: temporary ? { ...env, TMPDIR: temporary.path } : env }
    const child = spawnChild(process.execPath, args, options, 'SIGTERM')
    const start = performance.now()
    let counts: Counts | undefined
    let text = ''
    let place = ''
    let stoppedAfter: number | undefined
    const append = (chunk: string) => {
      text += chunk
    }
    child.stdout?.setEncoding('utf8').on('data', append)
    child.stderr?.setEncoding('utf8').on('data', append)
    const stop = (seconds: number) => {
      stoppedAfter = seconds
      child.kill('SIGTERM')
      setTimeout(() => child.kill('SIGKILL'), 2_000).unref()
    }
    const stopAfter = (seconds: number) => setTimeout(stop, seconds * 1000, seconds)
    let limit = testSeconds && stopAfter(Math.max(testSeconds, importSeconds))
    child.on('message', (message: Counts | { readonly test: string }) => {
      clearTimeout(limit)
      if ('test' in message) {
        place = ` in "${message.test}"`
        limit = testSeconds && stopAfter(testSeconds)
      } else counts = message
    })
    running.add(child)
    const [code] = (await once(child, 'close')) as [number | null]
    clearTimeout(limit)
    running.delete(child)
    temporary?.remove()
    const end = stoppedAfter ? `was stopped after ${stoppedAfter} seconds` : `ended with exit code ${code}`
    if (!counts) text += `\n${file} ${end}${place}, before all of its tests had run.\n`
    console.log(`${text}  Seconds:   ${((performance.now() - start) / 1000).toFixed(1)}\n`)
    return counts ?? failure
  }

  setTimeout(() => {
    isLate = true
    for (const child of running) child.kill('SIGTERM')
  }, timeoutMinutes * 60_000).unref()

  for (const group of groups) {
    const waiting = [...group.files]
    const lane = async () => {
      for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
        const counts = isLate ? failure : await runFile(group, file)
        passed += counts.passed
        failed += counts.failed
        skipped += counts.skipped
        times.push([file, counts.cpuSeconds ?? 0])
        if (counts.failed > 0) failures.push(file)
      }
    }
    await Promise.all(Array.from({ length: lanes }, lane))
  }
  await finish()
  if (isLate) console.log(`The tests did not finish within ${timeoutMinutes} minutes.`)
  if (hasTimes) {
    const sum = times.reduce((total, [, seconds]) => total + seconds, 0)
    for (const [file, seconds] of [...times.sort(([, a], [, b]) => b - a), ['all', sum] as const])
      console.log(`${seconds.toFixed(1).padStart(7)}  ${file}`)
  }
  if (failures.length > 0) console.log(`Failed: ${failures.join(', ')}`)
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  process.exit(failed === 0 && passed > 0 ? 0 : 1)
}
