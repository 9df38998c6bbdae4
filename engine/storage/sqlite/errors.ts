/** Classifies SQLite's errors: which of them pass, so that the same request may succeed later. */
import { OutcomeUnknown, type Table, TimedOut, Unavailable } from '../storage.js'
import { DeadlineExceeded } from './search.js'
import { CommitUncertain } from './writes.js'

/** A lock, a disk or a file: not the client's doing, and it may pass. */
const transient = /^SQLITE_(BUSY|LOCKED|IOERR|FULL|READONLY|CANTOPEN|PROTOCOL|CORRUPT|NOTADB|NOMEM|INTERRUPT)/

const isTransient = ({ code = '', message }: Error & { code?: string }): boolean =>
  transient.test(code) || message === 'The database connection is not open' || message.startsWith('the database file')

/** An error that crossed threads has lost its class, but not its name. */
const isNamed = (error: Error, kind: { readonly name: string }): boolean => error.name === kind.name

/** The error in the storage's own terms. */
export const storageError = (error: Error): Error => {
  if (error instanceof Unavailable || error instanceof OutcomeUnknown) return error
  if (isNamed(error, DeadlineExceeded)) return new TimedOut('the read exceeded its time limit', { cause: error })
  if (isNamed(error, CommitUncertain)) return new OutcomeUnknown(error.message, { cause: error })
  return isTransient(error) ? new Unavailable(error.message, { cause: error }) : error
}

/** Rejects with the error in the storage's own terms. */
export const rethrow = (error: Error): never => {
  throw storageError(error)
}

/** A table whose errors are in the storage's own terms; the table may change between calls. */
export const withStorageErrors = (table: () => Table): Table => ({
  tag: () => table().tag().catch(rethrow),
  list: (query, isAbandoned) => table().list(query, isAbandoned).catch(rethrow),
  get: (id) => table().get(id).catch(rethrow),
  conflicts: (row) => table().conflicts(row).catch(rethrow),
  create: (row, retry) => table().create(row, retry).catch(rethrow),
})
