/** Runs the suites on PostgreSQL: on the server that TEST_DATABASE_URL names, or on one started for this run. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { startPostgres } from '../support/postgresServer.js'
import { runOn } from './support/database.js'

const given = process.env['TEST_DATABASE_URL']
const { url, stop } = given ? { url: given, stop: async () => {} } : await startPostgres()
const prefix = `registry_test_${process.pid}_`

const run = spawn(
  process.execPath,
  ['--enable-source-maps', join(import.meta.dirname, 'run.js'), ...process.argv.slice(2)],
  {
    stdio: 'inherit',
    env: { ...process.env, TEST_DATABASE_URL: url, TEST_DATABASE_PREFIX: prefix },
  },
)
const code = await new Promise<number | null>((resolve) => run.on('close', resolve))
const left = await runOn(url, 'select datname as name from pg_database where starts_with(datname, $1)', [prefix])
for (const { name } of left) await runOn(url, `drop database ${name} with (force)`)
await stop()
process.exit(code ?? 1)
