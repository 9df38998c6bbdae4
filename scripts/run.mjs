/** Runs a compiled module, after building changed sources: `node scripts/run.mjs cli/seed --rows 10`. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BuildError, build } from './build.mjs'
import { compressDocs } from './compressDocs.mjs'

const [name, ...args] = process.argv.slice(2)
try {
  // The help is printed without build messages.
  const folder = build({ quiet: args.includes('--help') || args.includes('-h') })
  if (name === 'server' || name.startsWith('spec-tests/')) compressDocs()
  process.argv.splice(1, 2, join(folder, `${name}.js`))
} catch (error) {
  if (!(error instanceof BuildError)) throw error
  // The errors of `npm run check -- --json` are an array, syntax errors too.
  const isArray = name === 'cli/check' && args.includes('--json') && error.problems.length > 0
  if (isArray) console.log(JSON.stringify(error.problems, null, 2))
  else console.error(error.message)
  process.exit(1)
}
await import(pathToFileURL(process.argv[1]).href)
