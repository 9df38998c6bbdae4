/** The connection pool, its timeouts and retries, and the classification of its errors. */
import { DatabaseError, Pool, type PoolClient } from 'pg'
import type { PoolOptions } from '../options.js'
import { OutcomeUnknown, TimedOut, Unavailable } from '../storage.js'
import { type Row, type Run, runnerFor } from './run.js'
import type { Server } from './server.js'

export type { Row, Run }

export interface Connections {
  /** Runs a read; it is retried on another connection if its own breaks. */
  readonly read: Run
  /** Runs a write of one statement, which is its own transaction. */
  readonly write: Run
  transaction<T>(work: (run: Run) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** SQLSTATEs of a server that is unreachable, full, stopping, read-only or too slow. */
const transient = /^(?:08|28|3D|53|57|58)|^(?:25006|40001|40P01|55P03)$/
/** A serialization failure or deadlock; the server has rolled this transaction back. */
const rolledBack = /^(?:40001|40P01)$/

const codeOf = (error: unknown): string => (error instanceof DatabaseError ? (error.code ?? '') : '')

/** Whether the connection is unusable: it was lost, or its server is stopping or read-only. */
const isBroken = (error: unknown): boolean =>
  error instanceof DatabaseError ? /^(?:08|57P|25006)/.test(codeOf(error)) : true

/** A timeout is not retried. */
const isTimeout = (error: unknown): boolean => /timeout/.test((error as Error).message)

/**
 * Whether the connection was lost, which leaves it unknown whether the server carried out the statement. A pooler reports that with
 * a connection exception. A TypeError is a bug; everything else that the driver throws is about the connection.
 */
const isLost = (error: unknown): boolean =>
  error instanceof DatabaseError
    ? codeOf(error).startsWith('08')
    : error instanceof Error && !(error instanceof TypeError)

/** Runs the statement that commits; if its connection is lost meanwhile, the outcome is unknown. */
const committing = async <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: Error) => {
    throw isLost(error) ? new OutcomeUnknown(error.message, { cause: error }) : error
  })

/** The error in the storage's own terms. */
const storageError = (error: unknown): unknown => {
  if (error instanceof OutcomeUnknown || error instanceof Unavailable) return error
  if (codeOf(error) === '57014') return new TimedOut((error as Error).message)
  if (error instanceof DatabaseError) return transient.test(codeOf(error)) ? new Unavailable(error.message) : error
  return isLost(error) ? new Unavailable((error as Error).message) : error
}

/** Added to the server's own statement timeout on this side, in milliseconds, in case the network fails silently. */
const grace = 1_000

/** Creates the pool; connections are opened on demand. */
export const connectionsTo = (server: Server, { size, waitMs, idleMs, statementMs }: PoolOptions): Connections => {
  const settings = {
    statement_timeout: String(statementMs),
    idle_in_transaction_session_timeout: String(statementMs),
    default_transaction_isolation: 'read committed',
    // One plan serves all values of a statement; planning again would cost more than most of them take.
    plan_cache_mode: 'force_generic_plan',
    jit: 'off',
    // Numbers are printed so that they read back as the same number.
    extra_float_digits: '1',
  }
  const pool = new Pool({
    ...server.config(settings),
    max: size,
    connectionTimeoutMillis: waitMs,
    idleTimeoutMillis: idleMs,
    query_timeout: statementMs + grace,
  })
  // The pool drops a connection that breaks; a statement that runs on it fails by itself.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))

  const { single, begin, inTransaction } = runnerFor(server, settings)

  /** Retries at most once for each connection of the pool, since all of them may have broken unnoticed. */
  const withRetries = async <T>(work: (client: PoolClient) => Promise<T>, isRetryable: (error: unknown) => boolean) => {
    for (let left = size; ; left--) {
      const client = await pool.connect().catch((error: Error) => {
        throw new Unavailable(error.message)
      })
      try {
        const result = await work(client)
        client.release()
        return result
      } catch (error) {
        client.release(isBroken(error))
        if (left === 0 || !isRetryable(error)) throw storageError(error)
      }
    }
  }
  const wasRolledBack = (error: unknown) => rolledBack.test(codeOf(error))

  return {
    read: (statement, values) =>
      withRetries(
        (client) => single(client)(statement, values),
        (error) => wasRolledBack(error) || (isBroken(error) && !isTimeout(error)),
      ),
    write: (statement, values) => withRetries((client) => committing(single(client)(statement, values)), wasRolledBack),
    transaction: (work) =>
      withRetries(async (client) => {
        await client.query(begin)
        try {
          const result = await work(inTransaction(client))
          await committing(client.query('commit'))
          return result
        } catch (error) {
          if (!isBroken(error)) await client.query('rollback')
          throw error
        }
      }, wasRolledBack),
    close: () => pool.end(),
  }
}
