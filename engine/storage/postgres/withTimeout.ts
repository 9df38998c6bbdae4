/** Bounds a wait. */
import { type Caller, TimedOut, Unavailable } from '../storage.js'

/** The client of a read has left. */
export const gone = (): TimedOut => new TimedOut('the client has gone')

/** The result of the work, or Unavailable if it takes longer than this many milliseconds or the caller leaves; the work continues. */
export const withTimeout = <T>(
  ms: number,
  work: Promise<T>,
  caller?: Caller,
  late = (): Error => new Unavailable(`the database did not respond within ${Math.round(ms)} ms`),
): Promise<T> =>
  new Promise((resolve, reject) => {
    const onClose = () => reject(gone())
    const timer = setTimeout(() => reject(late()), ms)
    if (caller?.closed) onClose()
    caller?.once('close', onClose)
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer)
      caller?.off('close', onClose)
    })
  })
