/** The databases of the tests: SQLite's, or fresh ones on the PostgreSQL server that the run was given. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { Client, types } from 'pg'
import { temporaryFolder } from '../../support/cleanup.js'

/** The address of the PostgreSQL server to test on; without one the tests are SQLite's. */
export const server = process.env['TEST_DATABASE_URL']

/** How the names of a run's databases begin, so that the run can drop them. */
export const prefix = process.env['TEST_DATABASE_PREFIX'] ?? 'registry_test_'

/** Runs one statement as a program of its own would. */
export const runOn = async (url: string, sql: string, values: readonly unknown[] = []) => {
  // Integers as numbers: the tests compare them with what the service shows.
  const parsed = { getTypeParser: (oid: number) => (oid === types.builtins.INT8 ? Number : types.getTypeParser(oid)) }
  const client = new Client({ connectionString: url, types: parsed as never })
  await client.connect()
  try {
    return (await client.query(sql, [...values])).rows as Record<string, unknown>[]
  } finally {
    await client.end()
  }
}

const createOn = async (address: string): Promise<string> => {
  const name = `${prefix}${randomBytes(6).toString('hex')}`
  await runOn(address, `create database ${name} template template0 encoding 'UTF8'`)
  const url = new URL(address)
  url.pathname = `/${name}`
  return url.href
}

/** The address of a new database: what users run, a file with its worker threads, or one on the server. */
export const freshUrl = async (): Promise<string> =>
  server ? createOn(server) : `sqlite:${join(temporaryFolder('fresh').path, 'fresh.sqlite')}`

export interface SharedDatabase {
  readonly url: string
  /** What a first start creates there, as the service reports it. */
  readonly what: string
  /** Runs a statement, its values marked by `?`, as another program would. */
  run(sql: string, ...values: unknown[]): Promise<Record<string, unknown>[]>
  close(): void
}

/** A database that several processes use, and other programs too. */
export const sharedDatabase = async (): Promise<SharedDatabase> => {
  if (server) {
    const url = await createOn(server)
    const numbered = (sql: string) => {
      let n = 0
      return sql.replaceAll('?', () => `$${++n}`)
    }
    return { url, what: 'the tables in', run: (sql, ...values) => runOn(url, numbered(sql), values), close: () => {} }
  }
  const folder = temporaryFolder('shared')
  const path = join(folder.path, 'shared.sqlite')
  let database: Database.Database | undefined
  return {
    url: `sqlite:${path}`,
    what: 'the database',
    async run(sql, ...values) {
      database ??= new Database(path)
      const statement = database.prepare(sql)
      if (statement.reader) return statement.all(values) as Record<string, unknown>[]
      statement.run(values)
      return []
    },
    close() {
      database?.close()
      folder.remove()
    },
  }
}
