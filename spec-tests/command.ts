/** The command line of `npm test` and `npm run test:postgres`: which test files run. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nearest } from '../engine/descriptor/nearest.js'
import { UsageError } from '../support/options.js'

const suffix = '.test.js'

export const testCommand = (name: string) => ({
  name,
  about: 'Runs the tests: all of them, or those of the files whose name contains NAME.',
  argument: { name: 'NAME', about: 'part of the name of a file in spec-tests/', required: false },
  options: {},
  example: `${name} -- search`,
})

/** Whether a test file uses the database of the run; the others pass or fail alike on every database. */
const usesDatabase = (file: string): boolean =>
  /\/support\/(database|service)\.js'/.test(readFileSync(join(import.meta.dirname, file), 'utf8'))

/**
 * The test files whose name contains the text; files that begin with the other database's name are excluded.
 * A complete run on PostgreSQL leaves out the files that do not use the database.
 */
export const testFiles = (database: 'sqlite' | 'postgres', text = ''): string[] => {
  const other = database === 'sqlite' ? 'postgres.' : 'sqlite.'
  const all = readdirSync(import.meta.dirname).filter((file) => file.endsWith(suffix) && !file.startsWith(other))
  const isComplete = database === 'postgres' && text === ''
  const chosen = all.filter((file) => file.includes(text) && (!isComplete || usesDatabase(file)))
  if (chosen.length > 0) return chosen
  const names = all.map((file) => file.slice(0, -suffix.length))
  const near = nearest(
    text,
    names.flatMap((name) => [name, name.slice(name.indexOf('.') + 1)]),
  )
  throw new UsageError(`No test file has "${text}" in its name. ${near ? `Did you mean ${near}?` : 'See spec-tests/.'}`)
}
