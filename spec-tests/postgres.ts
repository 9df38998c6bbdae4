/** Runs the tests on PostgreSQL: on the server that TEST_DATABASE_URL names, or on one started for this run. */
import { join } from 'node:path'
import { findCitus, startCitus } from '../support/citusCluster.js'
import { onEnd, spawnChild } from '../support/cleanup.js'
import { defineCommand, runCommand } from '../support/options.js'
import { startPostgres } from '../support/postgresServer.js'
import { dropDatabases, testPrefix } from '../support/testDatabases.js'
import { testCommand, testFiles } from './command.js'

/** The cluster of the tests of Citus, if they run and an installation has it. */
const startCluster = async (): Promise<{ readonly url?: string | undefined; stop(): void }> => {
  const given = process.env['CITUS_DATABASE_URL']
  const bin = given ? undefined : findCitus()
  if (bin) console.log(`The tests of Citus run on a cluster of ${bin}.`)
  else if (!given) console.log('No PostgreSQL with Citus is installed: the tests of Citus are skipped.')
  return bin ? startCitus(bin) : { url: given, stop: () => {} }
}

const run = async (files: readonly string[]): Promise<number> => {
  const given = process.env['TEST_DATABASE_URL']
  const { url, stop } = given ? { url: given, stop: async () => {} } : await startPostgres()
  const prefix = testPrefix()
  // An embedded server is removed with all its databases.
  if (given) onEnd((isExiting) => (isExiting ? undefined : dropDatabases(url, prefix)))
  const cluster = files.some((file) => file.includes('.citus.')) ? await startCluster() : undefined
  const args = ['--enable-source-maps', join(import.meta.dirname, 'run.js'), ...process.argv.slice(2)]
  const env = {
    ...process.env,
    TEST_DATABASE_URL: url,
    TEST_DATABASE_PREFIX: prefix,
    ...(cluster?.url && { CITUS_DATABASE_URL: cluster.url }),
  }
  // SIGTERM lets it remove its own folders and processes.
  const child = spawnChild(process.execPath, args, { stdio: 'inherit', env }, 'SIGTERM')
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  if (given) await dropDatabases(url, prefix)
  cluster?.stop()
  await stop()
  return code ?? 1
}

await runCommand(
  defineCommand(testCommand('test:postgres'), async (options, name, more) => {
    // Rejects an unknown name before a server is started.
    const files = await testFiles('postgres', name === undefined ? [] : [name, ...more], options)
    process.exit(await run(files))
  }),
)
