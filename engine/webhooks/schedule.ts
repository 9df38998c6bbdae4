/** When a delivery is tried again. */

/** The first pause, the longest one, and the longest that a receiver may ask for, in milliseconds. */
const [firstMs, longestMs, longestAskedMs] = [5_000, 3_600_000, 86_400_000]

/** The least that a pause lasts, whatever a receiver asks for. */
const leastMs = 1_000

/** How much of a pause is added at random, so that receivers that fail together are not called together. */
const jitter = 0.2

/** What `Retry-After` asks for, in milliseconds: a number of seconds, or a date. */
const readRetryAfter = (text: string, now: number): number | undefined => {
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, leastMs), longestAskedMs)
}

/** The pause after so many failed attempts, in milliseconds. */
export const pauseAfter = (attempts: number, retryAfter?: string, now = Date.now()): number => {
  const asked = retryAfter === undefined ? undefined : readRetryAfter(retryAfter, now)
  const doubled = Math.min(firstMs * 2 ** (attempts - 1), longestMs)
  return asked ?? Math.round(doubled * (1 + jitter * Math.random()))
}
