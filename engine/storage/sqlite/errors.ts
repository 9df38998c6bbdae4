/** Turns SQLite's errors into those of the storage, and decides which are transient. */
import { OutcomeUnknown, type Table, TimedOut, Unavailable } from '../storage.js'
import { wrapTable } from '../wrapTable.js'
import { DeadlineExceeded } from './search.js'
import { CommitUncertain } from './writes.js'

/** Errors of locks, disks and files, which are not the client's fault and may pass. */
const transient = /^SQLITE_(BUSY|LOCKED|IOERR|FULL|READONLY|CANTOPEN|PROTOCOL|CORRUPT|NOTADB|NOMEM|INTERRUPT)/

const isTransient = ({ code = '', message }: Error & { code?: string }): boolean =>
  transient.test(code) || message === 'The database connection is not open' || message.startsWith('the database file')

const storageError = (error: Error): Error => {
  if (error instanceof Unavailable || error instanceof OutcomeUnknown) return error
  // By name, because an error that crossed threads has lost its class.
  if (error.name === DeadlineExceeded.name) return new TimedOut('the read exceeded its time limit', { cause: error })
  if (error.name === CommitUncertain.name) return new OutcomeUnknown(error.message, { cause: error })
  return isTransient(error) ? new Unavailable(error.message, { cause: error }) : error
}

/** Whether the schema is not as a statement expects; `indexed by` an index of other expressions has no query solution. */
export const isMismatch = (error: unknown): boolean => {
  const { code, message } = error as Error & { code?: string }
  return code === 'SQLITE_ERROR' && /no such (?:table|column|index)|has no column named|no query solution/.test(message)
}

/** Wraps a table so that its errors are those of the storage; the table may change between calls. */
export const withStorageErrors = (table: () => Table): Table =>
  wrapTable(table, (work) =>
    work().catch((error: Error) => {
      throw storageError(error)
    }),
  )
