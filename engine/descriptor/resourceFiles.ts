/** Imports every file in `resources/`, without a list that is maintained by hand. */
import { type Dirent, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { importProjectFile, readSource } from './projectFile.js'
import { type FileError, reportIn } from './registryError.js'
import type { ResourceModule } from './verify.js'

export const isSourceFile = (name: string): boolean => /(?<!\.d)\.ts$/.test(name)

/** Why a file or folder is ignored; undefined if that is not a mistake. */
const whyIgnored = (entry: Dirent): string | undefined => {
  if (entry.isDirectory()) {
    const advice = 'move its resources into resources/, and shared fields into resources/shared/'
    return entry.name === 'shared' ? undefined : `is a folder, which is not read; ${advice}`
  }
  if (/\.(?:[cm]?jsx?|[cm]ts|tsx)$/.test(entry.name)) return 'is not read; a resource file ends with .ts'
  return entry.name.endsWith('.json') ? 'is not read; demo rows belong in seeds/' : undefined
}

/** Reports files that would be silently ignored. Returns the resources in them, so that references to them are not reported too. */
const reportIgnored = (folder: string, errors: FileError[]): ResourceModule[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const reason = whyIgnored(entry)
    if (reason === undefined) return []
    const file = `resources/${entry.name}${entry.isDirectory() ? '/' : ''}`
    reportIn(errors, file)(reason)
    const entryNames = entry.isDirectory() ? readdirSync(join(folder, entry.name), { recursive: true }) : [entry.name]
    return entryNames.map((name) => ({ file, path: String(name).replace(/^.*[\\/]|\.\w+$/g, ''), module: undefined }))
  })

/** Imports the resources of the project in a folder. */
export const importResources = async (project: string, errors: FileError[]): Promise<ResourceModule[]> => {
  const folder = join(project, 'resources')
  const names = existsSync(folder) ? readdirSync(folder).filter(isSourceFile) : []
  const modules = existsSync(folder) ? reportIgnored(folder, errors) : []
  if (names.length === 0 && errors.length === 0)
    reportIn(errors, 'resources/')('is empty; add a resource file, such as resources/customers.ts')
  for (const name of names.sort()) {
    const file = `resources/${name}`
    const module = await importProjectFile(project, file, errors)
    const path = join(folder, name)
    modules.push({
      file,
      path: name.slice(0, -'.ts'.length),
      source: readSource(path),
      modifiedAt: statSync(path).mtimeMs,
      module,
    })
  }
  return modules
}
