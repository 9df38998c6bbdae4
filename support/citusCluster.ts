/** Starts a Citus cluster for tests, a coordinator and two workers, from an installation of PostgreSQL that has Citus. */
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from '../engine/process/supervise.js'
import { onEnd, temporaryFolder } from './cleanup.js'
import { runSql } from './postgresServer.js'

/** Where packages of systems install the programs of PostgreSQL, a folder for each version. */
const installations = ['/usr/lib/postgresql', '/usr/local/pgsql', '/opt/homebrew/opt', '/usr']

const outputOf = (program: string, ...args: string[]): string =>
  spawnSync(program, args, { encoding: 'utf8' }).stdout?.trim() ?? ''

/** The folder with the programs of the newest PostgreSQL that has Citus; that of pg_config first. */
export const findCitus = (): string | undefined => {
  const versions = installations.flatMap((folder) =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => /^(?:pgsql-|postgresql@)?\d+$/.test(name))
          .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
          .map((name) => join(folder, name, 'bin'))
      : [],
  )
  return [outputOf('pg_config', '--bindir'), ...versions].find((bin) => {
    const libraries = [outputOf(join(bin, 'pg_config'), '--pkglibdir'), join(bin, '..', 'lib')]
    const isInstalled = libraries.some(
      (folder) => existsSync(join(folder, 'citus.so')) || existsSync(join(folder, 'citus.dylib')),
    )
    return isInstalled && existsSync(join(bin, 'initdb'))
  })
}

/** PostgreSQL refuses root: then another user runs it. */
const unprivileged = (): { uid?: number; gid?: number } => {
  if (process.getuid?.() !== 0) return {}
  const users = readFileSync('/etc/passwd', 'utf8')
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(users) ?? /^nobody:[^:]*:(\d+):(\d+):/m.exec(users) ?? []
  return { uid: Number(uid ?? 65534), gid: Number(gid ?? 65534) }
}

export interface CitusNode {
  readonly port: number
  /** Ends it at once, as a crash of its machine does. */
  kill(): void
  start(): Promise<void>
}

export interface CitusCluster {
  readonly url: string
  readonly workers: readonly CitusNode[]
  stop(): void
}

const settings = {
  shared_preload_libraries: 'citus',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_prepared_transactions: '50',
  fsync: 'off',
  // All nodes are on this machine; with TLS, they would look for certificates in a home folder.
  'citus.node_conninfo': 'sslmode=disable',
}

/** Starts a cluster of the installation in `bin`; it ends with this process. */
export const startCitus = async (bin: string): Promise<CitusCluster> => {
  const user = unprivileged()
  const folder = temporaryFolder('citus')
  chmodSync(folder.path, 0o755)
  if (user.uid !== undefined) chownSync(folder.path, user.uid, user.gid as number)
  const run = (program: string, ...args: string[]): boolean =>
    spawnSync(join(bin, program), args, { ...user, cwd: folder.path, stdio: 'ignore' }).status === 0
  const urlOf = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`

  const startNode = async (name: string): Promise<CitusNode> => {
    const [data, log, port] = [join(folder.path, name), join(folder.path, `${name}.log`), await freePort('127.0.0.1')]
    const fail = (): never => {
      throw new Error(`The ${name} of Citus did not start.\n${existsSync(log) ? readFileSync(log, 'utf8') : ''}`)
    }
    if (!run('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-N', '--encoding=UTF8', '--locale=C')) fail()
    const flags = Object.entries(settings).map(([key, value]) => `-c ${key}='${value}'`)
    const begin = () => run('pg_ctl', '-D', data, '-l', log, '-w', '-o', `-p ${port} ${flags.join(' ')}`, 'start')
    // The newest first: it must stop before its folder is removed.
    onEnd(() => void run('pg_ctl', '-D', data, '-m', 'immediate', 'stop'))
    if (!begin()) fail()
    await runSql(urlOf(port), 'create extension citus')
    await runSql(urlOf(port), 'create extension pg_trgm')
    return {
      port,
      kill: () => process.kill(Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]), 'SIGKILL'),
      async start() {
        // Not before the sessions of the killed one have ended.
        for (let attempts = 60; !begin(); attempts--) {
          if (attempts === 0) fail()
          await setTimeout(500)
        }
      },
    }
  }
  const coordinator = await startNode('coordinator')
  const url = urlOf(coordinator.port)
  await runSql(url, `select citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`)
  const workers: CitusNode[] = []
  for (const name of ['worker1', 'worker2']) {
    const worker = await startNode(name)
    await runSql(url, `select citus_add_node('127.0.0.1', ${worker.port})`)
    workers.push(worker)
  }
  return {
    url,
    workers,
    stop() {
      for (const name of ['coordinator', 'worker1', 'worker2'])
        run('pg_ctl', '-D', join(folder.path, name), '-m', 'immediate', 'stop')
      folder.remove()
    },
  }
}
