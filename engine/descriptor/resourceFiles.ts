/** Imports every file in `resources/`; no list of resources is maintained by hand. */
import { type Dirent, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { failedFile, foreignImports, importError } from './importError.js'
import { type FileError, reportIn } from './registryError.js'
import { resourceSource, type SourceFile } from './sourceFile.js'
import type { ResourceModule } from './verify.js'

const isModule = (name: string): boolean => /(?<!\.d)\.[jt]s$/.test(name)

/** Why a file or folder in the folder of the sources is ignored; undefined if that is not a mistake. */
const whyIgnored = (entry: Dirent): string | undefined => {
  if (entry.isDirectory()) {
    const advice = 'move its resources into resources/, and shared fields into resources/shared/'
    return entry.name === 'shared' ? undefined : `is a folder, which is not read; ${advice}`
  }
  if (/\.(?:[cm]?jsx?|[cm]ts|tsx)$/.test(entry.name)) return 'is not read; a resource file ends with .ts'
  return entry.name.endsWith('.json') ? 'is not read; demo rows belong in seeds/' : undefined
}

/** Reports files that would be silently ignored. Returns the resources in them, so that references to them are not reported too. */
const reportIgnored = (sources: string, errors: FileError[]): ResourceModule[] =>
  readdirSync(sources, { withFileTypes: true }).flatMap((entry) => {
    const reason = whyIgnored(entry)
    if (reason === undefined) return []
    const file = `resources/${entry.name}${entry.isDirectory() ? '/' : ''}`
    reportIn(errors, file)(reason)
    const inside = entry.isDirectory() ? readdirSync(join(sources, entry.name), { recursive: true }) : [entry.name]
    return inside.map((name) => ({ file, path: String(name).replace(/^.*[\\/]|\.\w+$/g, ''), module: undefined }))
  })

/** The text of a file in the folder of the sources, if it is there. */
const readSource = (sources: string | undefined, name: string): SourceFile | undefined => {
  const path = sources && join(sources, name)
  return path && existsSync(path) ? resourceSource(readFileSync(path, 'utf8').replace('\uFEFF', '')) : undefined
}

/**
 * Imports the modules of a folder. The folder of their TypeScript sources is undefined if only the build was deployed;
 * errors then have no position.
 */
export const importModules = async (folder: string, sources: string | undefined, errors: FileError[]) => {
  const names = existsSync(folder) ? readdirSync(folder).filter(isModule) : []
  const modules = sources !== undefined && existsSync(sources) ? reportIgnored(sources, errors) : []
  if (names.length === 0 && errors.length === 0) {
    reportIn(errors, 'resources/')('is empty; add a resource file, such as resources/customers.ts')
  }
  for (const name of names.sort()) {
    const path = name.slice(0, -'.ts'.length)
    const file = `resources/${path}.ts`
    const source = readSource(sources, `${path}.ts`)
    const foreign = source ? foreignImports(file, source) : []
    errors.push(...foreign)
    let module: ResourceModule['module']
    try {
      if (foreign.length === 0) module = (await import(pathToFileURL(join(folder, name)).href)) as { default?: unknown }
    } catch (error) {
      const failed = failedFile(error) ?? `${path}.ts`
      const fileError = importError(error, `resources/${failed}`, readSource(sources, failed))
      // A shared file fails for every resource that imports it.
      const isKnown = errors.some((known) => known.file === fileError.file && known.message === fileError.message)
      if (!isKnown) errors.push(fileError)
    }
    const modifiedAt = sources && source ? statSync(join(sources, `${path}.ts`)).mtimeMs : 0
    modules.push({ file, path, source, modifiedAt, module })
  }
  return modules
}
