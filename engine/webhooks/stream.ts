/** Tells a subscriber of the changes of one resource, in their order: each delivery is stored, and then attempted until the receiver has taken it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { readerDigest } from '../contract/changesCursor.js'
import type { Resource } from '../descriptor/registry.js'
import type { Storage } from '../storage/storage.js'
import type { PendingDelivery, StoredSubscription, Subscription, SubscriptionKey } from '../storage/webhookData.js'
import { deliver, type Received } from './deliver.js'
import type { createLease } from './lease.js'
import { nextDelivery, positionNow } from './nextDelivery.js'
import { pauseAfter } from './schedule.js'
import type { Subscriber } from './subscribers.js'

/** How often a position is stored at most while there is nothing to tell, in milliseconds. */
const idleStoreMs = 60_000

/** How long after a receiver was told to begin again it is told so again at the earliest, in milliseconds. */
const resyncMs = 60_000

/** How long to wait for a database that fails, and for a lease that is in doubt, in milliseconds. */
const [outageMs, leaseMs] = [5_000, 500]

/** A subscriber, and a resource of whose changes it is told. */
export interface Stream {
  readonly subscriber: Subscriber
  readonly resource: Resource
}

export type Outcome = 'delivered' | 'failed' | 'ended'

export type WebhookStorage = Pick<Storage, 'changes' | 'versions' | 'webhooks'>

export interface StreamParts {
  readonly storage: WebhookStorage
  readonly lease: Pick<ReturnType<typeof createLease>, 'token' | 'isHeld' | 'doubt'>
  readonly allowPrivate: boolean
  readonly warn: (message: string) => void
  /** Called after each attempt. */
  readonly attempted: (stream: Stream, outcome: Outcome) => void
  /** Called with the time of the first change that waits, if any does. */
  readonly waits: (stream: Stream, since: number | undefined) => void
  readonly failed: (error: unknown) => void
  /** The version of what decides what the subscriber is told; `changed` resolves when it is another one. */
  readonly version: (stream: Stream) => string
  readonly changed: (stream: Stream, version: string, signal: AbortSignal) => Promise<void>
}

const keyOf = ({ subscriber, resource }: Stream): SubscriptionKey => ({
  subscriber: subscriber.name,
  resource: resource.path,
})

const idleAt = (position: string): Subscription => ({
  position,
  entry: '',
  isEnded: false,
  attempts: 0,
  nextAttempt: 0,
})

/** Adds the subscription if there is none: it begins with what changes from now on. */
export const subscribe = async (storage: WebhookStorage, stream: Stream): Promise<void> => {
  if (await storage.webhooks.read(keyOf(stream))) return
  const { resource, subscriber } = stream
  await storage.webhooks.subscribe(keyOf(stream), await positionNow(storage, resource, subscriber.rights))
}

/** Goes on until it is given up, or the receiver ends the subscription. */
export const runStream = async (stream: Stream, parts: StreamParts, signal: AbortSignal): Promise<void> => {
  const { storage, lease, allowPrivate, warn } = parts
  const { subscriber, resource } = stream
  const { name, digest, rights } = subscriber
  const reader = readerDigest(resource, rights)
  const pause = (ms: number) => sleep(ms, undefined, { signal, ref: false })
  const store = async (before: StoredSubscription, next: Subscription): Promise<void> => {
    if (!(await storage.webhooks.store(lease.token, keyOf(stream), before, next))) lease.doubt()
  }
  /** How far the changes were read since the stored position, without anything to tell. */
  let readUpTo: string | undefined
  let storedAt = performance.now()
  let resyncAt = Number.NEGATIVE_INFINITY

  const attempt = async (before: StoredSubscription, delivery: PendingDelivery, failures: number): Promise<void> => {
    const received: Received | Error = await deliver(delivery, subscriber, { allowPrivate, signal }).catch(
      (error) => error,
    )
    if (signal.aborted) return
    const { status = 0, retryAfter } = received instanceof Error ? {} : received
    if (status >= 200 && status < 300) {
      parts.attempted(stream, 'delivered')
      if (failures > 0) warn(`The subscriber "${name}" is told of ${resource.path} again.`)
      await store(before, idleAt(delivery.next))
    } else if (status === 410) {
      parts.attempted(stream, 'ended')
      warn(`The subscriber "${name}" answered 410, and is told of nothing until its entry in WEBHOOKS_FILE changes.`)
      await storage.webhooks.end(lease.token, name, digest)
    } else {
      parts.attempted(stream, 'failed')
      const { message = '', code = '' } = received as Error & { code?: string }
      const reason = received instanceof Error ? message || code : `its response was ${status}`
      if (failures === 0)
        warn(`The subscriber "${name}" cannot be told of ${resource.path}, which is tried again: ${reason}.`)
      const nextAttempt = Date.now() + pauseAfter(failures + 1, retryAfter)
      await store(before, { ...before, entry: digest, isEnded: false, attempts: failures + 1, nextAttempt })
    }
  }

  /** Stores what is told next, or waits until something changes. */
  const prepare = async (before: StoredSubscription, version: string): Promise<void> => {
    const position = readUpTo ?? before.position
    const next = await nextDelivery(storage, resource, rights, position)
    if ('body' in next) {
      const { isResync, ...delivery } = next
      if (isResync) {
        warn(`The subscriber "${name}" cannot be told of all changes of ${resource.path}: it is told "resync".`)
        await pause(Math.max(0, resyncAt + resyncMs - performance.now()))
        resyncAt = performance.now()
      }
      await store(before, { ...idleAt(position), delivery: { ...delivery, reader } })
      readUpTo = undefined
      return
    }
    parts.waits(stream, undefined)
    readUpTo = next.next
    if (readUpTo !== before.position && performance.now() - storedAt >= idleStoreMs) {
      await store(before, idleAt(readUpTo))
      storedAt = performance.now()
      readUpTo = undefined
    }
    if (!next.more) await parts.changed(stream, version, signal)
  }

  /** Resolves with whether the receiver has ended the subscription. */
  const step = async (): Promise<boolean> => {
    if (!lease.isHeld()) {
      await pause(leaseMs)
      return false
    }
    const version = parts.version(stream)
    const current = await storage.webhooks.read(keyOf(stream))
    if (!current) {
      await subscribe(storage, stream)
      return false
    }
    const { delivery } = current
    const isOfEntry = current.entry === digest
    if (isOfEntry && current.isEnded) return true
    if (delivery?.reader !== reader) {
      await prepare(current, version)
      return false
    }
    parts.waits(stream, delivery.since)
    const waitMs = isOfEntry ? current.nextAttempt - Date.now() : 0
    if (waitMs > 0) await pause(waitMs)
    else await attempt(current, delivery, isOfEntry ? current.attempts : 0)
    return false
  }

  let isEnded = false
  while (!isEnded && !signal.aborted) {
    try {
      isEnded = await step()
    } catch (error) {
      if (signal.aborted) break
      parts.failed(error)
      await pause(outageMs).catch(() => {})
    }
  }
  parts.waits(stream, undefined)
}
