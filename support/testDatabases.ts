/** The new databases of a test run. On a PostgreSQL server their names have the prefix of the run, by which they are dropped afterwards. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Client } from 'pg'
import { temporaryFolder } from './cleanup.js'

const connected = async <T>(url: string, work: (client: Client) => Promise<T>): Promise<T> => {
  const client = new Client(url)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The prefix of the databases of this run. */
export const testPrefix = (): string => `registry_test_${process.pid}_`

export const dropDatabases = (url: string, prefix: string): Promise<void> =>
  connected(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      'select datname as name from pg_database where starts_with(datname, $1)',
      [prefix],
    )
    for (const { name } of rows) await client.query(`drop database if exists ${name} with (force)`)
  })

/** The URL of a new database: on the server in TEST_DATABASE_URL, or a file, as users have, not sqlite::memory:. */
export const freshUrl = async (): Promise<string> => {
  const server = process.env['TEST_DATABASE_URL']
  if (!server) return `sqlite:${join(temporaryFolder('fresh').path, 'fresh.sqlite')}`
  const name = `${process.env['TEST_DATABASE_PREFIX'] ?? testPrefix()}${randomBytes(6).toString('hex')}`
  await connected(server, (client) => client.query(`create database ${name} template template0 encoding 'UTF8'`))
  return Object.assign(new URL(server), { pathname: `/${name}` }).href
}

/** Drops a database on the server at once; a file is removed when the process ends. */
export const dropDatabase = async (url: string): Promise<void> => {
  const server = process.env['TEST_DATABASE_URL']
  if (server) await dropDatabases(server, new URL(url).pathname.slice(1))
}
