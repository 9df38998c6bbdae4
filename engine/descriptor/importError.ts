/** Explains why a resource file cannot be imported. */
import * as descriptorModule from './index.js'
import { didYouMean } from './nearest.js'
import type { FileError } from './registryError.js'
import { type Position, positionBetween, type SourceFile, wordPosition } from './sourceFile.js'

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
  decimal: 'number',
  real: 'number',
  bool: 'boolean',
  datetime: 'timestamp',
}

/** What to write instead of a name that is no function of a descriptor; empty if nothing resembles it. */
const insteadOf = (name: string): string =>
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
export const foreignImports = (file: string, source: SourceFile): FileError[] =>
  importsIn(source)
    .filter(({ specifier }) => specifier.startsWith('../') && !specifier.startsWith('../engine/'))
    .map(({ specifier, position }) => ({
      file,
      message: `imports "${specifier}"; move what resources share into resources/shared/`,
      position,
    }))

/** The shared file that an error comes from, such as `shared/audit.ts`; undefined if it comes from the resource file itself. */
export const failedFile = (error: unknown): string | undefined => {
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
    const hint = module === index ? insteadOf(missing) || `; it exports ${exported.join(', ')}` : ''
    return [`${module} does not export "${missing}"${hint}`, wordPosition(source, missing)]
  }
  const [, unknown] = /^(\S+) is not defined$/.exec(message) ?? []
  if (unknown !== undefined) {
    const hint = exported.includes(unknown) ? `; import it from '${index}'` : insteadOf(unknown)
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

export const importError = (error: unknown, file: string, source: SourceFile | undefined): FileError => {
  const [message, position] = source ? explain(error, file, source) : [firstLine(error), undefined]
  return { file, message: `cannot be loaded: ${message}`, position }
}
