/** Lets requests that repeat a read share one run of it. */
import type { Caller } from './storage.js'

interface Run<T> {
  readonly result: Promise<T>
  readonly caller: Caller | undefined
}

/**
 * Makes the function that runs a read, or takes the result of one with the same key that runs already, if `isCurrent` says that it
 * is as new as what is stored now.
 */
export const singleFlight = <T>() => {
  const runs = new Map<string, Run<T>>()
  return async (
    key: string,
    caller: Caller | undefined,
    read: () => Promise<T>,
    isCurrent: () => Promise<(result: T) => boolean>,
  ): Promise<T> => {
    let check = isCurrent
    for (let run = runs.get(key); run; run = runs.get(key)) {
      const { result, caller: owner } = run
      // A read whose client has left was cancelled; any other error would be that of this one too.
      const sharedResult = result.catch((error: unknown) => {
        if (!owner?.closed) throw error
        return undefined
      })
      const [isShared, page] = await Promise.all([check(), sharedResult])
      if (page !== undefined && isShared(page)) return page
      // The next one has begun after this request.
      check = async () => () => true
    }
    const result = read()
    runs.set(key, { result, caller })
    const end = () => runs.delete(key)
    result.then(end, end)
    return result
  }
}
