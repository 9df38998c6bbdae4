/** Caches responses that were requested twice, until their table changes. */
import { LRUCache } from 'lru-cache'
import type { CachedBody, StorageStats } from './storage.js'

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
