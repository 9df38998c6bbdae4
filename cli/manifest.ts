/** The package.json of a project, and that of the engine. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Manifest {
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

export const readManifest = (file: string): Manifest => JSON.parse(readFileSync(file, 'utf8')) as Manifest

/** The folder of the engine, above its compiled files. */
export const engineFolder = (folder = import.meta.dirname): string =>
  existsSync(join(folder, 'package.json')) ? folder : engineFolder(dirname(folder))

export const engineManifest = (): Manifest => readManifest(join(engineFolder(), 'package.json'))
