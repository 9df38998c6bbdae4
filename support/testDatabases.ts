/** The databases that a test run creates on a PostgreSQL server have names with its own prefix, by which they are dropped afterwards. */
import { Client } from 'pg'

/** The prefix of the databases of this run. */
export const testPrefix = (): string => `registry_test_${process.pid}_`

export const dropDatabases = async (url: string, prefix: string): Promise<void> => {
  const client = new Client(url)
  await client.connect()
  const { rows } = await client.query<{ name: string }>(
    'select datname as name from pg_database where starts_with(datname, $1)',
    [prefix],
  )
  for (const { name } of rows) await client.query(`drop database ${name} with (force)`)
  await client.end()
}
