/** Reports the problems of resource and seed files: all at once, each with its file, row and field. */

export type Report = (message: string) => void

/** Puts the place before each message: `resources/leave.ts: field "days": unknown option "filtre" of number()`. */
export const reportAt =
  (report: Report, place: string): Report =>
  (message) =>
    report(`${place}: ${message}`)

/** Lists all problems; the service does not start with any. */
export class RegistryError extends Error {
  override readonly name = 'RegistryError'

  constructor(problems: readonly string[]) {
    const count = problems.length === 1 ? 'an error' : `${problems.length} errors`
    super([`The resources have ${count}:`, ...problems].join('\n  '))
  }
}

/** Formats a value as it would be written in a descriptor, truncated if it is long. */
export const formatValue = (value: unknown): string => {
  const isJson = typeof value === 'object' || typeof value === 'string'
  const text = typeof value === 'function' ? 'a function' : isJson ? JSON.stringify(value) : String(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}
