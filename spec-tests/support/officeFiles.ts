/** The files of the office, for builds and copies of the project. */
import { cpSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { folders } from '../../product.js'
import { buildWith, copyDescriptors } from '../../support/buildWith.js'

const sources = join(dirname(folders.seeds), 'spec-tests', 'office')
export const seeds = join(sources, 'seeds')
/** The compiled descriptors. */
export const resources = join(dirname(import.meta.dirname), 'office', 'resources')

/** Makes the office the deployment of a copy of the project. */
export const copyOffice = (project: string): void => {
  copyDescriptors(join(sources, 'resources'), project)
  cpSync(seeds, join(project, 'seeds'), { recursive: true })
}

let officeBuild: string | undefined

/** A file of a build whose deployment is the office. */
export const officeFile = (name: string): string => {
  officeBuild ??= buildWith([resources], seeds)
  return join(officeBuild, name)
}
