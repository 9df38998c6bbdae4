/** Copies this build into a temporary folder, with other resources. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { folders } from '../product.js'
import { temporaryFolder } from './cleanup.js'

const root = dirname(folders.seeds)
const build = dirname(import.meta.dirname)

/** Copies descriptors into the folder `resources` of a project or build. */
export const copyDescriptors = (from: string, to: string): void => {
  mkdirSync(join(to, 'resources'), { recursive: true })
  for (const name of readdirSync(from).filter((file) => /\.[jt]s$/.test(file))) {
    const text = readFileSync(join(from, name), 'utf8').replace(/'(?:\.\.\/)+engine\//, "'../engine/")
    writeFileSync(join(to, 'resources', name), text)
  }
  const shared = join(from, 'shared')
  if (existsSync(shared)) cpSync(shared, join(to, 'resources', 'shared'), { recursive: true })
}

/** The files and folders beside `product.js` that it imports, without the engine. */
export const productImports = (): string[] =>
  [...readFileSync(join(build, 'product.js'), 'utf8').matchAll(/ from '\.\/(?!engine\/)([^/']+)/g)].map(
    ([, name = '']) => name,
  )

/** A build with the descriptors of these compiled folders and these demo rows. */
export const buildWith = (resources: readonly string[], seeds: string): string => {
  const { path } = temporaryFolder('build')
  const copy = join(path, 'dist', 'build')
  for (const part of ['server.js', 'product.js', ...productImports(), 'support', 'cli']) {
    cpSync(join(build, part), join(copy, part), { recursive: true })
  }
  // It does not import product.js, which finds the resources beside itself.
  symlinkSync(join(build, 'engine'), join(copy, 'engine'))
  for (const folder of resources) copyDescriptors(folder, copy)
  cpSync(seeds, join(path, 'seeds'), { recursive: true })
  cpSync(join(root, 'package.json'), join(path, 'package.json'))
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'))
  return copy
}
