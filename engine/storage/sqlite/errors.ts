/** What SQLite's errors mean. */
import { Locked, OutcomeUnknown, TableChanged, TimedOut, Unavailable } from '../failures.js'
import { DeadlineExceeded } from './search.js'
import { CommitUncertain } from './writes.js'

/** Errors of disks and files, which are not the client's fault and may pass. */
const transient = /^SQLITE_(IOERR|FULL|READONLY|CANTOPEN|PROTOCOL|CORRUPT|NOTADB|NOMEM|INTERRUPT)/

/** The schema is not as a statement expects; `indexed by` an index of other expressions has no query solution. */
const mismatch = /no such (?:table|column|index)|has no column named|no query solution/

export const storageError = (error: Error & { code?: string }, table: string): Error => {
  const { name, message, code = '' } = error
  if (error instanceof Unavailable || error instanceof OutcomeUnknown) return error
  // By name, because an error that crossed threads has lost its class.
  if (name === DeadlineExceeded.name) return new TimedOut('the read exceeded its time limit', { cause: error })
  if (name === CommitUncertain.name) return new OutcomeUnknown(message, { cause: error })
  // SQLite locks the whole file.
  if (/^SQLITE_(?:BUSY|LOCKED)/.test(code)) return new Locked(`${table}: ${message}`, { cause: error })
  if (code === 'SQLITE_ERROR' && mismatch.test(message)) return new TableChanged(message, { cause: error })
  const isTransient =
    transient.test(code) || message === 'The database connection is not open' || message.startsWith('the database file')
  return isTransient ? new Unavailable(message, { cause: error }) : error
}
