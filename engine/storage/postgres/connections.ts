/** The connection pools, their time limits and their retries. */
import { Pool, type PoolClient, type PoolConfig } from 'pg'
import type { PoolOptions } from '../options.js'
import { type Caller, type PoolStats, TimedOut } from '../storage.js'
import type { Trace } from '../trace.js'
import { cancelStatement } from './cancel.js'
import { nameTable } from './errorPlace.js'
import { committing, connectError, isBroken, isRetryableRead, isRetryableWrite, wasCancelled } from './errors.js'
import type { Prepared } from './prepared.js'
import { retrying } from './retries.js'
import { type Row, type Run, runnerFor } from './run.js'
import type { Server } from './server.js'
import { Preempted, slotsOf } from './slots.js'
import { within } from './within.js'

type Values = Readonly<Record<string, unknown>>

/** What a statement is for. */
interface Purpose {
  /** The table that it reads or writes. */
  readonly table?: string
  readonly caller?: Caller | undefined
  /** The time limit of the statement in milliseconds, if it is less than that of others. */
  readonly limitMs?: number | undefined
}

/** Runs a statement when a connection is free. */
type RunFor = (statement: Prepared, values?: Values, purpose?: Purpose) => Promise<Row[]>

export interface Connections {
  /** Runs a short read that other requests wait for, on a connection that nothing else uses. */
  readonly check: Run
  /** Runs a read; it is retried on another connection if its own breaks. */
  readonly read: RunFor
  /** Runs a write of one statement, which is its own transaction. */
  readonly write: RunFor
  transaction<T>(work: (run: Run) => Promise<T>): Promise<T>
  stats(): PoolStats[]
  close(): Promise<void>
}

/** Added to the server's own statement timeout on this side, in milliseconds, in case the network fails silently. */
const grace = 1_000

const poolOf = (config: PoolConfig): Pool => {
  const pool = new Pool(config)
  // The pool drops a connection that breaks; a statement that runs on it fails by itself.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

const statsOf = (part: string, pool: Pool, waiting: number): PoolStats => {
  const { totalCount: open, idleCount: idle, options } = pool
  return { part, size: options.max, open, inUse: open - idle, waiting }
}

/** Creates the pools; connections are opened on demand. */
export const connectionsTo = (
  server: Server,
  { size, waitMs, idleMs, statementMs }: PoolOptions,
  trace?: Trace,
): Connections => {
  const settings = {
    statement_timeout: String(statementMs),
    // A statement that waits for a lock must not occupy its connection for long.
    lock_timeout: String(Math.min(waitMs, statementMs)),
    idle_in_transaction_session_timeout: String(statementMs),
    default_transaction_isolation: 'read committed',
    // One plan serves all values of a statement; planning again would cost more than most of them take.
    plan_cache_mode: 'force_generic_plan',
    jit: 'off',
    // Numbers are printed so that they read back as the same number.
    extra_float_digits: '1',
  }
  const config = { ...server.config(settings), connectionTimeoutMillis: waitMs, idleTimeoutMillis: idleMs }
  const checks = poolOf({ ...config, max: 1, query_timeout: waitMs })
  const pool = poolOf({ ...config, max: size, query_timeout: statementMs + grace })
  const { single, begin, inTransaction } = runnerFor(server, settings, trace)
  const slots = slotsOf(size)
  const withRetries = retrying(waitMs, size)

  const connect = async (from: Pool, until: number): Promise<PoolClient> => {
    const connecting = from.connect()
    try {
      return await within(Math.max(0, until - performance.now()), connecting)
    } catch (error) {
      connecting.then((late) => late.release()).catch(() => {})
      throw connectError(error as Error)
    }
  }

  /** Runs a statement on a connection that is free again afterwards. */
  const onConnection = async <T>(client: PoolClient, work: (client: PoolClient) => Promise<T>): Promise<T> => {
    try {
      const result = await work(client)
      client.release()
      return result
    } catch (error) {
      client.release(isBroken(error))
      throw error
    }
  }

  /** Runs a statement in a slot; it is cancelled if a quick one needs the slot, or if its caller leaves. */
  const inSlot = async (statement: Prepared, values: Values | undefined, purpose: Purpose, until: number) => {
    const { table = '', caller, limitMs } = purpose
    let client: PoolClient | undefined
    let running: Promise<Row[]> | undefined
    let cancelled: Promise<boolean> | undefined
    const cancel = () => {
      if (client && running) cancelled ??= cancelStatement(client, running)
    }
    const gone = () => new TimedOut('the client has gone')
    const wait = until - performance.now()
    const slot = await slots.take({ name: statement.name, table, preempt: cancel }, wait, caller)
    let isUsable = true
    try {
      client = await connect(pool, until)
      if (caller?.closed) throw gone()
      caller?.once('close', cancel)
      slot.start()
      running = single(client)(statement, values)
      return await (limitMs === undefined ? running : within(limitMs, running))
    } catch (error) {
      isUsable = running === undefined || !isBroken(error)
      nameTable(error, table)
      if (!cancelled || !wasCancelled(error)) throw error
      throw caller?.closed ? gone() : new Preempted('a quick statement needed the connection')
    } finally {
      caller?.off('close', cancel)
      if (cancelled) isUsable = (await cancelled) && isUsable
      client?.release(!isUsable)
      slot.release()
    }
  }

  return {
    check: (statement, values) =>
      withRetries(
        async (until) => onConnection(await connect(checks, until), (client) => single(client)(statement, values)),
        isRetryableRead,
      ),
    read: (statement, values, purpose = {}) =>
      withRetries((until) => inSlot(statement, values, purpose, until), isRetryableRead),
    write: (statement, values, purpose = {}) =>
      withRetries((until) => committing(inSlot(statement, values, purpose, until)), isRetryableWrite),
    transaction: (work) =>
      withRetries(
        async (until) =>
          onConnection(await connect(pool, until), async (client) => {
            await client.query(begin)
            try {
              const result = await work(inTransaction(client))
              await committing(client.query('commit'))
              return result
            } catch (error) {
              if (!isBroken(error)) await client.query('rollback')
              throw error
            }
          }),
        isRetryableWrite,
      ),
    stats: () => [
      statsOf('requests', pool, slots.waiting() + pool.waitingCount),
      statsOf('checks', checks, checks.waitingCount),
    ],
    async close() {
      await Promise.all([checks.end(), pool.end()])
    },
  }
}
