/** The service as its own process, started as `npm start` starts it once built. */
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { spawnChild } from './cleanup.js'
import { startFlags } from './startFlags.js'

export interface Running {
  readonly address: string
  readonly child: ChildProcess
  readonly output: () => string
  /** The messages of its log so far. */
  readonly messages: () => string[]
  /** Sends the signal and answers with the code it ended with. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

const server = join(import.meta.dirname, '..', 'server.js')

/** How a process differs from a plain one: whose it is, and a shell's line that runs its arguments. */
interface Manner {
  readonly uid?: number
  readonly shell?: string
}

/** Starts one and waits for nothing. */
export const launch = (environment: Record<string, string>, { uid, shell }: Manner = {}) => {
  const { PATH, HOME } = process.env
  const service = [process.execPath, ...startFlags, server]
  const [program = '', ...args] = shell === undefined ? service : ['sh', '-c', shell, ...service]
  const env = { PATH, HOME, PORT: '0', LOG_LEVEL: 'warn', ...environment }
  const child = spawnChild(program, args, { env, ...(uid !== undefined && { uid }) })
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

/** Starts one that is expected to end by itself; resolves with its code and what it wrote to standard error. */
export const startAndFail = async (
  environment: Record<string, string>,
  manner?: Manner,
): Promise<{ code: number | null; output: string }> => {
  const { child, ended, errors } = launch(environment, manner)
  // One that starts after all would be waited for for ever.
  const timer = setTimeout(() => child.kill('SIGKILL'), 30_000)
  const code = await ended
  clearTimeout(timer)
  return { code, output: errors() }
}

/** The address in the ready line, once the output has it. */
const readyAddress = (output: string): string | undefined => /Ready at (http:\S+)\/api /.exec(output)?.[1]

/** Starts one and waits for its ready line. */
export const startProcess = async (environment: Record<string, string>, manner?: Manner): Promise<Running> => {
  const { child, ended, output } = launch(environment, manner)
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const found = readyAddress(output())
      if (found) resolve(found)
    })
    void ended.then((code) => reject(new Error(`ended with ${code}: ${output()}`)))
  })
  const messages = () =>
    output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => (JSON.parse(line) as { msg: string }).msg)
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  return { address, child, output, messages, end }
}
