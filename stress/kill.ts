/** Kills a service with all its processes, or one of its workers. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Random } from './random.js'

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

const kill = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has already ended.
  }
}

/** Stops the service first, so that it cannot replace its workers. */
export const killAll = (pid: number): void => {
  kill(pid, 'SIGSTOP')
  for (const child of childrenOf(pid)) kill(child, 'SIGKILL')
  kill(pid, 'SIGKILL')
}

/** Kills a service and its workers after a delay, from a separate process, so that the clients in this one keep sending. */
export const killAllAfter = (pid: number, milliseconds: number): void => {
  const all = [pid, ...childrenOf(pid)].join(' ')
  spawn('sh', ['-c', `sleep ${milliseconds / 1000}; kill -9 ${all}`], { stdio: 'ignore' })
}

export const killWorker = (pid: number, random: Random): void => {
  const workers = childrenOf(pid)
  if (workers.length > 0) kill(random.pick(workers), 'SIGKILL')
}
