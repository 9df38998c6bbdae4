/** Classifies errors of the server and the driver: whether to retry, whether the outcome is known, and the error of the request. */
import { type ClientBase, DatabaseError } from 'pg'
import {
  Locked,
  OutcomeUnknown,
  RowRefused,
  TableChanged,
  TimedOut,
  Unavailable,
  WritesForbidden,
} from '../failures.js'

/** SQLSTATEs of a server that is unreachable, full, stopping, read-only or too slow. */
const transient = /^(?:08|28|3D|53|57|58)|^(?:25006|40001|40P01)$/

/** A serialization failure, a deadlock, or a session that the server has ended: it has rolled the statement back. */
const rolledBack = /^(?:40001|40P01|57P01|57P05)$/

export const errorCode = (error: unknown): string => (error instanceof DatabaseError ? (error.code ?? '') : '')

/** Whether nothing was done; the driver sends no statement on a broken connection. */
const hadNoEffect = (error: unknown): boolean =>
  error instanceof DatabaseError
    ? rolledBack.test(errorCode(error))
    : error instanceof Error && error.message.endsWith('is not queryable')

export class NoConnection extends Unavailable {}

/** The server has ended the session and has not carried out the statement. */
export class Dropped extends Unavailable {}

export const connectError = (error: Error): Unavailable => {
  const isAccepted = hadNoEffect(error) || error.message === 'Connection terminated unexpectedly'
  return new (isAccepted ? Dropped : NoConnection)(describeError(error), { cause: error })
}

/** The functions of Citus that report a lost connection to one of its servers, as an internal error. */
const lostWorker = /^(?:Report(?:Connection|Result)Error|ErrorIfPostCommitFailedShardPlacements)$/

const hasLostConnection = (error: DatabaseError): boolean =>
  errorCode(error).startsWith('08') || (errorCode(error) === 'XX000' && lostWorker.test(error.routine ?? ''))

/** Whether the connection is unusable: it was lost, or its server is stopping or read-only. */
export const isBroken = (error: unknown): boolean =>
  error instanceof DatabaseError
    ? hasLostConnection(error) || /^(?:57P|25006)/.test(errorCode(error))
    : !(error instanceof RowRefused)

/**
 * Whether the connection was lost, which leaves it unknown whether the server carried out the statement. A pooler reports that with
 * a connection exception. A TypeError is a bug; everything else that the driver throws is about the connection.
 */
export const isLost = (error: unknown): boolean =>
  error instanceof DatabaseError
    ? hasLostConnection(error)
    : error instanceof Error &&
      !(error instanceof TypeError || error instanceof RowRefused || error instanceof Unavailable)

/** Whether a read may succeed on another connection. The driver's own time limit is not retried. */
export const isRetryableRead = (error: unknown): boolean =>
  isRetryableWrite(error) ||
  (error instanceof DatabaseError ? isBroken(error) : isLost(error) && !/timeout/.test((error as Error).message))

/** Whether nothing was done because of a conflict between transactions, or because the connection was dropped. */
export const isRetryableWrite = (error: unknown): boolean => hadNoEffect(error) || error instanceof Dropped

/**
 * The function that waits for standbys, and that of Citus which commits on its other servers; a message of it says that this was cut
 * short, after the commit.
 */
const confirmations: ReadonlySet<string | undefined> = new Set(['SyncRepWaitForLSN', 'FinishRemoteTransactionCommit'])

/** Runs the statement that commits. The outcome is unknown if its connection is lost, or if another server has not confirmed the commit. */
export const committing = async <T>(client: ClientBase, commit: () => Promise<T>): Promise<T> => {
  let unconfirmed: string | undefined
  const onNotice = ({ routine, message }: { routine?: string | undefined; message?: string | undefined }) => {
    if (confirmations.has(routine)) unconfirmed = message
  }
  client.on('notice', onNotice)
  const result = await commit()
    .catch((error: Error) => {
      const isKnown = unconfirmed === undefined && (!isLost(error) || hadNoEffect(error))
      throw isKnown ? error : new OutcomeUnknown(error.message, { cause: error })
    })
    .finally(() => client.off('notice', onNotice))
  if (unconfirmed !== undefined) throw new OutcomeUnknown(unconfirmed)
  return result
}

export const forbidden = (error: unknown): unknown =>
  errorCode(error) === '42501' ? new WritesForbidden((error as Error).message, { cause: error }) : error

/** Adds the table to an error of the server that does not name it, for the log; returns the error. */
export const nameTable = (error: unknown, table: string): unknown => {
  if (error instanceof DatabaseError && table && !error.message.includes(table)) {
    const message = `${table}: ${error.message}`
    error.stack = error.stack?.replace(error.message, message) ?? message
    error.message = message
  }
  return error
}

/** Whether the schema is not as a statement expects: an undefined table, column or function, another type, another result of a plan. */
const isMismatch = (error: unknown): boolean =>
  /^(?:42P01|42703|42883|42804)$/.test(errorCode(error)) ||
  (error as Error).message.includes('cached plan must not change')

/** Whether the time limit of a statement has ended it, or a cancel request. */
export const isTimeout = (error: unknown): boolean => errorCode(error) === '57014'

export const storageError = (error: unknown): unknown => {
  if (error instanceof OutcomeUnknown || error instanceof Unavailable || error instanceof WritesForbidden) return error
  if (isMismatch(error)) return new TableChanged((error as Error).message, { cause: error })
  if (isTimeout(error)) return new TimedOut((error as Error).message)
  if (errorCode(error) === '55P03') return new Locked((error as Error).message, { cause: error })
  if (hadNoEffect(error)) return new Dropped(describeError(error as Error), { cause: error })
  const isTransient = isLost(error) || transient.test(errorCode(error))
  return isTransient ? new Unavailable(describeError(error as Error), { cause: error }) : error
}

/** Advice for messages of the server and the driver that do not say what to do. */
const hints: [message: RegExp, hint: string][] = [
  [
    /client password must be|empty password returned/,
    'the server demands a password; write it in the URL, or in the environment variable PGPASSWORD',
  ],
  [/^(?:timeout expired|Query read timeout)$/, 'the server does not answer'],
  [
    /no encryption|SSL off|insecure|(?:SSL|TLS)\W.*required/i,
    '$&. If the server demands TLS, add sslmode=require to the URL',
  ],
]

/** The message of an error. The driver has none after trying several addresses. */
export const describeError = (error: Error): string => {
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(({ message }: Error) => message).join(', ')
  }
  const hint = hints.find(([message]) => message.test(error.message))?.[1]
  return hint?.replace('$&', () => error.message) ?? error.message
}
