/** The error that reports every problem in the resource and seed files, in words that can be acted on without reading the engine. */

export interface Problem {
  /** The file as the maintainer knows it: `resources/leave.ts`. */
  readonly file: string
  /** The number of the demo row, from 1. */
  readonly row?: number
  readonly field?: string | undefined
  readonly message: string
}

/** `resources/leave.ts: field "days": unknown option "filtre" of number().` */
export const formatProblem = ({ file, row, field, message }: Problem): string => {
  const place = [
    file,
    ...(row === undefined ? [] : [`row ${row}`]),
    ...(field === undefined ? [] : [`field "${field}"`]),
  ]
  return `${place.join(': ')}: ${message}`
}

/** Carries all problems at once; the service does not start with any. */
export class RegistryError extends Error {
  override readonly name = 'RegistryError'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    const count = problems.length === 1 ? 'an error' : `${problems.length} errors`
    super([`The resources have ${count}:`, ...problems.map((problem) => `  ${formatProblem(problem)}`)].join('\n'))
    this.problems = problems
  }
}

/** Formats a value as it would be written in a descriptor, truncated if it is long. */
export const formatValue = (value: unknown): string => {
  const isJson = typeof value === 'object' || typeof value === 'string'
  const text = typeof value === 'function' ? 'a function' : isJson ? JSON.stringify(value) : String(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}
