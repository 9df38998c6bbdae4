/** Runs the tests that follow from the resources of the project, and those that it has in `tests/`. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { loadCode } from '../engine/open.js'
import { loadProduct } from '../engine/product.js'
import { onEnd } from '../support/cleanup.js'
import { findResource } from '../support/findResource.js'
import { CommandError, defineCommand, integer, optionalText, UsageError } from '../support/options.js'
import { ownTests } from '../support/ownTests.js'
import { runTests } from '../support/runTests.js'
import { dropDatabases, testPrefix } from '../support/testDatabases.js'
import { projectFolder, projectRegistry } from './project.js'

const command = {
  name: 'test',
  about:
    'Runs the tests that follow from the resources: lists, creates, updates, deletes, documents, plans and an oracle; then tests/*.test.ts.',
  options: {
    resource: optionalText('only those that follow from one resource', 'PATH'),
    database: optionalText('a PostgreSQL server to run them on, in new databases', 'URL', 'SQLite files'),
    timeout: integer('how many seconds one test in tests/ may take', 60, { max: 3_600 }),
  },
  notes:
    'TEST_DATABASE_URL names the server as well, and is not shown by npm. Ends with the line "N passed, N failed", and ", N skipped" if some were; exit code: 0 if all passed.',
  example: '--resource tasks',
}

const suffix = '.test.js'
const folder = join(import.meta.dirname, '..', 'spec-tests', 'derived')

export default defineCommand(command, async ({ resource, database, timeout }) => {
  const registry = await projectRegistry()
  // Errors in files are reported once, not by every test file.
  await loadProduct(projectFolder())
  await loadCode(projectFolder(), registry)
  if (resource !== undefined) findResource(registry, '--resource', resource)
  process.env['TEST_PROJECT'] = projectFolder()
  if (resource !== undefined) process.env['TEST_RESOURCE'] = resource
  const url = database ?? process.env['TEST_DATABASE_URL']
  if (url !== undefined && !/^postgres(?:ql)?:\/\//.test(url))
    throw new UsageError(
      '--database must be postgres://USER:PASSWORD@HOST:PORT/NAME; without it the tests run on SQLite.',
    )
  const prefix = testPrefix()
  const removeDatabases = async () => (url === undefined ? undefined : dropDatabases(url, prefix))
  if (url !== undefined) Object.assign(process.env, { TEST_DATABASE_URL: url, TEST_DATABASE_PREFIX: prefix })
  await removeDatabases().catch((error: Error) => {
    throw new CommandError(`The tests cannot use the PostgreSQL server: ${error.message || 'it does not answer'}`)
  })
  onEnd((isExiting) => (isExiting ? undefined : removeDatabases()))
  const derived = { folder, files: readdirSync(folder).filter((name) => name.endsWith(suffix)) }
  const groups = resource === undefined ? [derived, ownTests(projectFolder(), timeout)] : [derived]
  await runTests(groups, { finish: removeDatabases })
})
