/** Imports one file of a project, and explains why it cannot be imported, with the place of the mistake. */
import { existsSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findSyntaxError } from '../process/stripTypes.js'
import { importFile } from '../process/typescript.js'
import * as descriptorModule from './index.js'
import { kindNames, kindOf } from './kinds/index.js'
import { didYouMean } from './nearest.js'
import type { FileError } from './registryError.js'
import { positionBetween, resourceSource, type SourceFile, type SourcePosition, wordPosition } from './sourceFile.js'

export const engineName = 'resource-registry-engine'
const exported = Object.keys(descriptorModule)

/** Types of other systems, and the kind to use instead. */
export const foreignKinds: Readonly<Record<string, string>> = Object.fromEntries(
  kindNames.flatMap((kind) => kindOf(kind).aliases.map((name) => [name, kind])),
)

/** What to write instead of a name that is no function of a descriptor; empty if nothing resembles it. */
const suggestion = (name: string): string =>
  Object.hasOwn(foreignKinds, name) ? `; use ${foreignKinds[name]}()` : didYouMean(name, exported)

/** A file as messages name it: relative to the project's folder. */
const relativePath = (folder: string, path: string): string => relative(folder, path).split(sep).join('/')

/** The first line of the message, without the absolute paths of this machine. */
const firstLine = (error: unknown, folder: string): string => {
  const message = error instanceof Error ? error.message : String(error)
  return (message.split('\n')[0] ?? '').replaceAll(`file://${folder}${sep}`, '').replaceAll(`${folder}${sep}`, '')
}

const importsIn = (source: SourceFile): { specifier: string; position: SourcePosition }[] =>
  [...source.text.matchAll(/(?:\bfrom|\bimport)\s*['"](.*?)['"]/g)].map(
    ({ 0: match, 1: specifier = '', index: start }) => {
      const end = start + match.length - 1
      return { specifier, position: positionBetween(source, end - specifier.length, end) }
    },
  )

/** A line and a column of a file. */
const positionAt = (source: SourceFile, line: number, column: number): SourcePosition => {
  const before = source.text.split('\n').slice(0, line - 1)
  const start = before.reduce((sum, { length }) => sum + length + 1, 0) + column - 1
  return positionBetween(source, start, start + 1)
}

export const readSource = (path: string): SourceFile | undefined =>
  existsSync(path) ? resourceSource(readFileSync(path, 'utf8').replace('\uFEFF', '')) : undefined

/** The files of the project in the stack of an error, the innermost first. */
const framesIn = (error: unknown, folder: string): { path: string; line: number; column: number }[] =>
  [...String(error instanceof Error ? error.stack : '').matchAll(/(file:\/\/\S+?\.ts):(\d+)(?::(\d+))?/g)]
    .map(([, url = '', line, column = '1']) => ({
      path: fileURLToPath(url),
      line: Number(line),
      column: Number(column),
    }))
    .filter(({ path }) => path.startsWith(`${folder}${sep}`) && !path.includes(`${sep}node_modules${sep}`))

/** The file that an import of another one fails in: a syntax error has it in its first line, any other error in its stack. */
const failedFile = (error: unknown, folder: string, path: string): string => framesIn(error, folder)[0]?.path ?? path

const explain = (
  error: unknown,
  folder: string,
  path: string,
  source: SourceFile,
): [string, SourcePosition | undefined] => {
  const message = firstLine(error, folder)
  const [, module, missing] = /module '(.+)' does not provide an export named '(.+)'/.exec(message) ?? []
  if (missing !== undefined) {
    const hint = module === engineName ? suggestion(missing) || `; it exports ${exported.join(', ')}` : ''
    return [`${module} does not export "${missing}"${hint}`, wordPosition(source, missing)]
  }
  const syntaxError = error instanceof SyntaxError ? findSyntaxError(source.text) : undefined
  if (syntaxError) return [syntaxError.message, positionAt(source, syntaxError.line, syntaxError.column)]
  const [, unknown] = /^(\S+) is not defined$/.exec(message) ?? []
  if (unknown !== undefined) {
    const hint = exported.includes(unknown) ? `; import it from '${engineName}'` : suggestion(unknown)
    return [`"${unknown}" is not defined${hint}`, wordPosition(source, unknown)]
  }
  const [, target] = /^(?:Cannot find (?:module|package)|Directory import) '(.+?)'/.exec(message) ?? []
  const imported = importsIn(source).find(({ specifier }) => target?.endsWith(specifier.replace(/^(?:\.\.?\/)+/, '')))
  if (imported) return [`"${imported.specifier}" does not exist`, imported.position]
  const frame = framesIn(error, folder).find((candidate) => candidate.path === path)
  return [message, frame && positionAt(source, frame.line, frame.column)]
}

/** Where a file first names a property; a message begins with the name, or has it in quotes. */
export const namedPosition = (path: string, message: string): SourcePosition | undefined => {
  const source = readSource(path)
  const name = /^unknown property "(\w+)"/.exec(message)?.[1] ?? /^(?:product\.)?(\w+)/.exec(message)?.[1]
  return source && name ? wordPosition(source, name) : undefined
}

/** Imports a file, such as `resources/books.ts`, of the project in a folder; reports why it cannot. */
export const importProjectFile = async (
  folder: string,
  file: string,
  errors: FileError[],
): Promise<Readonly<Record<string, unknown>> | undefined> => {
  const path = join(folder, file)
  try {
    return await importFile(path)
  } catch (error) {
    const failed = failedFile(error, folder, path)
    const source = readSource(failed)
    const [reason, position] = source ? explain(error, folder, failed, source) : [firstLine(error, folder), undefined]
    const fileError = { file: relativePath(folder, failed), message: `cannot be loaded: ${reason}`, position }
    // A shared file fails for every file that imports it.
    const isKnown = errors.some((earlier) => earlier.file === fileError.file && earlier.message === fileError.message)
    if (!isKnown) errors.push(fileError)
    return undefined
  }
}
