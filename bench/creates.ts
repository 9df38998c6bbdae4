/** Creates under load: one client after another, and sixty-four at once, on this disk and on a slow one. */
import { type ChildProcess, execFileSync } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { spawnChild } from '../support/cleanup.js'
import { Client } from './client.js'
import type { Server } from './processes.js'

export interface Creates {
  readonly disk: string
  readonly alone: number
  readonly together: number
}

const hasStrace = (): boolean => {
  try {
    execFileSync('strace', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Makes every sync of a process take five milliseconds, until it is ended. */
const slowDisk = async (pid: number): Promise<ChildProcess> => {
  const calls = 'fsync,fdatasync'
  const args = [
    '-f',
    '-p',
    String(pid),
    '-e',
    `trace=${calls}`,
    '-e',
    `inject=${calls}:delay_enter=5000`,
    '-o',
    '/dev/null',
  ]
  const strace = spawnChild('strace', args, { stdio: 'ignore' }, 'SIGTERM')
  await setTimeout(1_000)
  return strace
}

const create = (token: string) => ({
  path: '/api/v1/leave',
  method: 'POST',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify({ leave_type: 'Annual', employee_id: 7, days: 1.5, reason: 'A journey that was long planned' }),
})

/** Measures the creates of a server, on a slow disk too where it syncs itself and strace can make one. */
export const measureCreates = async (server: Server, token: string, syncsItself: boolean): Promise<Creates[]> => {
  const client = new Client(server.address)
  const both = async (disk: string, count: number): Promise<Creates> => {
    await client.rate(create(token), 64, 200)
    return {
      disk,
      alone: await client.rate(create(token), 1, Math.floor(count / 8)),
      together: await client.rate(create(token), 64, count),
    }
  }
  const results = [await both('this disk', 4_000)]
  if (syncsItself && hasStrace()) {
    const strace = await slowDisk(server.pid)
    results.push(await both('every sync takes 5 ms', 2_000))
    strace.kill()
  }
  return results
}
