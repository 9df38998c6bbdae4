/** Loads the files in `resources/` and `seeds/` into a verified registry. */
import { demoIds, verifyConstants, verifyRows } from './demo.js'
import { type Registry, type Resource, resourceFrom } from './registry.js'
import { type Problem, RegistryError, reportIn } from './registryError.js'
import { importModules } from './resourceFiles.js'
import { readSeedFiles } from './seedFiles.js'
import { targetsOf, verify } from './verify.js'

export interface Folders {
  /** The folder with one module per resource, in TypeScript or compiled. */
  readonly resources: string
  /** The folder with the TypeScript sources of these modules, to show where a mistake is; may be missing. */
  readonly sources?: string
  /** The folder with the demo rows, one JSON file per resource; may be missing. */
  readonly seeds: string
}

/** The resources, and everything that is wrong with their files. */
interface Inspection {
  readonly registry: Registry
  /** With any of these the registry cannot be used. */
  readonly problems: readonly Problem[]
  /** With these only the demo rows cannot be used. */
  readonly seedProblems: readonly Problem[]
}

/** Reads and verifies the folders; each mistake is reported once. */
export const inspectFolders = async ({ resources, sources, seeds }: Folders): Promise<Inspection> => {
  const problems: Problem[] = []
  const modules = await importModules(resources, sources, problems)
  const parsed = verify(modules, problems)
  const seedProblems: Problem[] = []
  const seedFiles = readSeedFiles(seeds, targetsOf(modules, parsed), seedProblems)
  const all = parsed.map(({ path, descriptor }) => resourceFrom(path, descriptor, seedFiles.get(path)?.rows ?? []))
  const ids = demoIds(all)
  for (const [path, { rows }] of seedFiles) if (!rows) ids.delete(path)

  const registry = all.map((resource): Resource => {
    const { file = '', source } = modules.find(({ path }) => path === resource.path) ?? {}
    const seedFile = seedFiles.get(resource.path)
    const own = seedProblems.filter((problem) => problem.file === seedFile?.file)
    // A mistake in a descriptor would be reported again for its rows.
    if (problems.every((problem) => problem.file !== file)) {
      const found: Problem[] = []
      if (seedFile) verifyRows(resource, ids, reportIn(found, seedFile.file, seedFile.source), seedFile.source)
      verifyConstants(resource, ids, reportIn(found, file, source))
      seedProblems.push(...found)
      own.push(...found)
    }
    if (own.length > 0) return { ...resource, demo: [], demoProblems: own }
    return { ...resource, demo: resource.demo.toSorted((a, b) => Number(a['id']) - Number(b['id'])) }
  })
  return { registry, problems, seedProblems }
}

/**
 * Returns every resource in the folders, or throws a RegistryError with all problems of the descriptors. Problems of the
 * demo rows are passed on in the registry, because only loading the rows needs them to be valid.
 */
export const loadRegistry = async (folders: Folders, warn?: (message: string) => void): Promise<Registry> => {
  const { registry, problems, seedProblems } = await inspectFolders(folders)
  if (problems.length > 0) throw new RegistryError([...problems, ...seedProblems])
  for (const file of new Set(seedProblems.map((problem) => problem.file))) {
    warn?.(`${file} has errors, so its demo rows are not used; see npm run check.`)
  }
  return registry
}
