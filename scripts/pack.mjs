/**
 * Before `npm pack`: compiles the package into `dist/package`, with source maps and the declarations of what projects import.
 * After it, with --clean: removes that folder, in which `import 'resource-registry-engine'` leads to the last build.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { build, compilerPath, copyAssets } from './build.mjs'

const root = dirname(import.meta.dirname)
const folder = join(root, 'dist', 'package')

rmSync(folder, { recursive: true, force: true })
if (process.argv.includes('--clean')) {
  build({ quiet: true })
  process.exit()
}
const compiler = compilerPath()
if (compiler === undefined) throw new Error('TypeScript is not installed; run npm ci first.')
const { status } = spawnSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.package.json')], {
  stdio: 'inherit',
})
if (status !== 0) process.exit(1)
copyAssets(folder)
copyFileSync(join(root, 'scripts', 'project.tsconfig.json'), join(folder, 'tsconfig.json'))

/** The declarations that a file imports, and those that they import. */
const reached = new Set()
const follow = (file) => {
  if (reached.has(file)) return
  reached.add(file)
  for (const [, name] of readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)\.js'/g))
    follow(resolve(dirname(file), `${name}.d.ts`))
}
for (const name of ['engine/index', 'support/testing']) follow(join(folder, `${name}.d.ts`))
const declarations = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.d.ts'))
for (const name of declarations) if (!reached.has(join(folder, name))) rmSync(join(folder, name))
