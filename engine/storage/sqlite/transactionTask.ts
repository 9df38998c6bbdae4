/** A transaction in the thread that writes, which gets its steps through a port, one after another, and keeps its limit of time. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import type { Database } from 'better-sqlite3'
import type { AnyPlan } from '../makeWrite.js'
import type { BoundStatement } from '../writeData.js'
import { type ReadTask, reader } from './reader.js'
import { askOn, type Writer } from './writes.js'

export interface TransactionTask {
  readonly port: MessagePort
  /** How long it may wait for another process's transaction, and then take, in milliseconds. */
  readonly waitMs: number
  readonly timeoutMs: number
}

/** A step. Whoever closes the port instead of committing undoes the transaction. */
export type Step =
  | { readonly read: ReadTask }
  | { readonly plan: AnyPlan }
  | { readonly query: BoundStatement }
  | 'commit'

/** The reply to a step; the first one says that the transaction has begun. The task ends with the commit. */
export interface StepReply {
  readonly result?: unknown
  /** An error loses its class and its code on the way between threads. */
  readonly error?: { readonly name: string; readonly message: string; readonly code: string | undefined }
}

/** How it has ended; `late` and `undone` leave nothing behind. */
export type TransactionEnd = 'committed' | 'late' | 'undone'

/** How often a write tries again, in milliseconds. SQLite itself would wait up to 100: with four writing processes, the slowest commit then takes 700 ms instead of 100. */
export const lockRetry = 3

export const isBusy = (error: unknown): boolean => String((error as { code?: string }).code).startsWith('SQLITE_BUSY')

export const serveTransaction = (database: Database, { make, commit }: Writer) => {
  const read = reader(database)
  const ask = askOn(database)
  const begin = async (waitMs: number): Promise<void> => {
    for (const until = performance.now() + waitMs; ; await sleep(lockRetry)) {
      try {
        database.exec('begin immediate')
        return
      } catch (error) {
        if (!isBusy(error) || performance.now() > until) throw error
      }
    }
  }
  const answer = (step: Exclude<Step, 'commit'>, timeLeftMs: number): unknown => {
    if ('read' in step) return read(step.read, timeLeftMs)
    return 'plan' in step ? make(step.plan) : ask(step.query)
  }
  return async ({ port, waitMs, timeoutMs }: TransactionTask): Promise<TransactionEnd> => {
    let timer: NodeJS.Timeout | undefined
    try {
      await begin(waitMs)
      const until = performance.now() + timeoutMs
      return await new Promise((resolve, reject) => {
        if (Number.isFinite(timeoutMs)) timer = setTimeout(resolve, timeoutMs, 'late')
        const onStep = (step: Step): StepReply | undefined => {
          try {
            if (step !== 'commit') return { result: answer(step, until - performance.now()) }
            commit()
            resolve('committed')
          } catch (error) {
            if (step === 'commit') reject(error)
            const { name, message, code } = error as Error & { code?: string }
            return { error: { name, message, code } }
          }
          return undefined
        }
        port.on('message', (step: Step) => port.postMessage(onStep(step) ?? {}))
        port.on('close', () => resolve('undone'))
        port.postMessage({})
      })
    } finally {
      clearTimeout(timer)
      if (database.inTransaction) database.exec('rollback')
      port.close()
    }
  }
}
