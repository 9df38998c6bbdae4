/** A copy of this project in a temporary folder, for tests that change its sources. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { folders } from '../../product.js'
import { temporaryFolder } from '../../support/cleanup.js'
import { copyCompressedDocs } from './compressedDocs.js'

const root = dirname(folders.seeds)
const parts = ['cli', 'engine', 'package.json', 'product.ts', 'scripts', 'server.ts', 'support', 'tsconfig.json']

/** Not all resources: those that are added to the project must not change these tests. */
const resources = ['candidates', 'departments', 'employees', 'leave']

export const copyOfProject = () => {
  const { path, remove } = temporaryFolder('project')
  const descriptors = resources.flatMap((name) => [`resources/${name}.ts`, `seeds/${name}.json`])
  for (const part of [...parts, ...descriptors]) cpSync(join(root, part), join(path, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'))
  copyCompressedDocs(path)
  const { scripts } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const write = (file: string, content: string | Buffer): void => {
    mkdirSync(dirname(join(path, file)), { recursive: true })
    writeFileSync(join(path, file), content)
  }
  return {
    path,
    remove,
    write,
    read: (file: string): string => readFileSync(join(path, file), 'utf8'),
    /** Starts a script as npm does. */
    start: (script: string, args = '', env: NodeJS.ProcessEnv = {}) =>
      spawn('sh', ['-c', `${scripts[script]} ${args}`], { cwd: path, env: { ...process.env, ...env } }),
    async run(script: string, args = '', env: NodeJS.ProcessEnv = {}) {
      const child = this.start(script, args, env)
      const [ended, stdout, stderr] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)])
      return { status: ended[0] as number | null, stdout, stderr: stderr.replace('Building …\n', '') }
    },
  }
}
