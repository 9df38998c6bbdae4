/**
 * The lease of the process that delivers. Nobody's clock is compared with another's: who has the lease counts, and another takes it
 * that has not seen it count for a while.
 */
import { randomUUID } from 'node:crypto'
import type { Lease, WebhookStore } from '../storage/webhookData.js'

/** How often the count grows, how long the process relies on it, and after how long another takes over, in milliseconds. */
const [beatMs, heldMs, silentMs] = [5_000, 12_000, 15_000]

export const createLease = (store: Pick<WebhookStore, 'lease' | 'changeLease'>, clock = () => performance.now()) => {
  const token = randomUUID()
  let beat = 0
  let seen: Lease | undefined
  let seenAt = 0
  let heldAt = Number.NEGATIVE_INFINITY
  const isHeld = () => clock() - heldAt < heldMs

  /** Renews or takes the lease, if that is due and possible. */
  const renew = async (): Promise<void> => {
    const now = clock()
    if (now - heldAt < beatMs) return
    const current = await store.lease()
    if (!current) return
    if (current.token !== seen?.token || current.beat !== seen.beat) {
      seen = current
      seenAt = now
    }
    const isFree = current.token === '' || current.token === token || now - seenAt >= silentMs
    heldAt = isFree && (await store.changeLease(current, { token, beat: ++beat })) ? now : Number.NEGATIVE_INFINITY
  }
  return {
    token,
    /** Whether no other process can have the lease yet. */
    isHeld,
    renew,
    /** Has the lease looked at again before it is relied on. */
    doubt(): void {
      heldAt = Number.NEGATIVE_INFINITY
    },
    /** Leaves the lease to whoever wants it. */
    async release(): Promise<void> {
      if (!isHeld()) return
      heldAt = Number.NEGATIVE_INFINITY
      await store.changeLease({ token, beat }, { token: '', beat: 0 })
    },
  }
}
