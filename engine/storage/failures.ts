/** Why the database does not do what was asked for, as classes of errors. */
import type { Refused } from './writeData.js'

/** The database cannot be used as it is; the message is for the operator. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
}

/** The approved changes are not planned; the database itself can be used. */
export class NothingToDo extends StorageError {}

/** The database cannot serve the request now; nothing was stored, and a retry may succeed. The message is for the log. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'
}

/** Another session or program holds a lock that the request has waited for. The message is for the log. */
export class Locked extends Unavailable {}

/** A transaction took longer than it may, and was undone. The message is for the log. */
export class TransactionTimedOut extends Unavailable {}

/** A table was changed while the service ran, and no longer fits its descriptor. The storage has reported it. */
export class TableChanged extends Unavailable {}

/** A read exceeded its time limit. The message is for the log. */
export class TimedOut extends Unavailable {}

/** Too many reads wait, so this one was not started; a later one may succeed. The message is for the log. */
export class Busy extends Unavailable {}

/** The values that rows are grouped by are too large for a response. */
export class GroupsTooLarge extends Error {
  override readonly name = 'GroupsTooLarge'
}

/** The database does not let this service write. The message is for the log. */
export class WritesForbidden extends Error {
  override readonly name = 'WritesForbidden'
}

/** A commit was cut off, so the row may or may not have been stored. The message is for the log. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
}

/** The table does not take the row; nothing was changed. */
export class RowRefused extends Error {
  readonly refused: Refused

  constructor(reason: string) {
    super(reason)
    this.refused = { reason }
  }
}
