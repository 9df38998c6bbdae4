/** A copy of the project in a temporary folder, in which tests may add and change files and run its commands. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { temporaryFolder } from '../../support/cleanup.js'
import { root } from '../../support/root.js'
import { copyProjects } from '../../support/temporaryProject.js'
import { officeFolder } from './officeFiles.js'

type Environment = Readonly<Record<string, string>>

export interface ProjectCopy {
  readonly path: string
  remove(): void
  read(file: string): string
  write(file: string, content: string | Buffer): void
  /** Starts a shell command, and scripts of package.json as npm does. */
  start(command: string, environment?: Environment): ChildProcessByStdio<null, Readable, null>
  /** Runs a shell command to its end, without what npm prints itself. */
  run(command: string, environment?: Environment): Promise<{ status: number | null; output: string }>
}

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }

/** Starting npm takes longer than most of the scripts. */
const withoutNpm = (command: string): string =>
  command.replaceAll(/\bnpm (?:run )?([\w:]+)(?: --(?= |$))?/g, (call, name: string) => scripts[name] ?? call)

/**
 * Copies the project, with the office as its deployment, or the deployed resources with their demo rows. The tests and
 * tools are copied only where they are needed, because they take most of the time of a build.
 */
export const projectCopy = ({ hasTests = false, isDeployed = false } = {}): ProjectCopy => {
  const { path, remove } = temporaryFolder('project')
  // biome-ignore format: one list
  const names = [
    'server.ts', 'product.ts', 'package.json', 'tsconfig.json', 'tsconfig.build.json', 'biome.json', '.gitignore',
  ]
  const sources = ['engine', 'cli', 'support', 'scripts', ...(hasTests ? ['spec-tests', 'stress', 'bench'] : [])]
  // What is true of the example alone does not compile without its resources.
  const left = isDeployed ? /\/(?:node_modules|data)(?:\/|$)/ : /\/(?:node_modules|data|spec-tests\/example)(?:\/|$)/
  for (const name of [...names, ...sources, ...(isDeployed ? ['resources', 'seeds'] : [])]) {
    cpSync(join(root, name), join(path, name), {
      recursive: true,
      filter: (file) => !left.test(file.slice(root.length)),
    })
  }
  if (!isDeployed) copyProjects([officeFolder], path)
  mkdirSync(join(path, 'data'))
  mkdirSync(join(path, 'docs'))
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'), 'junction')
  const start = (command: string, environment: Environment = {}) => {
    const { PATH, HOME } = process.env
    const env = { PATH: `${join(path, 'node_modules', '.bin')}:${PATH}`, HOME, ...environment }
    // A single command is not run by a shell of its own, so that signals reach it.
    const shell = `exec 2>&1; ${/^npm [^;&|]*$/.test(command) ? 'exec ' : ''}${withoutNpm(command)}`
    return spawn('sh', ['-c', shell], { cwd: path, env, stdio: ['ignore', 'pipe', 'ignore'] })
  }
  return {
    path,
    remove,
    read: (file) => readFileSync(join(path, file), 'utf8'),
    write(file, content) {
      mkdirSync(dirname(join(path, file)), { recursive: true })
      writeFileSync(join(path, file), content)
    },
    start,
    async run(command, environment) {
      const child = start(command, environment)
      const [ended, output] = await Promise.all([once(child, 'close'), text(child.stdout)])
      return { status: ended[0] as number | null, output: output.replaceAll('Building …\n', '') }
    },
  }
}
