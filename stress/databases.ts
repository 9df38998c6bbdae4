/** Empty databases for the stress tests: SQLite files, or databases of a temporary PostgreSQL server. */
import { join } from 'node:path'
import { temporaryFolder } from '../support/cleanup.js'
import { flag } from '../support/options.js'
import { runSql, startPostgres } from '../support/postgresServer.js'

/** The option `--postgres` of a stress test. */
export const postgresOption = flag('run on a temporary PostgreSQL server instead of SQLite')

export const openDatabases = async (isPostgres: boolean) => {
  let count = 0
  if (!isPostgres) {
    const { path, keep, remove } = temporaryFolder('stress')
    const newDatabase = async () => `sqlite:${join(path, `${++count}.sqlite`)}`
    return { newDatabase, keep, close: async () => remove() }
  }
  const { url, stop } = await startPostgres()
  const newDatabase = async () => {
    await runSql(url, `create database stress_${++count}`)
    return url.replace(/\w+$/, `stress_${count}`)
  }
  return { newDatabase, keep: () => {}, close: stop }
}
