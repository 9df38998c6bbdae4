/** A copy of the project in a temporary folder, in which tests may add and change files and run its commands. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { folders } from '../../product.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { copyCompressedDocs } from './compressedDocs.js'

const root = dirname(folders.seeds)

export interface ProjectCopy {
  readonly path: string
  /** Runs a shell command, and scripts of package.json as npm does, without what npm prints itself. */
  run(command: string, environment?: Record<string, string>): Promise<{ status: number | null; output: string }>
}

/** Not all resources: those that a user adds, such as the examples of the documentation, must not change these tests. */
const own = [
  ...['applications', 'attendance', 'brands', 'candidates', 'career-sites', 'departments', 'employees'],
  ...['job-distributions', 'jobs', 'leave', 'organization-teams', 'organizations'],
]

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }

/** Starting npm takes longer than most of the scripts. */
const withoutNpm = (command: string): string =>
  command.replaceAll(/\bnpm (?:run )?([\w:]+)(?: --(?= |$))?/g, (call, name: string) => {
    const script = scripts[name]
    return script === undefined ? call : script.replace(/^exec /, '')
  })

export const projectCopy = (): ProjectCopy => {
  const { path } = temporaryFolder('project')
  const names = ['server.ts', 'product.ts', 'package.json', 'tsconfig.json', 'biome.json', '.gitignore']
  const sources = ['engine', 'cli', 'support', 'scripts', 'spec-tests', 'stress', 'bench']
  const descriptors = own.flatMap((name) => [`resources/${name}.ts`, `seeds/${name}.json`])
  for (const name of [...names, ...sources, ...descriptors.filter((file) => existsSync(join(root, file)))]) {
    cpSync(join(root, name), join(path, name), {
      recursive: true,
      filter: (file) => !/\/(?:node_modules|data)(?:\/|$)/.test(file.slice(root.length)),
    })
  }
  mkdirSync(join(path, 'data'))
  mkdirSync(join(path, 'docs'))
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'), 'junction')
  copyCompressedDocs(path)
  return {
    path,
    async run(command, environment = {}) {
      const { PATH, HOME } = process.env
      const env = { PATH: `${join(path, 'node_modules', '.bin')}:${PATH}`, HOME, ...environment }
      const child = spawn('sh', ['-c', `exec 2>&1; ${withoutNpm(command)}`], {
        cwd: path,
        env,
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const [ended, output] = await Promise.all([once(child, 'close'), text(child.stdout)])
      return { status: ended[0] as number | null, output: output.replaceAll('Building …\n', '') }
    },
  }
}
