/** Leaves nothing behind: child processes, temporary folders and the like end with the process, also where a signal ends it. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Undoes something; only its synchronous part counts while the process is exiting. */
type Task = (isExiting: boolean) => unknown

const tasks = new Set<Task>()

/** Runs the newest task: a process ends before the folder it writes to is removed. */
const runNewest = (isExiting: boolean): unknown => {
  const task = [...tasks].at(-1) as Task
  tasks.delete(task)
  try {
    return task(isExiting)
  } catch (error) {
    return console.error(error)
  }
}

/** What a person, a supervisor and a closing terminal send. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

let isEnding = false

/** Whether a signal is ending the process: what fails from then on fails because of that. */
export const isInterrupted = (): boolean => isEnding

const endBy = async (signal: NodeJS.Signals): Promise<void> => {
  isEnding = true
  // Whatever the process was doing goes on meanwhile, and may add tasks.
  while (tasks.size > 0) await runNewest(false)
  for (const one of signals) process.removeAllListeners(one)
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

/** Runs a task when the process ends, by itself or by a signal; returns a function that cancels it. */
export const onEnd = (task: Task): (() => void) => {
  install()
  tasks.add(task)
  return () => void tasks.delete(task)
}

export interface TemporaryFolder {
  readonly path: string
  /** Leaves the folder in place when the process ends. */
  keep(): void
  remove(): void
}

/** Makes a folder that is removed when the process ends. */
export const temporaryFolder = (name: string): TemporaryFolder => {
  const path = mkdtempSync(join(tmpdir(), `${name}-`))
  // A process that was just killed may still add a file.
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

/** Starts a child process that ends with this one: by a signal of its choice, and at the latest five seconds after it. */
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
    const late = setTimeout(() => child.kill('SIGKILL'), 5_000)
    await ended
    clearTimeout(late)
  })
  child.once('exit', cancel)
  child.once('error', cancel)
  return child
}
