/** Runs the tests on PostgreSQL: on the server that TEST_DATABASE_URL names, or on one started for this run. */
import { join } from 'node:path'
import { onEnd, spawnChild } from '../support/cleanup.js'
import { defineCommand, runCommand } from '../support/options.js'
import { startPostgres } from '../support/postgresServer.js'
import { dropDatabases, testPrefix } from '../support/testDatabases.js'
import { testCommand, testFiles } from './command.js'

const run = async (): Promise<number> => {
  const given = process.env['TEST_DATABASE_URL']
  const { url, stop } = given ? { url: given, stop: async () => {} } : await startPostgres()
  const prefix = testPrefix()
  // An embedded server is removed with all its databases.
  if (given) onEnd((isExiting) => (isExiting ? undefined : dropDatabases(url, prefix)))
  const args = ['--enable-source-maps', join(import.meta.dirname, 'run.js'), ...process.argv.slice(2)]
  const env = { ...process.env, TEST_DATABASE_URL: url, TEST_DATABASE_PREFIX: prefix }
  // SIGTERM lets it remove its own folders and processes.
  const child = spawnChild(process.execPath, args, { stdio: 'inherit', env }, 'SIGTERM')
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  if (given) await dropDatabases(url, prefix)
  await stop()
  return code ?? 1
}

await runCommand(
  defineCommand(testCommand('test:postgres'), async (options, name, more) => {
    // Rejects an unknown name before a server is started.
    await testFiles('postgres', name === undefined ? [] : [name, ...more], options)
    process.exit(await run())
  }),
)
