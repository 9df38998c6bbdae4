/** Ends a service as a crash does: without a word, with all its processes, or with one of its workers alone. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Random } from './random.js'

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

const kill = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended meanwhile, which is all that was wanted.
  }
}

/** Kills a service and its workers; a stopped one starts no further worker meanwhile. */
export const killAll = (pid: number): void => {
  kill(pid, 'SIGSTOP')
  for (const child of childrenOf(pid)) kill(child, 'SIGKILL')
  kill(pid, 'SIGKILL')
}

/**
 * Kills a service and its workers after so many milliseconds, by a process of its own: this one's clients go on meanwhile, and
 * what the service told them last may still be on its way to them.
 */
export const killAllAfter = (pid: number, milliseconds: number): void => {
  const all = [pid, ...childrenOf(pid)].join(' ')
  spawn('sh', ['-c', `sleep ${milliseconds / 1000}; kill -9 ${all}`], { stdio: 'ignore' })
}

/** Kills one of the workers of a service. */
export const killWorker = (pid: number, random: Random): void => {
  const workers = childrenOf(pid)
  if (workers.length > 0) kill(random.pick(workers), 'SIGKILL')
}
