/** Loads every file in `resources/` and `seeds/` into a verified registry; no list of resources is maintained by hand. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { verifyDemo } from './demo.js'
import { didYouMean } from './nearest.js'
import { type Registry, type RowValues, resourceFrom } from './registry.js'
import { RegistryError, type Report } from './registryError.js'
import { type ResourceModule, verify } from './verify.js'

export interface Folders {
  /** Has one module per resource, in TypeScript or compiled. */
  readonly resources: string
  /** Has the demo rows, one JSON file per resource; may be missing. */
  readonly seeds: string
}

/** The first line of the message, without the absolute paths of this machine. */
const importMessage = ({ message }: Error): string =>
  (message.split('\n')[0] ?? '').replaceAll(/(?:file:\/\/)?\/\S*\/(?=(?:engine|resources)\/)/g, '')

const importModules = async (folder: string, report: Report): Promise<ResourceModule[]> => {
  const names = readdirSync(folder).filter((name) => /(?<!\.d)\.[jt]s$/.test(name))
  if (names.length === 0) report('resources/: is empty; add a resource file')
  const modules: ResourceModule[] = []
  for (const name of names.sort()) {
    const path = name.slice(0, -'.ts'.length)
    const file = `resources/${path}.ts`
    try {
      const module = (await import(pathToFileURL(join(folder, name)).href)) as { default?: unknown }
      modules.push({ file, path, exported: module.default })
    } catch (error) {
      report(`${file}: cannot be loaded: ${importMessage(error as Error)}`)
    }
  }
  return modules
}

const readSeeds = (file: string): RowValues[] => {
  const rows: unknown = JSON.parse(readFileSync(file, 'utf8'))
  const isObject = (row: unknown): row is RowValues => typeof row === 'object' && row !== null
  if (Array.isArray(rows) && rows.every(isObject)) return rows
  throw new Error('it must be an array of objects')
}

/** Reads the demo rows of each resource. */
const readAllSeeds = (folder: string, paths: readonly string[], report: Report): Map<string, RowValues[]> => {
  const seeds = new Map<string, RowValues[]>()
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    if (!name.endsWith('.json')) continue
    const path = name.slice(0, -'.json'.length)
    if (!paths.includes(path)) report(`seeds/${name}: there is no resource "${path}"${didYouMean(path, paths)}`)
    try {
      seeds.set(path, readSeeds(join(folder, name)))
    } catch (error) {
      report(`seeds/${name}: cannot be loaded: ${(error as Error).message}`)
    }
  }
  return seeds
}

/** Returns every resource in the folders, or throws a RegistryError with all problems. */
export const loadRegistry = async (folders: Folders): Promise<Registry> => {
  const problems: string[] = []
  const report = (message: string): void => void problems.push(message)
  const modules = await importModules(folders.resources, report)
  const parsed = verify(modules, report)
  const paths = modules.map(({ path }) => path)
  const seeds = readAllSeeds(folders.seeds, paths, report)
  const registry = parsed.map(({ path, descriptor }) => resourceFrom(path, descriptor, seeds.get(path) ?? []))
  // A mistake in a descriptor would be reported again for each of its rows.
  if (problems.length === 0) verifyDemo(registry, report)
  if (problems.length > 0) throw new RegistryError(problems)
  return registry
}
