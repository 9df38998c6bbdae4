/** Bounds the time of an attempt, and repeats those that had no effect because their connection broke. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from '../failures.js'
import type { Caller } from '../storage.js'
import { withTimeout as withTimeoutOr } from '../withTimeout.js'
import { Dropped, describeError, NoConnection, storageError } from './errors.js'

/** The result of the work, or Unavailable if it takes longer than this many milliseconds or the caller leaves; the work continues. */
export const withTimeout = <T>(
  ms: number,
  work: Promise<T>,
  caller?: Caller,
  late = (): Error => new Unavailable(`the database did not respond within ${Math.round(ms)} ms`),
): Promise<T> => withTimeoutOr(ms, work, caller, late)

/** The pause before another attempt once every connection may have been tried, in milliseconds. */
const pause = 50

/**
 * Makes the function that repeats an attempt for up to `waitMs`: all connections may have broken unnoticed, and the server may be
 * restarting.
 */
export const retrying =
  (waitMs: number, connections: number) =>
  async <T>(attempt: () => Promise<T>, isRetryable: (error: unknown) => boolean): Promise<T> => {
    const until = performance.now() + waitMs
    let wasBroken = false
    for (let attempts = 1; ; attempts++) {
      try {
        return await attempt()
      } catch (error) {
        wasBroken ||= isRetryable(error)
        if (!wasBroken || !(isRetryable(error) || error instanceof NoConnection)) throw storageError(error)
        if (performance.now() > until) throw new Dropped(describeError(error as Error), { cause: error })
      }
      if (attempts > connections) await sleep(pause)
    }
  }

/**
 * Runs a query once at a time: all callers that arrive during a run share the next one. They wait for both runs together no longer
 * than `waitMs`.
 */
export const shared = <T>(waitMs: number, ask: () => Promise<T>): (() => Promise<T>) => {
  let current: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | undefined
  const run = (): Promise<T> => {
    next = undefined
    const asked = ask()
    current = asked.catch(() => {})
    return asked
  }
  return () => {
    next ??= withTimeout(waitMs, current.then(run))
    return next
  }
}
