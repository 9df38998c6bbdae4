/** Calls a command in this process, because starting one takes a second. */
import { pathToFileURL } from 'node:url'

class Exit extends Error {}

let calls = 0

/** Imports a compiled command with arguments and variables; resolves with its exit code and what it printed. */
export const callCommand = async (file: string, args: readonly string[], variables: NodeJS.ProcessEnv = {}) => {
  const { argv, env, exit, exitCode, stdout, stderr } = process
  const [writeOut, writeError] = [stdout.write, stderr.write]
  const ended = { status: 0, stdout: '', stderr: '' }
  const record = (name: 'stdout' | 'stderr') => (text: unknown) => {
    ended[name] += text
    return true
  }
  const exitInstead = (code: unknown): never => {
    ended.status = Number(code)
    throw new Exit()
  }
  Object.assign(process, { argv: [process.execPath, file, ...args], env: { ...env, ...variables }, exit: exitInstead })
  stdout.write = record('stdout')
  stderr.write = record('stderr')
  try {
    await import(`${pathToFileURL(file)}?call=${++calls}`)
    ended.status = Number(process.exitCode ?? 0)
  } catch (thrown) {
    if (!(thrown instanceof Exit)) throw thrown
  } finally {
    Object.assign(process, { argv, env, exit, exitCode })
    Object.assign(stdout, { write: writeOut })
    Object.assign(stderr, { write: writeError })
  }
  return ended
}
