/**
 * Carries out the steps of a migration beside other programs: in short transactions that wait for locks only briefly and are
 * retried, so that no create waits for long.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { commandLine } from '../../process/commandLine.js'
import { StorageError, Unavailable } from '../failures.js'
import type { Execute, Step } from '../migration/migrationDialect.js'
import { withTimeout } from './attempts.js'
import { errorCode } from './errors.js'

/** How long a step waits for a lock, in milliseconds: creates of other programs queue behind it. */
const lockTimeoutMs = 200
/** The pause before the next attempt. */
const pauseMs = 500

/** How long a pooler may take to provide a session beside the one that holds the lock, in milliseconds. */
const secondSessionMs = 10_000
const oneSession = `a migration needs two connections at once, and the pooler provides one. Raise its pool size, or run ${commandLine('migrate')} on a direct connection first`

/** A lock timeout or a deadlock. */
export const isLocked = (error: unknown): boolean => /^(?:55P03|40P01)$/.test(errorCode(error))

const lockId = '7238116901'

/**
 * The settings of a step's transaction. Functions that run with their owner's rights keep this search path: with temporary
 * tables last, no caller can replace our tables by theirs.
 */
const settings = `select set_config('lock_timeout', '${lockTimeoutMs}', true), set_config('statement_timeout', '0', true), set_config('search_path',
  (select string_agg(quote_ident(name), ', ') from unnest(current_schemas(false)) as name) || ', pg_temp', true)`

/** The name of an index while it is built; one that exists before is left from a build that was interrupted. */
const unfinishedIndex = 'registry_unfinished'
const dropUnfinished = `drop index concurrently if exists ${unfinishedIndex}`

const isConcurrent = (sql: string): boolean => /^(?:create|drop) (?:unique )?index concurrently /.test(sql)

/**
 * The progress of the index that a process builds, and the process it waits for. Without parameters: a statement with parameters
 * would keep its snapshot in the watcher's transaction, and the build would wait for that.
 */
const buildProgress = (pid: number): string => `select nullif(current_locker_pid, 0) as blocker,
  coalesce(tuples_done::float8 / nullif(tuples_total, 0), blocks_done::float8 / nullif(blocks_total, 0), 0) as part
  from pg_stat_progress_create_index where pid = ${pid}`

export const executeOn =
  (client: Client): Execute =>
  async (sql, values) =>
    (await client.query(sql, values && [...values])).rows

export type Connect = () => Promise<Client>

/** Runs migration steps: `client` changes the database, and a second connection holds the lock and reports progress. */
export const stepRunner = (client: Client, connect: Connect, warn: (message: string) => void) => {
  const execute = executeOn(client)
  let watcher: Client | undefined

  const warned = new Set<string>()
  const warnOnce = (message: string): void => {
    if (!warned.has(message)) warn(message)
    warned.add(message)
  }

  /** Runs work in one transaction; retries while another transaction holds a lock. */
  const inTransaction = async (what: string, work: () => Promise<void>): Promise<void> => {
    for (;;) {
      await execute('begin')
      try {
        await execute(settings)
        await work()
        await execute('commit')
        return
      } catch (error) {
        await execute('rollback').catch(() => {})
        if (!isLocked(error)) throw error
        warnOnce(`Another transaction has locked ${what}; trying again until it ends.`)
      }
      await sleep(pauseMs)
    }
  }

  const runAll = (what: string, statements: readonly string[]) =>
    inTransaction(what, async () => {
      for (const sql of statements) await execute(sql)
    })

  /** Builds an index without locking its table, and reports progress. */
  const build = async (sql: string, what: string, onDone: (part: number) => void): Promise<void> => {
    const { processID } = client as Client & { processID: number }
    const watch = async () => {
      // Otherwise the transaction would always see the same progress.
      await watcher?.query('select pg_stat_clear_snapshot()')
      const progress = await watcher?.query<{ part: number; blocker: number | null }>(buildProgress(processID))
      const [now] = progress?.rows ?? []
      if (now?.blocker) warnOnce(`The index of ${what} waits until the transaction of process ${now.blocker} ends.`)
      if (now) onDone(Math.min(1, now.part))
    }
    // A connection runs one query at a time: the next one, here or in the next step, waits for the last.
    let watching = Promise.resolve()
    const timer = setInterval(() => {
      watching = watching.then(watch).catch(() => {})
    }, 1_000)
    try {
      await execute(sql)
    } finally {
      clearInterval(timer)
      await watching
    }
  }

  /** Runs one statement by itself; returns whether the step must begin again, because an unfinished index is left. */
  const runPart = async (sql: string, what: string, onDone: (part: number) => void): Promise<boolean> => {
    if (!isConcurrent(sql)) {
      await runAll(what, sql.split(separator))
      return false
    }
    try {
      await build(sql, what, onDone)
      return false
    } catch (error) {
      if (isLocked(error)) return true
      await execute(dropUnfinished).catch(() => {})
      throw error
    }
  }

  /** Fails if the lock is lost with its connection: another process may migrate now. */
  const checkLock = async (): Promise<void> => void (await watcher?.query('select 1'))

  return {
    inTransaction,
    checkLock,
    async apply({ table, sql, isInParts }: Step, onDone: (part: number) => void): Promise<void> {
      await checkLock()
      onDone(0)
      if (!isInParts) return runAll(table, sql)
      for (let n = 0; n < sql.length; ) {
        const isRestart = await runPart(sql[n] as string, table, onDone)
        n = isRestart ? 0 : n + 1
        if (!isConcurrent(sql[n - 1] ?? '')) onDone(n / sql.length)
      }
    },
    /**
     * Runs work while no other process migrates. The lock belongs to an open transaction, not to a session, so that a pooler
     * cannot separate it from its connection. It is polled: a statement that waits would hold up index builds. Within such work it
     * is held already.
     */
    async exclusively<T>(work: () => Promise<T>): Promise<T> {
      if (watcher) return work()
      watcher = await connect()
      try {
        for (;;) {
          await watcher.query('begin; set local idle_in_transaction_session_timeout = 0')
          const { rows } = await watcher.query(`select pg_try_advisory_xact_lock(${lockId}) as taken`)
          if (rows[0]?.taken) break
          await watcher.query('rollback')
          warnOnce('Another process migrates the database; waiting for it.')
          await sleep(pauseMs)
        }
        await withTimeout(secondSessionMs, execute('select 1')).catch((error: Error) => {
          throw error instanceof Unavailable ? new StorageError(oneSession) : error
        })
        return await work()
      } finally {
        await watcher.end()
        watcher = undefined
      }
    },
    /** Takes the lock until the current transaction ends. */
    lock: () => execute(`select pg_advisory_xact_lock(${lockId})`),
  }
}

/** Separates statements of one transaction. They are sent one by one: Citus takes no two at once. */
const separator = ';\n'

export const concurrently = (name: string, sql: string, commentSql: string): string[] => [
  dropUnfinished,
  sql.replace(/^create (unique )?index "?[\w$]+"?/, `create $1index concurrently ${unfinishedIndex}`),
  [`drop index if exists ${name}`, `alter index ${unfinishedIndex} rename to ${name}`, commentSql].join(separator),
]
