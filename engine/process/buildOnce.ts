/** Keeps what was built last, by key. */
import { LRUCache } from 'lru-cache'

/** How many are kept of a kind that depends on a request: there may be one for every combination of parameters. */
const maxBuilt = 100

/** Makes the function that builds something, or takes what it built for the same key. */
export const buildOnce = <T extends object>(): ((key: string, build: () => T) => T) => {
  const built = new LRUCache<string, T>({ max: maxBuilt })
  return (key, build) => {
    const known = built.get(key)
    if (known !== undefined) return known
    const made = build()
    built.set(key, made)
    return made
  }
}
