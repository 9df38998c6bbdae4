/** The problems of resource and seed files: all at once, each with its file, its place in the file and what to do. */
import { type Place, type Position, placePosition, type SourceFile } from './sourceFile.js'

export interface Problem {
  /** Relative to the folder of package.json: `resources/leave.ts`. */
  readonly file: string
  readonly message: string
  /** Undefined if the source is missing, or has no literal. */
  readonly position: Position | undefined
}

/** Reports a problem; the place is the path of a property in the literal of the file. */
export type Report = (message: string, ...place: Place) => void

/** Adds the problems of one file to a list. */
export const reportIn =
  (problems: Problem[], file: string, source?: SourceFile): Report =>
  (message, ...place) =>
    void problems.push({ file, message, position: source && placePosition(source, place) })

/** Puts a prefix before each message and each place: `field "days": unknown option …`. */
export const reportAt =
  (report: Report, words: string, ...start: Place): Report =>
  (message, ...place) =>
    report(`${words}: ${message}`, ...start, ...place)

/** One line: `resources/leave.ts:13: field "days": unknown option "filtre" of number()`. */
export const problemLine = ({ file, position, message }: Problem): string =>
  `${file}${position ? `:${position.line}` : ''}: ${message}`

/** Lists all problems; the service does not start with any in its descriptors. */
export class RegistryError extends Error {
  override readonly name = 'RegistryError'

  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    const count = problems.length === 1 ? 'an error' : `${problems.length} errors`
    super([`The resources have ${count}:`, ...problems.map(problemLine)].join('\n  '))
    this.problems = problems
  }
}

/** Formats a value as it would be written in a descriptor, truncated if it is long. */
export const formatValue = (value: unknown): string => {
  const isJson = typeof value === 'object' || typeof value === 'string'
  if (value instanceof Date) return 'a Date'
  const text = typeof value === 'function' ? 'a function' : isJson ? JSON.stringify(value) : String(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}
