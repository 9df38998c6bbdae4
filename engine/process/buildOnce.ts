/** Keeps what was built last, by key. */
import { LRUCache } from 'lru-cache'

/** How many are kept of a kind that depends on a request: there may be one for every combination of parameters. */
const maxBuilt = 100

/** Creates the function that builds something, or takes what it built for the same key. */
export const buildOnce = <T extends object>(): ((key: string, build: () => T) => T) => {
  const cache = new LRUCache<string, T>({ max: maxBuilt })
  return (key, build) => {
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const value = build()
    cache.set(key, value)
    return value
  }
}
