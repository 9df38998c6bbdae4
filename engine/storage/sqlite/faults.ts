/** Tells what SQLite cannot do at the moment from what is wrong with a question. */
import { type Table, Unavailable } from '../storage.js'

/** A lock, a disk, a file: none of it the asker's doing, and all of it may pass. */
const notNow = /^SQLITE_(BUSY|LOCKED|IOERR|FULL|READONLY|CANTOPEN|PROTOCOL|CORRUPT|NOTADB|NOMEM|INTERRUPT)/

const isPassing = (error: Error & { code?: string }): boolean =>
  notNow.test(error.code ?? '') || error.message === 'The database connection is not open'

/** Throws the error as what it is to whoever asked. */
export const rethrow = (error: Error): never => {
  throw isPassing(error) ? new Unavailable(error.message, { cause: error }) : error
}

/** A table whose failures are told in the storage's own terms, and which may be another each time it is asked. */
export const tellingFaults = (table: () => Table): Table => ({
  tag: () => table().tag().catch(rethrow),
  list: (question) => table().list(question).catch(rethrow),
  get: (id) => table().get(id).catch(rethrow),
  conflicts: (row) => table().conflicts(row).catch(rethrow),
  create: (row, retry) => table().create(row, retry).catch(rethrow),
})
