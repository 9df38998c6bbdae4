/** Runs every suite and cannot pass without having run: a file without a suite, or a hook that throws, is a failure. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { server } from './support/database.js'

type Result = [errors: true | string, passed: number, skipped: number, total: number]
type Run = () => Promise<Result>
declare global {
  var UVU_DEFER: number
  var UVU_INDEX: number
  var UVU_QUEUE: [string, ...Run[]][]
}

globalThis.UVU_DEFER = 1
globalThis.UVU_QUEUE = []
const { exec } = await import('uvu')

const only = process.argv[2] ?? ''
/** A file that begins with a database's name is about that database alone; all others hold for each. */
const foreign = server ? 'sqlite.' : 'postgres.'
const files = readdirSync(import.meta.dirname).filter(
  (name) => name.endsWith('.test.js') && name.includes(only) && !name.startsWith(foreign),
)
/** How many minutes the whole run may take. */
const patience = 10
let passed = 0
let failed = 0

/** Counts what a suite says of itself, for uvu's own total forgets a suite whose hook threw. */
const counted =
  (run: Run): Run =>
  async () => {
    const result = await run()
    passed += result[1]
    failed += result[3] - result[1]
    return result
  }

for (const [index, name] of files.entries()) {
  globalThis.UVU_QUEUE.push([name])
  globalThis.UVU_INDEX = index
  try {
    await import(join(import.meta.dirname, name))
    const [, ...runs] = globalThis.UVU_QUEUE[index] ?? []
    if (runs.length === 0) throw new Error('holds no suite that runs')
    globalThis.UVU_QUEUE[index] = [name, ...runs.map(counted)]
  } catch (error) {
    failed++
    console.error(`${name}: ${(error as Error).stack}`)
  }
}
// A test that hangs is a failure, not a wait.
setTimeout(() => {
  console.error(`a test has not ended within ${patience} minutes`)
  console.log(`${passed} passed, ${failed + 1} failed`)
  process.exit(1)
}, patience * 60_000).unref()
await exec()
const ok = failed === 0 && passed > 0
console.log(`${passed} passed, ${failed} failed`)
// An open handle would keep the process alive; whatever a suite left open ends here.
process.exit(ok ? 0 : 1)
