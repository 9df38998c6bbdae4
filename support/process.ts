/** The service as its own process, started as `npm start` starts it once built. */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { startFlags } from './startFlags.js'

export interface Running {
  readonly address: string
  readonly child: ChildProcess
  readonly output: () => string
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
  const child = spawn(program, args, { env, ...(uid !== undefined && { uid }) })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)))
  return { child, ended, output: () => output }
}

/** Starts one that is expected to end by itself; answers with its code and all it said. */
export const startAndFail = async (
  environment: Record<string, string>,
): Promise<{ code: number | null; output: string }> => {
  const { child, ended, output } = launch(environment)
  // One that starts after all would be waited for for ever.
  const timer = setTimeout(() => child.kill('SIGKILL'), 30_000)
  const code = await ended
  clearTimeout(timer)
  return { code, output: output() }
}

/** Starts one and waits for its ready line. */
export const startProcess = async (environment: Record<string, string>, manner?: Manner): Promise<Running> => {
  const { child, ended, output } = launch(environment, manner)
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', () => {
      const [, found] = /Ready at (http:\S+)\/api /.exec(output()) ?? []
      if (found) resolve(found)
    })
    void ended.then((code) => reject(new Error(`ended with ${code}: ${output()}`)))
  })
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  return { address, child, output, end }
}
