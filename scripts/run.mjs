/** Runs a command of the package, or a compiled module, after building changed sources: `node scripts/run.mjs seed --rows 10`. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BuildError, build } from './build.mjs'

const [name, ...args] = process.argv.slice(2)
try {
  // The help is printed without build messages.
  const folder = build({ quiet: args.includes('--help') || args.includes('-h') })
  process.argv.splice(
    1,
    2,
    ...(name?.includes('/') ? [join(folder, `${name}.js`)] : [join(folder, 'cli/main.js'), name]),
  )
} catch (error) {
  if (!(error instanceof BuildError)) throw error
  console.error(error.message)
  process.exit(1)
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
