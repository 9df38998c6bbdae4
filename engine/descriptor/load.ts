/** Loads the files in `resources/` and `seeds/` of a project into a verified registry. */
import { join } from 'node:path'
import { commandLine } from '../process/commandLine.js'
import { demoIds, verifyConstants, verifyRows } from './demo.js'
import { JsonText, parseJsonText } from './jsonText.js'
import { isJson } from './kinds/index.js'
import { withLogging } from './logging.js'
import { byId, canonicalRow, type Registry, type Resource, type RowValues, resourceFrom } from './registry.js'
import { type FileError, RegistryError, reportIn } from './registryError.js'
import { importResources } from './resourceFiles.js'
import { withRulePaths } from './rulePaths.js'
import { readSeedFiles } from './seedFiles.js'
import { type SourceFile, textAt } from './sourceFile.js'
import { type ResourceModule, referenceTargets, verify } from './verify.js'

/** JSON as it is written in the file: its numbers keep their digits, and its members their order. */
const withJsonTexts = ({ fields }: Resource, row: RowValues, n: number, source: SourceFile | undefined): RowValues => {
  const texts = fields.filter(isJson).flatMap(({ name }) => {
    const text = source && (row[name] ?? null) !== null ? textAt(source, [n, name]) : undefined
    const parsed = text === undefined ? undefined : parseJsonText(text)
    return parsed instanceof JsonText ? [[name, parsed]] : []
  })
  return { ...row, ...Object.fromEntries(texts) }
}

/** Reads and verifies the project in a folder. With any of `errors` the registry cannot be used; with `seedErrors` only the demo rows cannot. */
export const inspectProject = async (folder: string) => {
  const errors: FileError[] = []
  return inspectModules(await importResources(folder, errors), folder, errors)
}

/** The same of resources that are loaded already; `errors` has those of loading them. */
export const inspectModules = (modules: readonly ResourceModule[], folder: string, errors: FileError[]) => {
  const parsed = verify(modules, errors)
  const seedErrors: FileError[] = []
  const seedFiles = readSeedFiles(join(folder, 'seeds'), referenceTargets(modules, parsed), seedErrors)
  const unverified = withLogging(
    withRulePaths(
      parsed.map(({ path, descriptor }) => resourceFrom(path, descriptor, seedFiles.get(path)?.rows ?? [])),
    ),
  )
  const ids = demoIds(unverified)
  for (const [path, { rows }] of seedFiles) if (!rows) ids.delete(path)

  const registry = unverified.map((resource): Resource => {
    const { file = '', source } = modules.find(({ path }) => path === resource.path) ?? {}
    const seedFile = seedFiles.get(resource.path)
    const fileErrors = seedErrors.filter(({ file: errorFile }) => errorFile === seedFile?.file)
    // A mistake in a descriptor would be reported again for its rows.
    if (errors.every(({ file: errorFile }) => errorFile !== file)) {
      const rowErrors: FileError[] = []
      const advice = 'is for a table of another program, into which no demo rows are loaded; delete it'
      if (seedFile && resource.existing) reportIn(rowErrors, seedFile.file)(advice)
      else if (seedFile) verifyRows(resource, ids, reportIn(rowErrors, seedFile.file, seedFile.source), seedFile.source)
      verifyConstants(resource, ids, reportIn(rowErrors, file, source))
      seedErrors.push(...rowErrors)
      fileErrors.push(...rowErrors)
    }
    if (fileErrors.length > 0) return { ...resource, demo: [], demoErrors: fileErrors }
    const demo = resource.demo.map((row, n) =>
      canonicalRow(resource, withJsonTexts(resource, row, n, seedFile?.source)),
    )
    return { ...resource, demo: demo.toSorted(byId) }
  })
  return { registry, errors, seedErrors }
}

/**
 * Returns every resource of the project in a folder, or throws a RegistryError with all errors of the descriptors. Errors of the
 * demo rows are passed on in the registry, because only loading the rows needs them to be valid.
 */
export const loadRegistry = async (folder: string, warn?: (message: string) => void): Promise<Registry> => {
  const { registry, errors, seedErrors } = await inspectProject(folder)
  if (errors.length > 0) throw new RegistryError([...errors, ...seedErrors])
  for (const file of new Set(seedErrors.map(({ file }) => file))) {
    warn?.(`${file} has errors, so its demo rows are not used; see ${commandLine('check')}.`)
  }
  return registry
}
