/** Transactions of several steps, the same for every database: their handles, savepoints, turns and limits of time. */
import type { Resource } from '../descriptor/registry.js'
import type { Cell, Purpose, Runner } from './dialect.js'
import { Busy, TransactionTimedOut } from './failures.js'
import { type AnyOutcome, type AnyPlan, storeKey } from './makeWrite.js'
import type { Statement, Values } from './sql.js'
import type { Transaction, TransactionOptions } from './storage.js'
import { runInTurn } from './walk.js'
import { withTimeout } from './withTimeout.js'
import type { BatchOutcome, BoundStatement, CallerPlan, ImportOutcome, KeyStatements, Outcome } from './writeData.js'

/** How long a transaction that may be timed out takes in all, with the time that it waits and its further attempts, in milliseconds. */
const maxTransactionMs = 30_000

type Rows = readonly (readonly Cell[])[]

/** What a database does within one transaction. It is asked for one thing after another, and an error that it throws ends the transaction. */
export interface Session {
  read(resource: Resource, statement: Statement, values: Values, purpose: Purpose): Promise<Rows>
  /** Carries out a plan; one that fails or is undone has changed nothing. */
  make(resource: Resource, plan: AnyPlan): Promise<AnyOutcome<Buffer>>
  run(query: BoundStatement): Promise<Rows>
  /** Called instead of an undo to a savepoint, where the session has none: it cannot go on then. */
  readonly spoil?: (() => void) | undefined
}

/** The tables within a transaction, given what runs the statements of each, and the statements of idempotency keys. */
export interface TransactionTables {
  within(runnerOf: (resource: Resource) => Runner): Pick<Transaction, 'table' | 'batch'>
  readonly keys: KeyStatements | undefined
  /** Tells the database who writes; see `CallerPlan`. */
  caller(by: string | undefined): CallerPlan | undefined
}

/**
 * Gives a transaction to some work, until the work has ended or its time is over. Resolves with what it returns if all of it can be
 * committed; an error of the database counts even if the work has caught it.
 */
export const runWork = async <T>(
  session: Session,
  { within, keys, caller: callerOf }: TransactionTables,
  work: (transaction: Transaction) => Promise<T>,
  { timeoutMs, by }: TransactionOptions,
  late = (): Error => timedOut(timeoutMs),
): Promise<T> => {
  let failure: unknown
  let ended: Error | undefined
  let last: Promise<unknown> = Promise.resolve()
  let depth = 0
  const inTurn = <R>(step: () => Promise<R>): Promise<R> => {
    const turn = last.then(async () => {
      if (failure ?? ended) throw failure ?? ended
      try {
        return await step()
      } catch (error) {
        failure ??= error
        throw error
      }
    })
    last = turn.catch(() => {})
    return turn
  }
  const run = (query: BoundStatement) => inTurn(() => session.run(query))
  const control = (sql: string) => run({ statement: { name: sql, sql, parameters: [] }, values: {} })
  const runnerOf = (resource: Resource): Runner => {
    const make = (plan: AnyPlan) => inTurn(() => session.make(resource, plan))
    return {
      read: (statement, values, purpose = {}) => inTurn(() => session.read(resource, statement, values, purpose)),
      write: async (plan) => (await make(plan)) as Outcome,
      import: async (plan) => (await make(plan)) as ImportOutcome,
      batch: async (plan) => (await make(plan)) as BatchOutcome,
    }
  }
  const transaction: Transaction = {
    ...within(runnerOf),
    async undoable(undoableWork) {
      const { spoil } = session
      if (spoil) {
        await inTurn(async () => {})
        return undoableWork().catch((error) => {
          spoil()
          throw error
        })
      }
      const savepoint = `registry_${++depth}`
      try {
        await control(`savepoint ${savepoint}`)
        try {
          const result = await undoableWork()
          await control(`release savepoint ${savepoint}`)
          return result
        } catch (error) {
          await control(`rollback to savepoint ${savepoint}`)
          await control(`release savepoint ${savepoint}`)
          throw error
        }
      } finally {
        depth--
      }
    },
    async storeKey(given, body) {
      if (!keys) throw new TypeError('no table of the registry has idempotency keys')
      await runInTurn(storeKey({ given, statements: keys }, body.toString()), run)
    },
  }
  const caller = callerOf(by)
  const done = async (): Promise<T> => {
    try {
      if (caller) await run(caller.set)
      const result = await work(transaction)
      if (caller?.clear) await run(caller.clear)
      return result
    } finally {
      ended ??= new Error('The transaction has ended: await all of its steps before that.')
      await last
    }
  }
  const end = () => {
    ended = late()
    return ended
  }
  const until = performance.now() + timeoutMs
  try {
    const result = await withTimeout(timeoutMs, done(), undefined, end)
    if (failure) throw failure
    // The timer is late where code has held up the thread.
    if (performance.now() > until) throw end()
    return result
  } catch (error) {
    throw error === ended ? error : (failure ?? error)
  }
}

/** Places that are taken in the order in which they were asked for. */
export const createTurns = (size: number) => {
  let taken = 0
  const waiting: (() => void)[] = []
  const leave = (): void => {
    const next = waiting.shift()
    if (next) next()
    else taken--
  }
  return {
    /** Waits for a place, before all others if `isFirst`; the returned function frees it. Throws Busy after some milliseconds. */
    async enter(ms: number, isFirst = false): Promise<() => void> {
      if (taken < size) {
        taken++
        return leave
      }
      let start = () => {}
      const turn = new Promise<void>((resolve) => {
        start = resolve
      })
      if (isFirst) waiting.unshift(start)
      else waiting.push(start)
      try {
        await withTimeout(ms, turn, undefined, busy)
      } catch (error) {
        const place = waiting.indexOf(start)
        // Its turn came just as its time was over.
        if (place === -1) leave()
        else waiting.splice(place, 1)
        throw error
      }
      return leave
    },
  }
}

export const timedOut = (timeoutMs: number): TransactionTimedOut =>
  new TransactionTimedOut(`the transaction took longer than ${timeoutMs} ms`)

export const busy = (): Busy => new Busy('other transactions took all the time that this one may wait')

/** How long a transaction may take in all. */
export const totalMs = ({ timeoutMs }: TransactionOptions): number =>
  Number.isFinite(timeoutMs) ? maxTransactionMs : Number.POSITIVE_INFINITY
