/**
 * Transactions of several steps on PostgreSQL. They are serializable, and run again where another transaction came in between: after
 * its first conflict one waits for its turn, so that those that change the same rows follow one another.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { DatabaseError } from 'pg'
import type { Registry, Resource } from '../../descriptor/registry.js'
import type { Cell } from '../dialect.js'
import { Unavailable } from '../failures.js'
import { type AnyPlan, stepsOf, withBuffers } from '../makeWrite.js'
import type { Storage } from '../storage.js'
import { busy, createTurns, runWork, type Session, type TransactionTables, timedOut, totalMs } from '../transaction.js'
import { runInTurn } from '../walk.js'
import { withTimeout } from '../withTimeout.js'
import { askForUpkeep } from './changeLog.js'
import type { Connections } from './connections.js'
import { Dropped, errorCode, forbidden, isLost, NoConnection, nameTable, storageError } from './errors.js'
import { type Prepared, prepared } from './prepared.js'
import type { Run } from './run.js'
import { hasSequence } from './schema.js'
import { advanceSequence, failedKind, isKeyTaken, isViolation, refusalOf } from './writes.js'

/** What another transaction has just stored or deleted violates a constraint, or an id is taken: the next attempt finds it. */
class Violated extends Unavailable {
  readonly violation: DatabaseError
  /** Whether the sequence of the ids may be behind. */
  readonly isId: boolean

  constructor(violation: DatabaseError, plan?: AnyPlan) {
    super(violation.message, { cause: violation })
    this.violation = violation
    this.isId =
      violation.code === '23505' &&
      violation.constraint?.endsWith('_pkey') === true &&
      plan !== undefined &&
      !/^(?:update|delete)$/.test(failedKind(plan, violation))
  }
}

/** What should have been undone alone cannot be, without savepoints. */
class Spoiled extends Unavailable {
  constructor() {
    super('a change should be undone alone')
  }
}

/** The pause between attempts whose connection breaks, and the longest between those in conflict with other processes, in milliseconds. */
const [lostPause, maxPause] = [50, 20]

/** How often a transaction fails in its turn before no other begins. */
const patience = 5

/** How much longer than a transaction the server waits before it ends the session of a process that hangs, in milliseconds. */
const idleGrace = 1_000

const [savepoint, release, undo, checkConstraints] = [
  'savepoint registry_plan',
  'release savepoint registry_plan',
  'rollback to savepoint registry_plan',
  'set constraints all immediate',
].map(prepared) as [Prepared, Prepared, Prepared, Prepared]

/** Whether constraints are left for the commit, where it would be too late to tell which write violates them. */
const isDeferring = (plan: AnyPlan): boolean => {
  if (plan.kind === 'batch') return plan.writes.some(isDeferring)
  return (plan.kind === 'import' ? plan.defer : plan.beforeDelete) !== undefined
}

interface SessionOptions {
  /** The SQLSTATEs of violations that were no coincidence, because they came again. */
  readonly known: ReadonlySet<string>
  readonly hasSavepoints: boolean
}

/**
 * Without savepoints, a transaction that changes one row thousands of times takes a tenth of the time; if one were needed, `check` and
 * every further step throw.
 */
const sessionOn = (runAny: Run, { known, hasSavepoints }: SessionOptions): Session & { check(): void } => {
  let isSpoiled = false
  const spoil = () => {
    isSpoiled = true
  }
  const check = () => {
    if (isSpoiled) throw new Spoiled()
  }
  const run: Run = async (statement, values) => {
    check()
    return runAny(statement, values)
  }
  const mapped =
    (table: string) =>
    (error: unknown): never => {
      throw isKeyTaken(error) ? new Violated(error as DatabaseError) : storageError(forbidden(nameTable(error, table)))
    }
  const makeWithin = async (table: string, plan: AnyPlan) => {
    const undoPlan = async () => (hasSavepoints ? run(undo) : spoil())
    if (hasSavepoints) await run(savepoint)
    try {
      const outcome = await runInTurn(stepsOf(plan), ({ statement, values }) => run(statement, values))
      if (isDeferring(plan)) await run(checkConstraints)
      if ('isUndone' in outcome) await undoPlan()
      if (hasSavepoints) await run(release)
      return outcome
    } catch (error) {
      if (isViolation(error) && !isKeyTaken(error) && !known.has(error.code as string)) throw new Violated(error, plan)
      const refusal = refusalOf(plan, error, table)
      if (!refusal) throw error
      await undoPlan()
      if (hasSavepoints) await run(release)
      return refusal
    }
  }
  return {
    check,
    ...(!hasSavepoints && { spoil }),
    read: ({ table }, statement, values) => run(statement, values).catch(mapped(table)) as Promise<Cell[][]>,
    make: ({ table }, plan) => makeWithin(table, plan).then(withBuffers, mapped(table)),
    run: ({ statement, values }) => run(statement, values).catch(mapped('')) as Promise<Cell[][]>,
  }
}

const isConflict = (error: unknown): boolean =>
  error instanceof Violated || /^40(?:001|P01)$/.test(errorCode((error as Error | null)?.cause))

const isCutOff = (error: unknown): boolean =>
  error instanceof Dropped || (error instanceof Unavailable && isLost(error.cause))

interface Options {
  readonly registry: Registry
  isPlain(resource: Resource): boolean
  readonly isDistributed: boolean
  readonly waitMs: number
}

export const createTransactions = (
  connections: Connections,
  tables: TransactionTables,
  { registry, isPlain, isDistributed, waitMs }: Options,
): Storage['transaction'] => {
  const turns = createTurns(connections.maxSessions)
  const retries = createTurns(1)
  /** While one goes on failing in its turn, no other begins, with which it would conflict again. */
  let alone: Promise<void> | undefined
  // Citus has no serializable transactions, and changes no reference table after it has read others in parallel.
  const isolation = isDistributed ? 'read committed' : 'serializable'
  const citus = isDistributed ? { 'citus.multi_shard_modify_mode': 'sequential' } : {}
  const settings = (timeoutMs: number) => ({
    ...citus,
    idle_in_transaction_session_timeout: Number.isFinite(timeoutMs) ? String(Math.ceil(timeoutMs) + idleGrace) : '0',
  })
  const advance = async ({ table }: DatabaseError): Promise<void> => {
    const resource = registry.find((one) => one.table === table)
    if (!resource || (isPlain(resource) && !hasSequence(resource))) return
    const statement = isPlain(resource) ? advanceSequence(resource.table) : prepared(askForUpkeep(resource.table))
    await connections.write(statement, {}, resource.table)
  }

  return async (work, options) => {
    const until = performance.now() + totalMs(options)
    const leftMs = () => until - performance.now()
    const knownCodes = new Set<string>()
    let hasSavepoints = false
    let leaveRetries: (() => void) | undefined
    let endAlone = () => {}
    let failedTurns = 0
    let lostUntil: number | undefined
    /** Prepares another attempt, if there may be one. */
    const afterError = async (error: unknown): Promise<void> => {
      if (error instanceof Spoiled) hasSavepoints = true
      else if (isConflict(error)) {
        hasSavepoints ||= error instanceof Violated
        if (error instanceof Violated && !isKeyTaken(error.violation)) knownCodes.add(error.violation.code as string)
        if (error instanceof Violated && error.isId) await advance(error.violation)
        if (leaveRetries && ++failedTurns >= patience) {
          alone ??= new Promise((resolve) => {
            endAlone = () => {
              alone = undefined
              resolve()
            }
          })
          await sleep(Math.random() * maxPause)
        }
        leaveRetries ??= await retries.enter(leftMs())
      } else {
        if (!isCutOff(error) || (error instanceof NoConnection && lostUntil === undefined)) throw error
        lostUntil ??= performance.now() + waitMs
        if (performance.now() > lostUntil) throw error
        await sleep(lostPause)
      }
      if (leftMs() <= 0) throw busy()
    }
    try {
      for (let isFirst = true; ; isFirst = false) {
        while (alone && !leaveRetries) await withTimeout(leftMs(), alone, undefined, busy)
        const leave = await turns.enter(leftMs(), !isFirst)
        const timeoutMs = Math.min(options.timeoutMs, leftMs())
        const late = () => (isFirst || timeoutMs === options.timeoutMs ? timedOut(timeoutMs) : busy())
        let failure: unknown
        try {
          return await connections.session(isolation, settings(timeoutMs), async (run) => {
            const lateAt = performance.now() + timeoutMs
            const session = sessionOn(run, { known: knownCodes, hasSavepoints })
            try {
              const result = await runWork(session, tables, work, { ...options, timeoutMs }, late)
              session.check()
              return result
            } catch (error) {
              // The server may have ended the session of code that held up the thread.
              throw performance.now() > lateAt ? late() : error
            }
          })
        } catch (error) {
          failure = error
        } finally {
          leave()
        }
        await afterError(failure)
      }
    } finally {
      endAlone()
      leaveRetries?.()
    }
  }
}
