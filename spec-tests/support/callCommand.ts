/** Calls a command in this process, because starting one takes a second. */
import { pathToFileURL } from 'node:url'
import { commands } from '../../cli/commands.js'
import { runCommand } from '../../support/options.js'
import { officeCopy } from './officeFiles.js'

class Exit extends Error {}

/** Does some work with arguments and variables, in a folder; resolves with its exit code and what it printed. */
const callIn = async (
  folder: string,
  args: readonly string[],
  variables: NodeJS.ProcessEnv,
  work: () => Promise<unknown>,
) => {
  const { argv, env, exit, exitCode, stdout, stderr } = process
  const [writeOut, writeError, before] = [stdout.write, stderr.write, process.cwd()]
  const ended = { status: 0, stdout: '', stderr: '' }
  const record = (name: 'stdout' | 'stderr') => (text: unknown) => {
    ended[name] += text
    return true
  }
  const exitInstead = (code: unknown): never => {
    ended.status = Number(code)
    throw new Exit()
  }
  process.chdir(folder)
  Object.assign(process, { argv: [process.execPath, '', ...args], env: { ...env, ...variables }, exit: exitInstead })
  stdout.write = record('stdout')
  stderr.write = record('stderr')
  try {
    await work()
    ended.status = Number(process.exitCode ?? 0)
  } catch (thrown) {
    if (!(thrown instanceof Exit)) throw thrown
  } finally {
    process.chdir(before)
    Object.assign(process, { argv, env, exit, exitCode })
    Object.assign(stdout, { write: writeOut })
    Object.assign(stderr, { write: writeError })
  }
  return ended
}

/** Calls a command of the package, such as `seed`, in a project: by default a copy of the office. */
export const callCommand = (
  name: string,
  args: readonly string[],
  variables: NodeJS.ProcessEnv = {},
  folder = officeCopy(),
) =>
  callIn(folder, args, variables, async () => {
    const load = commands[name]
    if (!load) throw new Error(`There is no command ${name}.`)
    await runCommand((await load()).default, [...args])
  })

let calls = 0

/** Imports a compiled module that runs a command. */
export const callModule = (file: string, args: readonly string[], variables: NodeJS.ProcessEnv = {}) =>
  callIn(process.cwd(), args, variables, () => import(`${pathToFileURL(file)}?call=${++calls}`))
