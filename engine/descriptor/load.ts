/** Loads every file in `resources/` and `seeds/` into a verified registry; no list of resources is maintained by hand. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { verifyDemoLinks, verifyDemoRows } from './demo.js'
import { didYouMean } from './nearest.js'
import { type Registry, type RowValues, resourceFrom } from './registry.js'
import { type Problem, RegistryError } from './registryError.js'
import { type ResourceModule, verify } from './verify.js'

export interface Folders {
  /** Has one module per resource, in TypeScript or compiled. */
  readonly resources: string
  /** Has the demo rows, one JSON file per resource; may be missing. */
  readonly seeds: string
}

const modulesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => /(?<!\.d)\.[jt]s$/.test(name))
    .sort()

/** The first line of the message, without the absolute paths of this machine. */
const importMessage = ({ message }: Error): string =>
  (message.split('\n')[0] ?? '').replaceAll(/(?:file:\/\/)?\/\S*\/(?=(?:engine|resources)\/)/g, '')

const importModules = async (folder: string, problems: Problem[]): Promise<ResourceModule[]> => {
  const modules: ResourceModule[] = []
  for (const name of modulesIn(folder)) {
    const path = name.slice(0, -'.ts'.length)
    const file = `resources/${path}.ts`
    try {
      const module = (await import(pathToFileURL(join(folder, name)).href)) as { default?: unknown }
      modules.push({ file, path, exported: module.default })
    } catch (error) {
      problems.push({ file, message: `cannot be loaded: ${importMessage(error as Error)}` })
    }
  }
  return modules
}

const readDemo = (folder: string, name: string, problems: Problem[]): unknown => {
  try {
    return JSON.parse(readFileSync(join(folder, name), 'utf8'))
  } catch (error) {
    problems.push({ file: `seeds/${name}`, message: `is not valid JSON: ${(error as Error).message}` })
    return []
  }
}

/** Returns every resource in the folders, or throws a RegistryError with all problems. */
export const loadRegistry = async (folders: Folders): Promise<Registry> => {
  const problems: Problem[] = []
  const modules = await importModules(folders.resources, problems)
  const { parsed, problems: found } = verify(modules)
  problems.push(...found)
  if (modules.length === 0 && problems.length === 0) {
    problems.push({ file: 'resources/', message: 'is empty; add a resource file' })
  }

  const seeds = existsSync(folders.seeds) ? readdirSync(folders.seeds).filter((name) => name.endsWith('.json')) : []
  const paths = modules.map(({ path }) => path)
  for (const name of seeds) {
    const path = name.slice(0, -'.json'.length)
    if (!paths.includes(path)) {
      problems.push({ file: `seeds/${name}`, message: `there is no resource "${path}"${didYouMean(path, paths)}` })
    }
  }
  const registry = parsed.map(({ path, descriptor }) => {
    const name = `${path}.json`
    const rows = seeds.includes(name) ? readDemo(folders.seeds, name, problems) : []
    problems.push(...verifyDemoRows(`seeds/${name}`, descriptor, rows))
    return resourceFrom(path, descriptor, rows as RowValues[])
  })
  if (problems.length === 0) problems.push(...verifyDemoLinks(registry))
  if (problems.length > 0) throw new RegistryError(problems)
  return registry
}
