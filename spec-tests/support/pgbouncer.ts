/** Starts a PgBouncer before the PostgreSQL server of the tests. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../engine/process/supervise.js'
import { spawnChild, temporaryFolder } from '../../support/cleanup.js'

/** Its own build, or where Debian's package and others install it. */
export const pgbouncer = ['/usr/local/bin/pgbouncer', '/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find((path) =>
  existsSync(path),
)

/** Whether it can keep prepared statements in transaction mode, from version 1.21 on. */
export const canKeepStatements = (): boolean => {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(String(execFileSync(pgbouncer as string, ['--version']))) ?? []
  return Number(major) > 1 || Number(minor) >= 21
}

/** Starts a pooler with its default settings and the given ones. */
export const startPgbouncer = async (server: string, settings: Readonly<Record<string, string>>) => {
  const { hostname, port, username, password } = new URL(server)
  const folder = temporaryFolder('pgbouncer')
  // Run by root, PgBouncer becomes another user.
  chmodSync(folder.path, 0o755)
  const [ini, users] = ['pgbouncer.ini', 'users.txt'].map((name) => join(folder.path, name)) as [string, string]
  const ownPort = String(await freePort('127.0.0.1'))
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: ownPort,
    unix_socket_dir: '',
    auth_type: password ? 'scram-sha-256' : 'trust',
    auth_file: users,
    ...settings,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`)
  writeFileSync(users, `"${username}" "${decodeURIComponent(password)}"\n`)
  writeFileSync(ini, `[databases]\n* = host=${hostname} port=${port || 5432}\n[pgbouncer]\n${lines.join('\n')}\n`)
  const asUser = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawnChild(pgbouncer as string, [...asUser, ini], {}, 'SIGTERM')
  let log = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      log += chunk
    })
  }
  while (!log.includes('process up')) {
    if (child.exitCode !== null) throw new Error(`PgBouncer did not start: ${log}`)
    await sleep(20)
  }
  return {
    /** The URL of a database of the server, through the pooler. */
    through(url: string): string {
      const address = new URL(url)
      address.host = `127.0.0.1:${ownPort}`
      return address.href
    },
    stop() {
      child.kill('SIGTERM')
      folder.remove()
    },
  }
}
