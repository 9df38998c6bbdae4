/** Imports every file in `resources/`, without a list that is maintained by hand, and explains why one cannot be imported. */
import { type Dirent, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as descriptorModule from './index.js'
import { didYouMean } from './nearest.js'
import { type FileError, reportIn } from './registryError.js'
import { type Position, positionBetween, resourceSource, type SourceFile, wordPosition } from './sourceFile.js'
import type { ResourceModule } from './verify.js'

const index = '../engine/descriptor/index.js'
const exported = Object.keys(descriptorModule)

/** Types of other systems, and the kind to use instead. */
export const foreignKinds: Readonly<Record<string, string>> = {
  string: 'text',
  varchar: 'text',
  int: 'integer',
  bigint: 'integer',
  float: 'number',
  double: 'number',
  real: 'number',
  numeric: 'decimal',
  money: 'decimal',
  guid: 'uuid',
  jsonb: 'json',
  bool: 'boolean',
  datetime: 'timestamp',
}

/** What to write instead of a name that is no function of a descriptor; empty if nothing resembles it. */
const suggestion = (name: string): string =>
  Object.hasOwn(foreignKinds, name) ? `; use ${foreignKinds[name]}()` : didYouMean(name, exported)

/** The first line of the message, without the absolute paths of this machine. */
const firstLine = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error)
  return (message.split('\n')[0] ?? '').replaceAll(/(?:file:\/\/)?\/\S*\/(?=(?:engine|resources)\/)/g, '')
}

const importsIn = (source: SourceFile): { specifier: string; position: Position }[] =>
  [...source.text.matchAll(/(?:\bfrom|\bimport)\s*['"](.*?)['"]/g)].map(
    ({ 0: match, 1: specifier = '', index: start }) => {
      const end = start + match.length - 1
      return { specifier, position: positionBetween(source, end - specifier.length, end) }
    },
  )

/** The imports from other folders of the project: the build would not notice their changes, and the image has no copy of them. */
const foreignImports = (file: string, source: SourceFile): FileError[] =>
  importsIn(source)
    .filter(({ specifier }) => specifier.startsWith('../') && !specifier.startsWith('../engine/'))
    .map(({ specifier, position }) => ({
      file,
      message: `imports "${specifier}"; move what resources share into resources/shared/`,
      position,
    }))

/** The shared file that an error comes from, such as `shared/audit.ts`; undefined if it comes from the resource file itself. */
const failedFile = (error: unknown): string | undefined => {
  const [first = ''] = /^.*resources\/.*$/m.exec(error instanceof Error ? (error.stack ?? '') : '') ?? []
  return /resources\/(shared\/[^:]+\.ts)/.exec(first)?.[1]
}

/** Where the stack says that the file failed. Stacks name TypeScript files only with --enable-source-maps. */
const stackPosition = (source: SourceFile, { stack = '' }: Error, file: string): Position | undefined => {
  const [, line, column] = new RegExp(`${file.replace('.', '\\.')}:(\\d+):(\\d+)`).exec(stack) ?? []
  if (line === undefined) return undefined
  const before = source.text.split('\n').slice(0, Number(line) - 1)
  const start = before.reduce((sum, { length }) => sum + length + 1, 0) + Number(column) - 1
  return positionBetween(source, start, start + 1)
}

const explain = (error: unknown, file: string, source: SourceFile): [message: string, Position | undefined] => {
  const message = firstLine(error)
  const [, module, missing] = /module '(.+)' does not provide an export named '(.+)'/.exec(message) ?? []
  if (missing !== undefined) {
    const hint = module === index ? suggestion(missing) || `; it exports ${exported.join(', ')}` : ''
    return [`${module} does not export "${missing}"${hint}`, wordPosition(source, missing)]
  }
  const [, unknown] = /^(\S+) is not defined$/.exec(message) ?? []
  if (unknown !== undefined) {
    const hint = exported.includes(unknown) ? `; import it from '${index}'` : suggestion(unknown)
    return [`"${unknown}" is not defined${hint}`, wordPosition(source, unknown)]
  }
  const [, path] = /^(?:Cannot find (?:module|package)|Directory import) '(.+?)'/.exec(message) ?? []
  const imported = importsIn(source).find(({ specifier }) => path?.endsWith(specifier.replace(/^(?:\.\.?\/)+/, '')))
  if (imported) {
    const advice = `a resource file imports from '${index}' and './shared/'`
    return [`"${imported.specifier}" does not exist; ${advice}`, imported.position]
  }
  return [message, error instanceof Error ? stackPosition(source, error, file) : undefined]
}

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
  if (names.length === 0 && errors.length === 0)
    reportIn(errors, 'resources/')('is empty; add a resource file, such as resources/customers.ts')
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
      const failedSource = readSource(sources, failed)
      const [reason, position] = failedSource
        ? explain(error, `resources/${failed}`, failedSource)
        : [firstLine(error), undefined]
      const fileError = { file: `resources/${failed}`, message: `cannot be loaded: ${reason}`, position }
      // A shared file fails for every resource that imports it.
      const isKnown = errors.some((known) => known.file === fileError.file && known.message === fileError.message)
      if (!isKnown) errors.push(fileError)
    }
    const modifiedAt = sources && source ? statSync(join(sources, `${path}.ts`)).mtimeMs : 0
    modules.push({ file, path, source, modifiedAt, module })
  }
  return modules
}
