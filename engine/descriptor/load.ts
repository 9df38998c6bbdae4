/** Reads the folders `resources/` and `seeds/` into a verified registry: a file put there is served, no list to extend. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { verifyDemo, verifyLinks } from './demo.js'
import { type Fault, RegistryError } from './fault.js'
import { didYouMean } from './nearest.js'
import { type Registry, type RowValues, resourceFrom } from './registry.js'
import { type Candidate, verify } from './verify.js'

export interface Folders {
  /** Holds one module a resource, in TypeScript or compiled. */
  readonly resources: string
  /** Holds the demo rows, one JSON file a resource; may be missing. */
  readonly seeds: string
}

const modulesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => /(?<!\.d)\.[jt]s$/.test(name))
    .sort()

/** The first line of what went wrong, without the folders of this machine. */
const importProblem = ({ message }: Error): string =>
  (message.split('\n')[0] ?? '').replaceAll(/(?:file:\/\/)?\/\S*\/(?=(?:engine|resources)\/)/g, '')

const importCandidates = async (folder: string, faults: Fault[]): Promise<Candidate[]> => {
  const candidates: Candidate[] = []
  for (const name of modulesIn(folder)) {
    const path = name.slice(0, -'.ts'.length)
    const file = `resources/${path}.ts`
    try {
      const module = (await import(pathToFileURL(join(folder, name)).href)) as { default?: unknown }
      candidates.push({ file, path, exported: module.default })
    } catch (error) {
      faults.push({ file, problem: `cannot be loaded: ${importProblem(error as Error)}` })
    }
  }
  return candidates
}

const readDemo = (folder: string, name: string, faults: Fault[]): unknown => {
  try {
    return JSON.parse(readFileSync(join(folder, name), 'utf8'))
  } catch (error) {
    faults.push({ file: `seeds/${name}`, problem: `is not JSON: ${(error as Error).message}` })
    return []
  }
}

/** Every resource of the folders, or a RegistryError that tells every fault. */
export const loadRegistry = async (folders: Folders): Promise<Registry> => {
  const faults: Fault[] = []
  const candidates = await importCandidates(folders.resources, faults)
  const { verified, faults: found } = verify(candidates)
  faults.push(...found)
  if (candidates.length === 0 && faults.length === 0) faults.push({ file: 'resources/', problem: 'holds no resource' })

  const seeds = existsSync(folders.seeds) ? readdirSync(folders.seeds).filter((name) => name.endsWith('.json')) : []
  const paths = candidates.map((candidate) => candidate.path)
  for (const name of seeds) {
    const path = name.slice(0, -'.json'.length)
    if (!paths.includes(path)) {
      faults.push({ file: `seeds/${name}`, problem: `belongs to no resource${didYouMean(path, paths)}` })
    }
  }
  const registry = verified.map(({ path, descriptor }) => {
    const name = `${path}.json`
    const rows = seeds.includes(name) ? readDemo(folders.seeds, name, faults) : []
    faults.push(...verifyDemo(`seeds/${name}`, descriptor, rows))
    return resourceFrom(path, descriptor, rows as RowValues[])
  })
  if (faults.length === 0) faults.push(...verifyLinks(registry))
  if (faults.length > 0) throw new RegistryError(faults)
  return registry
}
