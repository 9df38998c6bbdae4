/** The databases of the tests: SQLite files, or new databases on the PostgreSQL server in TEST_DATABASE_URL. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type BetterSqlite3 from 'better-sqlite3'
import { Client, types } from 'pg'
import { Database } from '../../engine/storage/sqlite/driver.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { freshUrl } from '../../support/testDatabases.js'

export { freshUrl }

/** The PostgreSQL server; undefined if the tests run on SQLite. */
export const server = process.env['TEST_DATABASE_URL']

/** Runs one statement on its own connection. */
export const runOn = async (url: string, sql: string, values: readonly unknown[] = []) => {
  // Parses bigint as a number, to compare it with responses.
  const parsed = { getTypeParser: (oid: number) => (oid === types.builtins.INT8 ? Number : types.getTypeParser(oid)) }
  const client = new Client({ connectionString: url, types: parsed as never })
  await client.connect()
  try {
    return (await client.query(sql, [...values])).rows as Record<string, unknown>[]
  } finally {
    await client.end()
  }
}

/** A session of another program. */
export const sessionOn = async (url: string): Promise<Client> => {
  const client = new Client(url)
  await client.connect()
  return client
}

/** Ends the sessions of a database that fulfil a condition, as an administrator does; its own excepted. */
export const endSessions = (url: string, condition = 'true') =>
  runOn(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and ${condition}`,
  )

/** Creates a role that may only log in; returns its name, the URL with which it does, and how to drop it. */
export const roleOn = async (url: string) => {
  const role = `role_${randomBytes(4).toString('hex')}`
  await runOn(url, `create role ${role} login password 'of-a-role'`)
  const { href: address } = Object.assign(new URL(url), { username: role, password: 'of-a-role' })
  const drop = () => runOn(url, `drop owned by ${role} cascade; drop role ${role}`)
  return { role, address, drop }
}

/** Runs some work while another session has a lock, such as `leave_requests in exclusive mode`. */
export const whileLockedIn = async <T>(url: string, lock: string, work: () => Promise<T>): Promise<T> => {
  const client = await sessionOn(url)
  await client.query(`begin; lock table ${lock}`)
  try {
    return await work()
  } finally {
    await client.end()
  }
}

export interface SharedDatabase {
  readonly url: string
  /** What the service reports to have created at its first start. */
  readonly reportedAs: string
  /** Runs a statement with `?` placeholders, like another program. */
  run(sql: string, ...values: unknown[]): Promise<Record<string, unknown>[]>
}

/** A new database for several processes. */
export const sharedDatabase = async (): Promise<SharedDatabase> => {
  if (server) {
    const url = await freshUrl()
    const numbered = (sql: string) => {
      let n = 0
      return sql.replaceAll('?', () => `$${++n}`)
    }
    return {
      url,
      reportedAs: 'the tables in',
      run: (sql, ...values) => runOn(url, values.length > 0 ? numbered(sql) : sql, values),
    }
  }
  const path = join(temporaryFolder('shared').path, 'shared.sqlite')
  let database: BetterSqlite3.Database | undefined
  return {
    url: `sqlite:${path}`,
    reportedAs: 'the database',
    async run(sql, ...values) {
      database ??= new Database(path)
      const statement = database.prepare(sql)
      const rows = statement.reader ? (statement.all(values) as Record<string, unknown>[]) : []
      if (!statement.reader) statement.run(values)
      // A service in this process looks once in a tick whether another program has written.
      await setImmediate()
      return rows
    },
  }
}
