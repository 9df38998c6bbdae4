/** Failures of the database and of files, in sentences: what a command prints instead of an error of a driver. */
import { Locked, OutcomeUnknown, Unavailable, WritesForbidden } from '../engine/storage/failures.js'

const withFullStop = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

/** A sentence about the failure; undefined if it may be an error of the program, whose stack is needed. */
export const describeFailure = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  const { code = '', message, syscall, path } = error as NodeJS.ErrnoException
  if (error instanceof Locked) return `Another program holds a lock (${message}); try again when that is done.`
  if (error instanceof OutcomeUnknown) return withFullStop(`It is unknown whether the rows were stored: ${message}`)
  if (error instanceof Unavailable || error instanceof WritesForbidden || code.startsWith('SQLITE_'))
    return withFullStop(`The database cannot be used: ${message}`)
  // PostgreSQL's.
  if ('severity' in error) return withFullStop(`The database refuses it: ${message}`)
  if (syscall === undefined) return undefined
  const [, reason = message] = /^\w+: (.*?), \w+/.exec(message) ?? []
  return path === undefined ? withFullStop(message) : `${path}: ${reason} (${code}).`
}
