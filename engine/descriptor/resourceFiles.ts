/** Imports every file in `resources/`; no list of resources is maintained by hand. */
import { type Dirent, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { importProblem } from './importError.js'
import { type Problem, reportIn } from './registryError.js'
import { resourceSource } from './sourceFile.js'
import type { ResourceModule } from './verify.js'

const isModule = (name: string): boolean => /(?<!\.d)\.[jt]s$/.test(name)

/** Why a file or folder in the folder of the sources is ignored; undefined if that is not a mistake. */
const whyIgnored = (entry: Dirent): string | undefined => {
  if (entry.isDirectory()) return 'is a folder, which is not read; move its files into resources/'
  if (/\.(?:[cm]?jsx?|[cm]ts|tsx)$/.test(entry.name)) return 'is not read; a resource file ends with .ts'
  return entry.name.endsWith('.json') ? 'is not read; demo rows belong in seeds/' : undefined
}

/** Reports files that would be silently ignored. Returns the resources in them, so that references to them are not reported too. */
const reportIgnored = (sources: string, problems: Problem[]): ResourceModule[] =>
  readdirSync(sources, { withFileTypes: true }).flatMap((entry) => {
    const reason = whyIgnored(entry)
    if (reason === undefined) return []
    const file = `resources/${entry.name}${entry.isDirectory() ? '/' : ''}`
    reportIn(problems, file)(reason)
    const inside = entry.isDirectory() ? readdirSync(join(sources, entry.name), { recursive: true }) : [entry.name]
    return inside.map((name) => ({ file, path: String(name).replace(/^.*[\\/]|\.\w+$/g, ''), module: undefined }))
  })

/**
 * Imports the modules of a folder. The folder of their TypeScript sources is undefined if only the build was deployed;
 * problems then have no position.
 */
export const importModules = async (
  folder: string,
  sources: string | undefined,
  problems: Problem[],
): Promise<ResourceModule[]> => {
  const names = existsSync(folder) ? readdirSync(folder).filter(isModule) : []
  const modules = sources !== undefined && existsSync(sources) ? reportIgnored(sources, problems) : []
  if (names.length === 0 && problems.length === 0) {
    reportIn(problems, 'resources/')('is empty; add a resource file, such as resources/customers.ts')
  }
  for (const name of names.sort()) {
    const path = name.slice(0, -'.ts'.length)
    const file = `resources/${path}.ts`
    const original = sources === undefined ? undefined : join(sources, `${path}.ts`)
    const source =
      original && existsSync(original)
        ? resourceSource(readFileSync(original, 'utf8').replace('\uFEFF', ''))
        : undefined
    let module: ResourceModule['module']
    try {
      module = (await import(pathToFileURL(join(folder, name)).href)) as { default?: unknown }
    } catch (error) {
      problems.push(importProblem(error, file, source))
    }
    modules.push({ file, path, source, module })
  }
  return modules
}
