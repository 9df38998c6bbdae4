/** Measures creates by one client and by sixty-four, on this disk and on a simulated slow one. */
import { type ChildProcess, execFileSync } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { progressBar } from '../engine/process/progress.js'
import { spawnChild } from '../support/cleanup.js'
import { Client } from './client.js'
import type { RunningServer } from './processes.js'

export interface CreateRates {
  readonly disk: string
  /** Creates per second. */
  readonly oneClient: number
  readonly manyClients: number
}

const hasStrace = (): boolean => {
  try {
    execFileSync('strace', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Delays every fsync of a process by five milliseconds, until the returned process is killed. */
const slowDownSyncs = async (pid: number): Promise<ChildProcess> => {
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

const createRequest = (token: string) => ({
  path: '/api/v1/leave',
  method: 'POST',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify({ leave_type: 'Annual', employee_id: 7, days: 1.5, reason: 'Family holiday' }),
})

/** Simulates the slow disk only if the server syncs by itself and strace is installed. */
export const measureCreates = async (
  server: RunningServer,
  token: string,
  syncsInProcess: boolean,
): Promise<CreateRates[]> => {
  const client = new Client(server.address)
  const isSlowDisk = syncsInProcess && hasStrace()
  const report = progressBar('creates', isSlowDisk ? 4 : 2, 'measurements')
  let done = 0
  report(done)
  const rate = async (clients: number, count: number): Promise<number> => {
    const measured = await client.rate(createRequest(token), clients, count)
    report(++done)
    return measured
  }
  const measure = async (disk: string, count: number): Promise<CreateRates> => {
    await client.rate(createRequest(token), 64, 200)
    return { disk, oneClient: await rate(1, Math.floor(count / 8)), manyClients: await rate(64, count) }
  }
  const results = [await measure('this disk', 4_000)]
  if (isSlowDisk) {
    const strace = await slowDownSyncs(server.pid)
    results.push(await measure('each sync delayed by 5 ms', 2_000))
    strace.kill()
  }
  return results
}
