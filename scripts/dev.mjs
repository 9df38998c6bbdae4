/** `npm run dev`: serves, and rebuilds and restarts when a source file changes and has no errors. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { BuildError, build, compilerPath } from './build.mjs'
import { rejectArguments } from './rejectArguments.mjs'

rejectArguments(
  'Usage: npm run dev\n\nServes, and rebuilds and restarts when a file changes. With errors in a file, the last good version keeps running. Settings are environment variables, as for npm start.\n\nExample: PORT=4000 npm run dev',
)
process.chdir(dirname(import.meta.dirname))

/** Milliseconds to wait for more changes before a restart. */
const settleMs = 150

/** The running service: its process, the folder of its build, and whether it was told to stop. */
let service
/** The folder of the last build whose service was still running when a file changed. */
let lastGood
/** The running type check. */
let typeCheck
let timer
let isUpdating = false
let isOutdated = false

/** Runs a script to its end, and returns what it printed, or undefined if it succeeded. */
const failureOf = async (child) => {
  const [[code], stdout, stderr] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
  return code === 0 ? undefined : { stdout, stderr }
}

/** Prints type errors, which a build does not find; a newer change cancels the check. */
const checkTypes = async () => {
  typeCheck?.kill()
  const compiler = compilerPath()
  if (compiler === undefined) return
  const options = ['--noEmit', '--incremental', '--tsBuildInfoFile', 'dist/types.tsbuildinfo']
  const pretty = process.stderr.isTTY ? ['--pretty'] : []
  const child = spawn(process.execPath, [compiler, ...options, ...pretty])
  typeCheck = child
  const failure = await failureOf(child)
  if (failure && child.signalCode === null) console.error(`The types have errors:\n${failure.stdout.trimEnd()}`)
}

/** Returns the folder of a new build whose descriptors have no errors, or undefined; prints the errors. */
const goodBuild = async () => {
  let folder
  try {
    folder = build()
  } catch (error) {
    if (!(error instanceof BuildError)) throw error
    console.error(error.message)
    return undefined
  }
  const failure = await failureOf(spawn(process.execPath, ['--enable-source-maps', join(folder, 'cli/check.js')]))
  if (!failure) return folder
  console.error(`${failure.stdout}${failure.stderr}`.trimEnd())
  // A start that does not load the demo rows does not need them to be valid.
  return /^(?!seeds\/)\S+?:/m.test(failure.stdout) ? undefined : folder
}

const sayWaiting = () =>
  console.error(
    `${service ? 'The last good version keeps running' : 'The service does not run'}; waiting for a change.`,
  )

const start = (folder) => {
  const child = spawn(process.execPath, ['--enable-source-maps', join(folder, 'server.js')], { stdio: 'inherit' })
  const own = { child, folder, isStopped: false }
  service = own
  child.on('exit', () => {
    if (service === own) service = undefined
    if (own.isStopped) return
    if (lastGood !== undefined && lastGood !== folder) {
      console.error('The new version ended; the last good version starts again.')
      start(lastGood)
    }
    sayWaiting()
  })
}

const stop = async () => {
  if (!service) return
  const { child, folder } = service
  lastGood = folder
  service.isStopped = true
  child.kill('SIGTERM')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

const update = async () => {
  isOutdated = true
  if (isUpdating) return
  isUpdating = true
  while (isOutdated) {
    isOutdated = false
    const folder = await goodBuild()
    if (folder === undefined) sayWaiting()
    else {
      await stop()
      start(folder)
    }
  }
  isUpdating = false
  await checkTypes()
}

const onChange = () => {
  clearTimeout(timer)
  timer = setTimeout(update, settleMs)
}
// One watcher per folder: recursive watching misses new files on some systems.
for (const name of ['cli', 'engine', 'resources', 'seeds', 'support'].filter((folder) => existsSync(folder))) {
  const inside = readdirSync(name, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory())
  for (const folder of [name, ...inside.map((entry) => join(entry.parentPath ?? entry.path, entry.name))]) {
    watch(folder, onChange)
  }
}
watch('.', (_, name) => {
  if (['product.ts', 'server.ts', 'tsconfig.json'].includes(name)) onChange()
})
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    service?.child.kill('SIGTERM')
    typeCheck?.kill()
    process.exit(0)
  })
}
await update()
