/** Retries statements that had no effect, because their connection broke. */
import { setTimeout } from 'node:timers/promises'
import { Dropped, messageOf, NoConnection, storageError } from './errors.js'

/** The pause before another attempt once every connection may have been tried, in milliseconds. */
const pause = 50

type Attempt<T> = (until: number) => Promise<T>

/**
 * Makes the function that repeats an attempt for up to `waitMs`: all connections may have broken unnoticed, and the server may be
 * restarting. The attempt may wait for a connection until the time it is given.
 */
export const retrying =
  (waitMs: number, connections: number) =>
  async <T>(attempt: Attempt<T>, isRetryable: (error: unknown) => boolean): Promise<T> => {
    const until = performance.now() + waitMs
    let wasBroken = false
    for (let attempts = 1; ; attempts++) {
      try {
        return await attempt(until)
      } catch (error) {
        wasBroken ||= isRetryable(error)
        if (!wasBroken || !(isRetryable(error) || error instanceof NoConnection)) throw storageError(error)
        if (performance.now() > until) throw new Dropped(messageOf(error as Error), { cause: error })
      }
      if (attempts > connections) await setTimeout(pause)
    }
  }
