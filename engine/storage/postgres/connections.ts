/** The connection pools, their time limits and their retries. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool, type PoolClient, type PoolConfig } from 'pg'
import type { Purpose } from '../dialect.js'
import { OutcomeUnknown, Unavailable } from '../failures.js'
import type { PoolOptions } from '../options.js'
import { createSlots, latencyKeys, readWaitMs, type Task } from '../slots.js'
import { parameter, sql } from '../sql.js'
import type { PoolStats } from '../storage.js'
import { clientGone } from '../withTimeout.js'
import { retrying, withTimeout } from './attempts.js'
import {
  committing,
  connectError,
  forbidden,
  isBroken,
  isRetryableRead,
  isRetryableWrite,
  isTimeout,
  nameTable,
  storageError,
} from './errors.js'
import { type Prepared, prepared } from './prepared.js'
import { type Isolation, type Row, type Run, runnerFor } from './run.js'
import { type Server, type SessionSettings, serverProcess } from './server.js'

type Values = Readonly<Record<string, unknown>>

/** What a read is for; see `Purpose`. */
export interface ReadPurpose extends Omit<Purpose, 'search' | 'isShort'> {
  readonly table?: string
  /** The time limit in milliseconds, if it is less than that of others. */
  readonly limitMs?: number | undefined
}

/** Added to the server's own statement timeout on this side, in milliseconds, in case the network fails silently. */
const grace = 1_000

/** The share of the time for a statement that it may wait for a lock. */
const lockShare = 0.8

/** The pause before a read is cancelled again, in milliseconds: a request that arrives before its statement has no effect. */
const cancelPause = 50

/** The pause between two looks at a write that is late, in milliseconds. */
const watchPause = 5_000

const cancelRead = prepared(sql`select pg_cancel_backend(${parameter('pid', 'integer')})`)
const isActive = prepared(
  sql`select pid from pg_stat_activity where state = 'active' and pid = ${parameter('pid', 'integer')}`,
)

/** How PostgreSQL plans statements. A distributed engine has its own ways: Citus cannot plan for any value of a parameter. */
const planning = {
  // One plan serves all values of a statement; planning again would cost more than most of them take.
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  // Slow searches would take several cores each, from the other requests.
  max_parallel_workers_per_gather: '0',
}

const createPool = (config: PoolConfig): Pool => {
  const pool = new Pool(config)
  // The pool drops a connection that breaks; a statement that runs on it fails by itself.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

const poolStats = (part: string, pool: Pool, waiting: number): PoolStats => {
  const { totalCount: open, idleCount: idle, options } = pool
  return { part, size: options.max, open, inUse: open - idle, waiting }
}

/** Creates the pools; connections are opened on demand. */
export const connectionsTo = (server: Server, { size, waitMs, idleMs, statementMs }: PoolOptions, isPlain = false) => {
  const settings = {
    // The server applies both before a commit, not to the commit.
    statement_timeout: String(statementMs),
    // A statement that waits for a lock must not occupy its connection for long, and fails before this side gives up on it.
    lock_timeout: String(Math.ceil(Math.min(waitMs, statementMs) * lockShare)),
    idle_in_transaction_session_timeout: String(statementMs),
    default_transaction_isolation: 'read committed',
    ...(isPlain ? {} : planning),
    // Numbers are printed so that they read back as the same number.
    extra_float_digits: '1',
    // A commit that was not confirmed by its standby succeeds with a warning.
    client_min_messages: 'warning',
  }
  const config = {
    ...server.config(settings),
    connectionTimeoutMillis: waitMs,
    idleTimeoutMillis: idleMs,
    keepAliveInitialDelayMillis: 10_000,
    // A connection prepares a bounded number of statements, and those in use change.
    maxLifetimeSeconds: 600,
  }
  const checks = createPool({ ...config, max: 1 })
  // Code that holds the only connection would stop all reads, so that there is one more for it.
  const pool = createPool({ ...config, max: Math.max(size, 2) })
  const limit = statementMs + grace
  const lateCommit = () => new OutcomeUnknown(`the commit has not ended within ${limit} ms`)
  const { single, together, begin, beginAs, inTransaction } = runnerFor(server, settings)
  const slots = createSlots(size, readWaitMs(statementMs), waitMs)
  const sessionSlots = size > 1 ? slots : createSlots(1, readWaitMs(statementMs), waitMs)
  const withRetries = retrying(waitMs, size)
  const lateWrites = new Set<() => void>()

  const connect = async (from: Pool): Promise<PoolClient> => {
    const connecting = from.connect()
    try {
      return await withTimeout(waitMs, connecting)
    } catch (error) {
      connecting.then((late) => late.release()).catch(() => {})
      throw connectError(error as Error)
    }
  }

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

  /** Waits for a slot and a connection. The function returned with it frees both; the connection is closed unless it is usable. */
  const enter = async (task: Task, of = slots): Promise<[PoolClient, (isUsable: boolean, tookMs?: number) => void]> => {
    const place = await of.enter(task)
    try {
      const client = await connect(pool)
      let isFree = false
      const free = (isUsable: boolean, tookMs?: number) => {
        if (isFree) return
        isFree = true
        client.release(!isUsable)
        place.leave(tookMs)
      }
      if (!task.caller?.closed) return [client, free]
      free(true)
      throw clientGone()
    } catch (error) {
      place.leave()
      throw error
    }
  }

  const check: Run = (statement, values) =>
    withRetries(
      async () =>
        onConnection(await connect(checks), (client) => withTimeout(waitMs, single(client)(statement, values))),
      isRetryableRead,
    )

  /** Resolves when a statement has ended, with whether its connection is usable. */
  const untilEnded = (running: Promise<unknown>): Promise<boolean> =>
    running.then(
      () => true,
      (error) => !isBroken(error),
    )

  /**
   * Cancels a read; resolves as above. Its connection stays in use until then: a request on its way would cancel the next statement.
   * Through a pooler, the session may be another client's by now.
   */
  const cancel = async (client: PoolClient, running: Promise<unknown>): Promise<boolean> => {
    const until = performance.now() + statementMs
    const ended = untilEnded(running)
    while (server.isDirect && performance.now() < until) {
      await check(cancelRead, { pid: serverProcess(client) })
      const isUsable = await Promise.race([ended, sleep(cancelPause)])
      if (isUsable !== undefined) return isUsable
    }
    return false
  }

  const read = async <T = Row[]>(
    statement: Prepared,
    values: Values | undefined,
    purpose: ReadPurpose,
    send = (run: Run): Promise<T> => run(statement, values) as Promise<T>,
  ): Promise<T> => {
    const { name } = statement
    const { table = '', caller, limitMs = limit, isBegun = false, ...timed } = purpose
    const isTimed = timed.values !== undefined
    const keys = isTimed ? latencyKeys(name, timed) : []
    const [client, free] = await enter({
      table,
      caller,
      keys,
      isLong: timed.isScan === true || timed.isHeavy === true,
      isBegun,
    })
    const started = performance.now()
    const running = together(client, send)
    try {
      const result = await withTimeout(limitMs, running, caller)
      free(true, performance.now() - started)
      return result
    } catch (error) {
      // It has ended with an error, or nobody waits for it any longer.
      if (error instanceof Unavailable) cancel(client, running).then(free, () => free(false))
      else free(!isBroken(error), isTimeout(error) ? performance.now() - started : undefined)
      throw nameTable(error, table)
    }
  }

  /** Keeps the connection of a late write for as long as the server is busy with it, so that such sessions do not add up. */
  const watch = async (client: PoolClient, ended: Promise<boolean>): Promise<void> => {
    while (server.isDirect && (await check(isActive, { pid: serverProcess(client) })).length > 0) {
      if ((await Promise.race([ended, sleep(watchPause)])) !== undefined) return
    }
  }

  /** Runs a write in a slot. What it gives to `commit` is never cancelled, and has an unknown outcome if it is late. */
  const inWriteSlot = async <T>(
    table: string,
    run: (client: PoolClient, commit: <R>(send: () => Promise<R>) => Promise<R>) => Promise<T>,
    of = slots,
  ): Promise<T> => {
    const [client, free] = await enter({ isWrite: true, table }, of)
    let ended: Promise<boolean> | undefined
    let isLate = false
    const late = () => {
      isLate = true
      return lateCommit()
    }
    const commit = <R>(send: () => Promise<R>): Promise<R> => {
      const running = committing(client, send)
      ended = untilEnded(running)
      return withTimeout(limit, running, undefined, late)
    }
    const drop = () => free(false)
    const result = run(client, commit)
    untilEnded(result).then((isUsable) => {
      if (!isLate || !ended) return free(isUsable)
      lateWrites.add(drop)
      ended.then(free).finally(() => lateWrites.delete(drop))
      return watch(client, ended).then(drop, drop)
    })
    return result.catch((error) => {
      throw forbidden(nameTable(error, table))
    })
  }

  const write = (statement: Prepared, values: Values | undefined, table: string) =>
    inWriteSlot(table, (client, commit) => commit(() => single(client)(statement, values)))

  const transaction = <T>(
    work: (run: Run) => Promise<T>,
    table: string,
    limitMs: number,
    isKept: (result: T) => boolean,
  ) =>
    inWriteSlot(table, async (client, commit) => {
      await client.query(begin)
      try {
        const run = inTransaction(client)
        const result = await work((statement, values) => withTimeout(limitMs + grace, run(statement, values)))
        if (isKept(result)) await commit(() => client.query('commit'))
        else await client.query('rollback')
        return result
      } catch (error) {
        if (!isBroken(error) && !(error instanceof OutcomeUnknown)) await client.query('rollback')
        throw error
      }
    })

  const session = async <T>(isolation: Isolation, own: SessionSettings, work: (run: Run) => Promise<T>): Promise<T> => {
    const mapped = <R>(sent: Promise<R>): Promise<R> =>
      sent.catch((error) => {
        throw storageError(error)
      })
    const run = async (
      client: PoolClient,
      commit: <R>(send: () => Promise<R>) => Promise<R>,
    ): Promise<{ result: T } | { error: unknown }> => {
      await mapped(withTimeout(limit, client.query(beginAs(isolation, own))))
      const runOn = inTransaction(client)
      let running: Promise<unknown> = Promise.resolve()
      let isOver = false
      try {
        const result = await work((statement, values) => {
          // The steps of a write go on when one of them has ended: after the rollback they would be stored.
          if (isOver) return Promise.reject(new Unavailable('the transaction has ended'))
          const rows = runOn(statement, values)
          running = rows
          return withTimeout(limit, rows)
        })
        await mapped(commit(() => client.query('commit')))
        return { result }
      } catch (error) {
        isOver = true
        if (error instanceof OutcomeUnknown) throw error
        // What still runs once the time is over is cancelled.
        const isUsable = (await Promise.race([untilEnded(running), sleep(0)])) ?? (await cancel(client, running))
        if (!isUsable) throw error
        const undoing = withTimeout(limit, client.query('rollback'))
        const isUndone = await undoing.then(
          () => true,
          () => false,
        )
        if (!isUndone) throw error
        return { error }
      }
    }
    const ended = await inWriteSlot('', run, sessionSlots)
    if ('error' in ended) throw ended.error
    return ended.result
  }

  return {
    /** How many transactions may hold a connection while code runs between their statements. */
    maxSessions: Math.max(1, Math.floor(size / 2)),
    /**
     * Runs work in a transaction that begins with some settings, and holds its connection while code runs between its statements.
     * It is committed once the work has ended, and undone with what still runs if that throws.
     */
    session,
    /** Runs a short read that other requests wait for, on a connection that nothing else uses. */
    check,
    /** Runs a read when a connection is free; it is retried on another one if its own breaks. */
    read: (statement: Prepared, values?: Values, purpose: ReadPurpose = {}): Promise<Row[]> =>
      withRetries(() => read(statement, values, purpose), isRetryableRead),
    /** Runs a read once, if this server is current; what it has can only become newer meanwhile. */
    readIfCurrent(
      statement: Prepared,
      values: Values | undefined,
      purpose: ReadPurpose = {},
      place: Prepared,
      isCurrent: (current: Row) => boolean,
    ): Promise<Row[] | undefined> {
      return read<Row[] | undefined>(statement, values, purpose, async (run) => {
        const [current] = await withTimeout(waitMs, run(place))
        return current && isCurrent(current) ? run(statement, values) : undefined
      })
    },
    /** Runs a write of one statement, which is its own transaction. Once sent, it is never cancelled. */
    write: (statement: Prepared, values?: Values, table = ''): Promise<Row[]> =>
      withRetries(() => write(statement, values, table), isRetryableWrite),
    /** Runs a statement that maintains the database, however long it takes the server; with its setting, it is one transaction. */
    maintain: (sql: string): Promise<unknown> =>
      withRetries(
        () =>
          inWriteSlot('', (client, commit) => commit(() => client.query(`set local statement_timeout = 0; ${sql}`))),
        isRetryableWrite,
      ),
    /**
     * Runs several statements in one transaction; each may take `limitMs`, if it is more than that of others. It is undone if its
     * result is not kept.
     */
    transaction: <T>(
      work: (run: Run) => Promise<T>,
      table = '',
      limitMs = statementMs,
      isKept: (result: T) => boolean = () => true,
    ): Promise<T> => withRetries(() => transaction(work, table, limitMs, isKept), isRetryableWrite),
    stats: (): PoolStats[] => [
      poolStats('requests', pool, slots.waiting() + pool.waitingCount),
      poolStats('checks', checks, checks.waitingCount),
    ],
    async close(): Promise<void> {
      for (const drop of lateWrites) drop()
      await Promise.all([checks.end(), pool.end()])
    },
  }
}

export type Connections = ReturnType<typeof connectionsTo>
