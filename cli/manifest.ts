/** The package.json of a project, and that of the engine. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Manifest {
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

export const readManifest = (file: string): Manifest => JSON.parse(readFileSync(file, 'utf8')) as Manifest

/** It is above the compiled files of the engine. */
export const engineManifest = (folder = import.meta.dirname): Manifest => {
  const file = join(folder, 'package.json')
  return existsSync(file) ? readManifest(file) : engineManifest(dirname(folder))
}
