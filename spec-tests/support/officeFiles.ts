/** The files of the office, for builds and copies of the project. */
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { folders } from '../../product.js'
import { temporaryFolder } from '../../support/cleanup.js'

const root = dirname(folders.seeds)
const build = dirname(dirname(import.meta.dirname))
export const compiled = join(build, 'spec-tests', 'office', 'resources')
const sources = join(root, 'spec-tests', 'office', 'resources')
export const seeds = join(root, 'spec-tests', 'office', 'seeds')

/** Copies the descriptors into the folder `resources` of a project or build. */
const copyDescriptors = (from: string, to: string): void => {
  mkdirSync(join(to, 'resources'), { recursive: true })
  for (const name of readdirSync(from).filter((file) => /\.[jt]s$/.test(file))) {
    const text = readFileSync(join(from, name), 'utf8').replace('../../../engine/', '../engine/')
    writeFileSync(join(to, 'resources', name), text)
  }
}

/** Makes the office the deployment of a copy of the project. */
export const copyOffice = (project: string): void => {
  copyDescriptors(sources, project)
  cpSync(seeds, join(project, 'seeds'), { recursive: true })
}

let officeBuild: string | undefined

/** A file of a build whose deployment is the office. */
export const officeFile = (name: string): string => {
  if (officeBuild === undefined) {
    const { path } = temporaryFolder('office')
    officeBuild = join(path, 'dist', 'build')
    for (const part of ['server.js', 'product.js', 'support', 'cli']) {
      cpSync(join(build, part), join(officeBuild, part), { recursive: true })
    }
    // It does not import product.js, which finds the resources beside itself.
    symlinkSync(join(build, 'engine'), join(officeBuild, 'engine'))
    copyDescriptors(compiled, officeBuild)
    cpSync(seeds, join(path, 'seeds'), { recursive: true })
    cpSync(join(root, 'package.json'), join(path, 'package.json'))
    symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'))
  }
  return join(officeBuild, name)
}
