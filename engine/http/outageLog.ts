/** Logs when an outage of the database begins and ends, instead of every failed request. */
import type { Logger } from 'pino'

/** An outage has ended if a request succeeds and none has failed for this long, in milliseconds. */
const calmMs = 2_000

interface Outage {
  readonly began: number
  last: number
  failed: number
  readonly reasons: Set<string>
}

export interface OutageLog {
  /** A request has failed because of the database. */
  failed(id: string, error: Error): void
  /** A request has got a response from the database. */
  succeeded(): void
}

export const outageLog = (logger: Logger): OutageLog => {
  let outage: Outage | undefined
  return {
    failed(id, { message: reason }) {
      const now = performance.now()
      if (!outage) {
        outage = { began: now, last: now, failed: 0, reasons: new Set() }
        logger.error(
          { id, reason },
          `The database is not available: ${reason}. Failed requests are counted until it recovers.`,
        )
      }
      outage.last = now
      outage.failed++
      if (outage.reasons.size < 10) outage.reasons.add(reason)
    },
    succeeded() {
      if (!outage || performance.now() - outage.last < calmMs) return
      const { began, last, failed, reasons } = outage
      outage = undefined
      const seconds = Math.round((last - began) / 100) / 10
      const requests = failed === 1 ? '1 request' : `${failed} requests`
      const message = `The database is available again: ${requests} failed within ${seconds} s.`
      logger.warn({ failed, seconds, reasons: [...reasons] }, message)
    },
  }
}
