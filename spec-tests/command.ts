/** The command line of `npm test` and `npm run test:postgres`: which test files run. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { loadRegistry } from '../engine/descriptor/load.js'
import { nearest } from '../engine/descriptor/nearest.js'
import { findResource } from '../support/findResource.js'
import { flag, optionalText, UsageError } from '../support/options.js'
import { root } from '../support/root.js'

const suffix = '.test.js'

/** Files that test no resource of their own and take long, most of them by starting processes: only a run with --all, or one that names them, has them. */
// biome-ignore format: one list
const slow = new Set([
  'access', 'bounds', 'build', 'bulk.crash', 'callers.hidden', 'callers.kinds', 'callers.twins', 'changes.running',
  'changes.tables', 'changes.versions', 'changingResource', 'check', 'commands', 'contract.command', 'credentials',
  'customCode', 'dataSteps.command', 'debugLog', 'deploy', 'dev', 'documents.lint', 'download', 'eventLoop',
  'existing.compared', 'existing.import', 'existing.start', 'expand', 'explorer', 'failures', 'figures', 'freshness',
  'fuzz', 'hooks.large', 'import.command', 'init', 'introspect', 'introspect.keys', 'introspect.samples', 'keys', 'kinds',
  'large', 'memory', 'metrics', 'migrate.crash', 'migrationsPage', 'new', 'oracle', 'order', 'overload', 'ownTests',
  'package', 'postgres.citus.compared', 'postgres.citus.workers', 'postgres.spread', 'probes', 'progress', 'recipes',
  'requestLog.terminal', 'resourceCommands', 'seed', 'server', 'service', 'signIn', 'sockets',
  'sqlite.backup', 'sqlite.busyTransactions', 'sqlite.deadline', 'sqlite.faults', 'sqlite.files', 'sqlite.readme', 'sqlite.stopping',
  'sqlite.workers', 'summary', 'test.command', 'torture', 'updateEach', 'upgrade', 'zoo.between', 'zoo.random',
  'zoo.shapes', 'zoo.unique', 'zoo.webs',
])

/** Files that start a service and prove nothing about its database: a run on PostgreSQL leaves them out. */
const independent = new Set([
  ...['access', 'body', 'conditional', 'deploy', 'documents', 'documents.lint'],
  ...['metrics', 'middleware', 'new', 'probes', 'requestLog', 'requestLog.terminal', 'server', 'sockets'],
  'system',
])

export const testCommand = (name: string) => ({
  name,
  about: 'Runs the tests: all but the slow ones, or those of the files whose names contain NAME.',
  argument: { name: 'NAME', about: 'part of the name of a file in spec-tests/', required: false },
  moreArguments: { name: 'NAME', about: 'another one' },
  options: {
    resource: optionalText('run what is derived from one resource', 'PATH'),
    all: flag('run the slow tests too'),
    times: flag('list the files by their CPU seconds'),
  },
  example: 'search create',
})

/** A browser takes seconds to start. */
const isSlow = (name: string): boolean => slow.has(name) || name.endsWith('.browser')

const nameOf = (file: string): string => basename(file).slice(0, -suffix.length)

const sourceOf = (file: string): string => readFileSync(join(import.meta.dirname, file), 'utf8')

/** Whether a test file uses the database of the run; the others pass or fail alike on every database. */
const usesDatabase = (file: string): boolean =>
  /\/support\/(?:citus|database|service)\.js'|\bstartOffice\b|\brunZoo\b/.test(sourceOf(file)) &&
  !independent.has(nameOf(file)) &&
  !nameOf(file).endsWith('.browser')

/** Whether a test file repeats its tests for each resource. */
const isGeneric = (file: string): boolean => /\b(?:testedResources|eachProject)\b/.test(sourceOf(file))

/**
 * The test files whose names contain one of the texts; files that begin with the other database's name are excluded.
 * Without a text, slow files run with --all only, and a run on PostgreSQL leaves out the files that do not use the database.
 */
export const testFiles = async (
  database: 'sqlite' | 'postgres',
  texts: readonly string[],
  { resource, all: hasSlow }: { readonly resource: string | undefined; readonly all: boolean },
): Promise<string[]> => {
  if (resource !== undefined) findResource(await loadRegistry(root), '--resource', resource)
  const other = database === 'sqlite' ? 'postgres.' : 'sqlite.'
  const found = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  const all = found.filter((file) => file.endsWith(suffix) && !basename(file).startsWith(other)).sort()
  const names = all.map(nameOf)
  const unknown = texts.find((text) => !names.some((name) => name.includes(text)))
  if (unknown !== undefined) {
    const near = nearest(
      unknown,
      names.flatMap((name) => [name, name.slice(name.indexOf('.') + 1)]),
    )
    const advice = near ? `Did you mean ${near}?` : 'See spec-tests/.'
    throw new UsageError(`No test file has "${unknown}" in its name. ${advice}`)
  }
  const isWanted = (file: string): boolean =>
    texts.length > 0
      ? texts.some((text) => file.includes(text))
      : (database === 'sqlite' || usesDatabase(file)) && (hasSlow || !isSlow(nameOf(file)))
  // Slow files first, so that no core is idle at the end.
  const order = (file: string): number => (isSlow(nameOf(file)) ? 0 : 1)
  return all
    .filter((file) => isWanted(file) && (resource === undefined || isGeneric(file)))
    .sort((a, b) => order(a) - order(b))
}
