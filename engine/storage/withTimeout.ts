/** Bounds how long work is waited for. */

import { TimedOut } from './failures.js'
import type { Caller } from './storage.js'

export const clientGone = (): TimedOut => new TimedOut('the client has gone')

/** The longest time that a timer takes. */
const maxTimeout = 2 ** 31 - 1

/** The result of the work, or an error if it takes longer than this many milliseconds or the caller leaves; the work continues. */
export const withTimeout = <T>(
  ms: number,
  work: Promise<T>,
  caller: Caller | undefined,
  late: () => Error,
): Promise<T> =>
  new Promise((resolve, reject) => {
    const onClose = () => reject(clientGone())
    const timer = setTimeout(() => reject(late()), Math.min(ms, maxTimeout))
    if (caller?.closed) onClose()
    caller?.once('close', onClose)
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer)
      caller?.off('close', onClose)
    })
  })
