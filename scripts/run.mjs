/** Runs a compiled module, after building changed sources: `node scripts/run.mjs cli/seed --rows 10`. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BuildError, build } from './build.mjs'

const [name, ...args] = process.argv.slice(2)
try {
  // The help is printed without build messages.
  const folder = build({ quiet: args.includes('--help') || args.includes('-h') })
  process.argv.splice(1, 2, join(folder, `${name}.js`))
} catch (error) {
  if (!(error instanceof BuildError)) throw error
  // The errors of `npm run check -- --json` are an array, syntax errors too.
  const isArray = name === 'cli/check' && args.includes('--json') && error.problems.length > 0
  if (isArray) console.log(JSON.stringify(error.problems, null, 2))
  else console.error(error.message)
  process.exit(1)
}

// A shell between npm and this process ends by a signal without passing it on.
if (process.env.npm_lifecycle_event !== undefined && process.platform !== 'win32') {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, 100)
  timer.unref()
}

try {
  await import(pathToFileURL(process.argv[1]).href)
} catch (error) {
  const isMissing =
    /^(?:ERR_)?MODULE_NOT_FOUND$/.test(error.code) && /Cannot find (?:package|module) '[^./]/.test(error.message)
  if (!isMissing && error.name !== 'StorageError') throw error
  const [reason] = error.message.split('\n')
  console.error(isMissing ? `The installation is incomplete: run npm ci again. (${reason})` : reason)
  process.exit(1)
}
