/** The errors of resource and seed files: all at once, each with its file, its place in the file and what to do. */
import { type PropertyPath, placePosition, type SourceFile, type SourcePosition } from './sourceFile.js'

export interface FileError {
  /** Relative to the folder of package.json: `resources/books.ts`. */
  readonly file: string
  readonly message: string
  /** Undefined if the source is missing, or has no literal. */
  readonly position: SourcePosition | undefined
}

/** Reports an error; the place is the path of a property in the literal of the file. */
export type Report = (message: string, ...place: PropertyPath) => void

export const reportIn =
  (errors: FileError[], file: string, source?: SourceFile): Report =>
  (message, ...place) =>
    void errors.push({ file, message, position: source && placePosition(source, place) })

/** Puts a prefix before each message and each place: `field "days": unknown option …`. */
export const reportAt =
  (report: Report, prefix: string, ...start: PropertyPath): Report =>
  (message, ...place) =>
    report(`${prefix}: ${message}`, ...start, ...place)

/** One line: `resources/books.ts:13: field "days": unknown option "filtre" of number()`. */
export const errorLine = ({ file, position, message }: FileError): string =>
  `${file}${position ? `:${position.line}` : ''}: ${message}`

/** Lists all errors; the service does not start with any in its descriptors. */
export class RegistryError extends Error {
  override readonly name = 'RegistryError'

  readonly errors: readonly FileError[]

  constructor(errors: readonly FileError[]) {
    const count = errors.length === 1 ? 'an error' : `${errors.length} errors`
    super([`The resources have ${count}:`, ...errors.map(errorLine)].join('\n  '))
    this.errors = errors
  }
}

/** Formats a value as it would be written in a descriptor, truncated if it is long. */
export const formatValue = (value: unknown): string => {
  const isJson = typeof value === 'object' || typeof value === 'string'
  if (value instanceof Date) return 'a Date'
  const text = typeof value === 'function' ? 'a function' : isJson ? JSON.stringify(value) : String(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}
