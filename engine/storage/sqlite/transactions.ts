/** Transactions of several steps on SQLite: the thread that writes holds each of them, while its work runs in this thread. */
import { MessageChannel } from 'node:worker_threads'
import type { OwnRunner } from '../dialect.js'
import { OutcomeUnknown, Unavailable } from '../failures.js'
import type { Storage, TransactionOptions } from '../storage.js'
import { busy, createTurns, runWork, type Session, type TransactionTables, timedOut, totalMs } from '../transaction.js'
import { withTimeout } from '../withTimeout.js'
import { outcomeOf, readTask, storageError } from './runner.js'
import { type Executor, WorkerDied } from './thread.js'
import type { Step, StepReply, TransactionEnd, TransactionTask } from './transactionTask.js'
import type { Written } from './writes.js'

interface Pending {
  resolve(result: never): void
  reject(error: unknown): void
}

/** Queues a transaction for the thread; `begun` resolves once that holds it. */
const openSession = (writing: Executor, limits: Omit<TransactionTask, 'port'>) => {
  const { port1: port, port2 } = new MessageChannel()
  const { waitMs, timeoutMs } = limits
  let pending: Pending | undefined
  const nextReply = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      pending = { resolve, reject }
    })
  port.on('message', ({ result, error }: StepReply) => {
    if (error) pending?.reject(Object.assign(new Error(error.message), error))
    else pending?.resolve(result as never)
  })
  const begun = nextReply<void>()
  const task: TransactionTask = { port: port2, ...limits }
  let failure: Error | undefined
  const ended = writing.run<TransactionEnd>(task, waitMs + timeoutMs, [port2]).then(
    (end) => fail(end === 'late' ? timedOut(timeoutMs) : undefined),
    (error) => fail(storageError(error, 'a transaction')),
  )
  const fail = (error: Error | undefined): void => {
    failure = error
    if (error) pending?.reject(error)
  }
  const ask = async <T>(step: Step, table: string): Promise<T> => {
    if (failure) throw failure
    const reply = nextReply<T>()
    port.postMessage(step)
    return reply.catch((error) => {
      throw storageError(error, table)
    })
  }
  const session: Session = {
    read: (resource, statement, values, { search }) =>
      ask({ read: readTask(resource, { statement, values }, search) }, resource.table),
    async make(resource, plan) {
      const written = await ask<Written>({ plan }, resource.table)
      try {
        return outcomeOf(written)
      } catch (error) {
        throw storageError(error as Error, resource.table)
      }
    },
    run: (query) => ask({ query }, 'transaction'),
  }
  const commit = async (): Promise<void> => {
    port.postMessage('commit' satisfies Step)
    await ended
    // The worker may have committed before it died.
    if (failure instanceof WorkerDied) throw new OutcomeUnknown(failure.message, { cause: failure })
    if (failure) throw failure
  }
  /** Undoes what was not committed. */
  const close = async (): Promise<void> => {
    port.close()
    await ended
  }
  return { begun, session, commit, close }
}

export const createTransactions = (
  writing: Executor,
  tables: TransactionTables,
  lockWaitMs: number,
  onCommit: () => void,
) => {
  // The next one waits here, so that other writes come in between.
  const turns = createTurns(1)
  let isClosed = false
  const within = async <T>(options: TransactionOptions, work: (session: Session) => Promise<T>): Promise<T> => {
    const until = performance.now() + totalMs(options)
    const leave = await turns.enter(totalMs(options))
    const leftMs = () => until - performance.now()
    try {
      if (isClosed) throw new Unavailable('the database is closed')
      const waitMs = Math.min(lockWaitMs, leftMs())
      const { begun, session, commit, close } = openSession(writing, { waitMs, timeoutMs: options.timeoutMs })
      try {
        await withTimeout(leftMs(), begun, undefined, busy)
        const result = await work(session)
        await commit()
        return result
      } finally {
        await close()
        onCommit()
      }
    } finally {
      leave()
    }
  }
  const run: Storage['transaction'] = (work, options) =>
    within(options, (session) => runWork(session, tables, work, options))
  return {
    run,
    /** Runs statements about tables of the engine. */
    own: (work: Parameters<OwnRunner['transaction']>[0], timeoutMs: number) =>
      within({ timeoutMs }, (session) => work((statement, values) => session.run({ statement, values }))),
    /** Waits for the one that runs, if any; those that wait are refused. */
    async close(): Promise<void> {
      isClosed = true
      await turns.enter(Number.POSITIVE_INFINITY)
    },
  }
}
