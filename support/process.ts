/** Starts the built service as a child process, as `npm start` does. */
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { spawnChild } from './cleanup.js'
import { main as ownMain, root } from './root.js'

const manifest = readFileSync(join(root, 'package.json'), 'utf8')
const { scripts } = JSON.parse(manifest) as { scripts: { start: string } }

/** The Node flags of `npm start`. */
export const startFlags: readonly string[] = scripts.start.match(/--\S+/g) ?? []

type Environment = Readonly<Record<string, string>>

interface LaunchOptions {
  /** A shell command that sets limits and then runs its arguments. */
  readonly shell?: string
  /** The folder of another project. */
  readonly project?: string
  /** The compiled command line of another version. */
  readonly main?: string
}

/** Permissions of files do not apply to root; with this they do. Another user could not read a private folder. */
export const obeyingPermissions: LaunchOptions =
  process.getuid?.() === 0 ? { shell: 'exec setpriv --bounding-set -dac_override,-dac_read_search "$0" "$@"' } : {}

/** Starts the service without waiting for it. */
export const launch = (environment: Environment, { shell, project = root, main = ownMain }: LaunchOptions = {}) => {
  const { PATH, HOME } = process.env
  const service = [process.execPath, ...startFlags, main, 'start']
  const [program = '', ...args] = shell === undefined ? service : ['sh', '-c', shell, ...service]
  const env = { PATH, HOME, PORT: '0', LOG_LEVEL: 'warn', ...environment }
  const child = spawnChild(program, args, { cwd: project, env })
  let output = ''
  let errors = ''
  child.stdout?.on('data', (chunk) => {
    output += chunk
  })
  child.stderr?.on('data', (chunk) => {
    output += chunk
    errors += chunk
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)))
  return { child, ended, output: () => output, errors: () => errors }
}

/** Starts a service that is expected to exit; resolves with its exit code and its standard error. */
export const startAndFail = async (environment: Environment, options?: LaunchOptions) => {
  const { child, ended, errors } = launch(environment, options)
  // Otherwise a service that starts successfully would never exit.
  const timer = setTimeout(() => child.kill('SIGKILL'), 30_000)
  const code = await ended
  clearTimeout(timer)
  return { code, output: errors() }
}

/** Resolves when a service responds; rejects when its process has exited, and after a minute, which ends it. */
export const untilResponding = async (address: string, child: ChildProcess): Promise<void> => {
  const deadline = performance.now() + 60_000
  while (!(await fetch(address, { method: 'HEAD' }).catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error(`it exited with code ${child.exitCode} before it listened`)
    if (performance.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error('it did not listen within a minute')
    }
    await delay(20)
  }
}

const readyAddress = (output: string): string | undefined => /Ready at (http:\S+)\/api /.exec(output)?.[1]

/** Starts the service and waits for its ready line. */
export const startProcess = async (environment: Environment, options?: LaunchOptions) => {
  const { child, ended, output } = launch(environment, options)
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const ready = readyAddress(output())
      if (ready) resolve(ready)
    })
    void ended.then((code) => reject(new Error(`the service exited with code ${code}: ${output()}`)))
  })
  /** The messages logged so far. */
  const messages = () =>
    output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => (JSON.parse(line) as { msg: string }).msg)
  /** Sends a signal and resolves with the exit code. */
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  return { address, child, output, messages, end }
}

export type RunningService = Awaited<ReturnType<typeof startProcess>>
