/** The connections to a PostgreSQL server: how many, how long they are waited for, and what their failures mean. */
import { createHash } from 'node:crypto'
import { type ClientBase, DatabaseError, Pool, type PoolClient } from 'pg'
import type { PoolOptions } from '../options.js'
import type { Statement } from '../slots.js'
import { OutcomeUnknown, Unavailable } from '../storage.js'
import { configOf } from './address.js'

/** A row as the server wrote it, a text a column. */
export type Row = readonly (string | null)[]

/** A statement under the name by which each connection prepares it once. */
export interface Prepared extends Statement {
  readonly name: string
}

/** Asks for the rows of a statement; values go by the names of its slots, and one that is missing is null. */
export type Ask = (statement: Prepared, values?: Readonly<Record<string, unknown>>) => Promise<Row[]>

export interface Connections {
  /** A read, which may be asked again: on another connection where the first one broke. */
  readonly read: Ask
  /** A write that is one statement, and so a transaction. */
  readonly write: Ask
  transaction<T>(work: (ask: Ask) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export const prepared = (statement: Statement): Prepared => ({
  ...statement,
  name: createHash('sha256').update(statement.sql).digest('base64url').slice(0, 20),
})

/** The states by which a server says that it does not take part: gone, full, stopping, read-only, or too slow. */
const isPassing = /^(?:08|28|3D|53|57|58)|^(?:25006|40001|40P01|55P03)$/
/** Two transactions stood in each other's way; the server has undone this one. */
const isUndone = /^(?:40001|40P01)$/

const codeOf = (error: unknown): string => (error instanceof DatabaseError ? (error.code ?? '') : '')

/** Whether the connection is of no more use: it is no answer of the server, or one that it is leaving or read-only. */
const isBroken = (error: unknown): boolean =>
  error instanceof DatabaseError ? /^(?:08|57P|25006)/.test(codeOf(error)) : !(error instanceof Unavailable)

/** What has taken too long once is not waited for twice. */
const isTimeout = (error: unknown): boolean => /timeout/.test((error as Error).message)

/** Whether the connection was lost, so that nobody knows whether the server has carried out the statement. */
const isLost = (error: unknown): boolean =>
  error instanceof Error && !(error instanceof DatabaseError) && !(error instanceof TypeError)

/** Runs the statement that commits; if its connection is lost meanwhile, the outcome is unknown. */
const committing = async <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: Error) => {
    throw isLost(error) ? new OutcomeUnknown(error.message, { cause: error }) : error
  })

/** The error in the storage's own terms. */
const storageError = (error: unknown): unknown => {
  if (error instanceof OutcomeUnknown || error instanceof Unavailable) return error
  if (error instanceof DatabaseError) return isPassing.test(codeOf(error)) ? new Unavailable(error.message) : error
  // A TypeError is a mistake of ours; whatever else the driver throws is about the connection.
  return error instanceof TypeError || !(error instanceof Error) ? error : new Unavailable(error.message)
}

/** Values come as the server wrote them; what they mean the asker knows. */
const types = { getTypeParser: () => String }

/** Asks on one connection. */
export const askOn =
  (client: ClientBase): Ask =>
  async ({ name, sql, slots }, values = {}) => {
    const bound = slots.map((slot) => values[slot] ?? null)
    const { rows } = await client.query({ name, text: sql, values: bound, rowMode: 'array', types })
    return rows as Row[]
  }

/** The network may fail without a word, so a statement's time is kept on this side too, with room for the server's own word. */
const grace = 1_000

/** Opens none yet: a connection is made when there is something to ask. */
export const connectionsTo = (url: string, { size, waitMs, idleMs, statementMs }: PoolOptions): Connections => {
  const settings = {
    statement_timeout: String(statementMs),
    idle_in_transaction_session_timeout: String(statementMs),
    default_transaction_isolation: 'read committed',
    // Statements are written so that one plan serves all values: planning anew would cost more than most of them take.
    plan_cache_mode: 'force_generic_plan',
    jit: 'off',
  }
  const pool = new Pool({
    ...configOf(url, settings),
    max: size,
    connectionTimeoutMillis: waitMs,
    idleTimeoutMillis: idleMs,
    query_timeout: statementMs + grace,
  })
  // A connection that breaks while nobody uses it, or while it is used: the pool drops it, and whoever uses it is told.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))

  const using = async <T>(work: (client: PoolClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect().catch((error: Error) => {
      throw new Unavailable(error.message)
    })
    try {
      const result = await work(client)
      client.release()
      return result
    } catch (error) {
      client.release(isBroken(error))
      throw error
    }
  }
  /** Tries until it succeeds or may not be tried again: as often as there can be connections that broke unnoticed. */
  const attempt = async <T>(work: (client: PoolClient) => Promise<T>, isAgain: (error: unknown) => boolean) => {
    for (let left = size; ; left--) {
      try {
        return await using(work)
      } catch (error) {
        if (left === 0 || !isAgain(error)) throw storageError(error)
      }
    }
  }
  const wasUndone = (error: unknown) => isUndone.test(codeOf(error))

  return {
    read: (statement, values) =>
      attempt(
        (client) => askOn(client)(statement, values),
        (error) => wasUndone(error) || (isBroken(error) && !isTimeout(error)),
      ),
    write: (statement, values) => attempt((client) => committing(askOn(client)(statement, values)), wasUndone),
    transaction: (work) =>
      attempt(async (client) => {
        await client.query('begin')
        try {
          const result = await work(askOn(client))
          await committing(client.query('commit'))
          return result
        } catch (error) {
          if (!isBroken(error)) await client.query('rollback')
          throw error
        }
      }, wasUndone),
    close: () => pool.end(),
  }
}
