/** Removes temporary folders and stops child processes when this process ends, also when a signal ends it. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A cleanup step. During an exit only its synchronous part runs. */
type CleanupTask = (isExiting: boolean) => unknown

const tasks = new Set<CleanupTask>()

/** Newest first: a process must stop before its folder is removed. */
const runNewest = (isExiting: boolean): unknown => {
  const task = [...tasks].at(-1) as CleanupTask
  tasks.delete(task)
  try {
    return task(isExiting)
  } catch (error) {
    return console.error(error)
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

let isEnding = false

/** Whether a signal is ending the process; later errors are consequences of that. */
export const isInterrupted = (): boolean => isEnding

const endBy = async (signal: NodeJS.Signals): Promise<void> => {
  isEnding = true
  // The process keeps running during the cleanup and may add tasks.
  while (tasks.size > 0) await runNewest(false)
  for (const name of signals) process.removeAllListeners(name)
  process.kill(process.pid, signal)
}

let isInstalled = false
const install = (): void => {
  if (isInstalled) return
  isInstalled = true
  process.once('exit', () => {
    while (tasks.size > 0) runNewest(true)
  })
  for (const signal of signals) process.once(signal, () => void endBy(signal))
}

/** Registers a task for the end of the process; returns a function that cancels it. */
export const onEnd = (task: CleanupTask): (() => void) => {
  install()
  tasks.add(task)
  return () => void tasks.delete(task)
}

export interface TemporaryFolder {
  readonly path: string
  /** Keeps the folder when the process ends. */
  keep(): void
  remove(): void
}

/** Creates a folder that is removed when the process ends. */
export const temporaryFolder = (name: string, parent = tmpdir()): TemporaryFolder => {
  const path = mkdtempSync(join(parent, `${name}-`))
  // A process that is being killed may still write a file, so removing is retried.
  const remove = (): void => rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  const keep = onEnd(remove)
  return {
    path,
    keep,
    remove() {
      keep()
      remove()
    },
  }
}

/** Starts a child process that ends with this one: by the given signal, and by SIGKILL five seconds later. */
export const spawnChild = (
  program: string,
  args: readonly string[],
  options: SpawnOptions,
  signal: NodeJS.Signals = 'SIGKILL',
): ChildProcess => {
  const child = spawn(program, args, options)
  const cancel = onEnd(async (isExiting) => {
    const ended = once(child, 'exit')
    child.kill(isExiting ? 'SIGKILL' : signal)
    const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
    await ended
    clearTimeout(timer)
  })
  child.once('exit', cancel)
  child.once('error', cancel)
  return child
}
