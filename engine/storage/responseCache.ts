/** Caches responses that were requested twice, until their table changes; and lets requests that repeat a read share one run of it. */
import { LRUCache } from 'lru-cache'
import type { CachedBody, Caller, StorageStats } from './storage.js'

/** The body, its key and tag, and a compressed copy that may be cached beside it. */
const cachedBytes = ({ body }: CachedBody): number => 512 + Math.ceil(body.length * 1.25)

/** How many keys are remembered that were requested once. */
const maxSeenOnce = 2_000

/** Long keys rarely repeat; caching them would let them push out the rest. */
const maxKeyLength = 500

/** A bounded cache that admits a response on its second request and evicts the least recently used. */
export class ResponseCache {
  readonly #seenOnce = new LRUCache<string, true>({ max: maxSeenOnce })
  readonly #responses: LRUCache<string, CachedBody>
  #hits = 0
  #misses = 0

  constructor(maxBytes: number) {
    // For LRUCache, 0 means no limit; no response fits into one byte.
    this.#responses = new LRUCache({ maxSize: Math.max(1, maxBytes), sizeCalculation: cachedBytes })
  }

  /** The cached response, of whichever version of its table. */
  get(key: string): CachedBody | undefined {
    return this.#responses.get(key)
  }

  count(isHit: boolean): void {
    if (isHit) this.#hits++
    else this.#misses++
  }

  stats(): StorageStats['cache'] {
    const { size: entries, calculatedSize: bytes } = this.#responses
    return { hits: this.#hits, misses: this.#misses, entries, bytes }
  }

  /** Remembers the key on its first request and the response on its second. */
  storeOnSecondRequest(key: string, response: CachedBody): void {
    if (key.length > maxKeyLength) return
    if (this.#responses.has(key) || this.#seenOnce.delete(key)) this.#responses.set(key, response)
    else this.#seenOnce.set(key, true)
  }
}

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
