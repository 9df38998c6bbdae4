/** Caches responses that were requested twice, until their table changes. */
import type { CachedBody } from './storage.js'

interface Entry extends CachedBody {
  /** Whether it was requested since the last eviction. */
  used: boolean
}

/** The body, its key and tag, and a compressed copy that may be cached beside it. */
const sizeOf = ({ body }: Entry): number => 512 + body.length * 1.25

/** How many keys are remembered that were requested once. */
const maxSeenOnce = 2_000

/** Long keys rarely repeat; caching them would let them push out the rest. */
const maxKeyLength = 500

/** A bounded cache that admits a response on its second request and evicts the least used. */
export class ResponseCache {
  readonly #entries = new Map<string, Entry>()
  readonly #maxBytes: number
  #seenOnce = new Set<string>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The cached response, of whichever version of its table. */
  get(key: string): CachedBody | undefined {
    const entry = this.#entries.get(key)
    if (entry) entry.used = true
    return entry
  }

  /** Remembers the key on its first request and the response on its second. */
  offer(key: string, { tag, body }: CachedBody): void {
    if (key.length > maxKeyLength) return
    const previous = this.#entries.get(key)
    if (previous) this.#remove(key, previous)
    else if (!this.#seenOnce.delete(key)) {
      if (this.#seenOnce.size >= maxSeenOnce) this.#seenOnce = new Set()
      this.#seenOnce.add(key)
      return
    }
    const entry = { tag, body, used: false }
    if (sizeOf(entry) > this.#maxBytes) return
    this.#entries.set(key, entry)
    this.#bytes += sizeOf(entry)
    this.#evict()
  }

  /** Oldest first; an entry that was used since the last eviction moves to the end instead. */
  #evict(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) return
      this.#remove(key, entry)
      if (!entry.used) continue
      entry.used = false
      this.#entries.set(key, entry)
      this.#bytes += sizeOf(entry)
    }
  }

  #remove(key: string, entry: Entry): void {
    this.#entries.delete(key)
    this.#bytes -= sizeOf(entry)
  }
}
