/** The office: the deployment that the engine's tests use, with demo rows, whatever is in `resources/`. */
import { cpSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { loadRegistry } from '../../engine/descriptor/load.js'
import type { Registry } from '../../engine/descriptor/registry.js'
import { folders } from '../../product.js'
import { buildWith, copyDescriptors } from '../../support/buildWith.js'

const sources = join(dirname(folders.seeds), 'spec-tests', 'office')
const seeds = join(sources, 'seeds')
const resources = join(dirname(import.meta.dirname), 'office', 'resources')

export const office: Registry = await loadRegistry({ resources, seeds })

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
