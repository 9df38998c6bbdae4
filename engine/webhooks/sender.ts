/** Tells subscribers of changes, in one of the processes that use a database. */
import { EventEmitter, once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathResources } from '../descriptor/logging.js'
import type { Registry, Resource } from '../descriptor/registry.js'
import { createLease } from './lease.js'
import { type Outcome, runStream, type Stream, type StreamParts, subscribe, type WebhookStorage } from './stream.js'
import type { Subscriber } from './subscribers.js'

/** How often the lease and the versions of the tables are looked at, in milliseconds. */
const checkMs = 1_000

export interface WebhookStats {
  /** How many attempts subscribers had, by their outcome. */
  readonly attempts: Iterable<
    readonly [labels: { readonly subscriber: string; readonly outcome: string }, count: number]
  >
  /** For how long the first change that a subscriber has not been told of waits, in seconds; 0 if there is none. */
  readonly lags: Iterable<readonly [labels: { readonly subscriber: string }, seconds: number]>
}

interface Options {
  readonly storage: WebhookStorage
  readonly registry: Registry
  readonly subscribers: () => readonly Subscriber[]
  readonly allowPrivate: boolean
  readonly warn: (message: string) => void
}

interface Running {
  readonly digest: string
  /** Resolves when it has ended. */
  stop(): Promise<void>
}

const noAttempts: Readonly<Record<Outcome, number>> = { delivered: 0, failed: 0, ended: 0 }

export const createSender = ({ storage, registry, subscribers, allowPrivate, warn }: Options) => {
  const lease = createLease(storage.webhooks)
  const stopping = new AbortController()
  const running = new Map<string, Running>()
  const attempts = new Map<string, Readonly<Record<Outcome, number>>>()
  /** The time of the first change that waits, by subscriber and resource. */
  const waiting = new Map<string, Map<string, number>>()
  const checks = new EventEmitter().setMaxListeners(0)
  let versions: ReadonlyMap<Resource, string> = new Map()
  let isDown = false

  const streams = (): Stream[] =>
    subscribers().flatMap((subscriber) => subscriber.resources.map((resource) => ({ subscriber, resource })))
  /** The tables that decide what a subscriber is told. */
  const tablesOf = ({ resource, subscriber: { rights } }: Stream): Resource[] =>
    rights.of(resource).read === 'all' ? [resource] : [resource, ...pathResources(registry, resource)]

  const parts: StreamParts = {
    storage,
    lease,
    allowPrivate,
    warn,
    attempted({ subscriber: { name } }, outcome) {
      const counts = attempts.get(name) ?? noAttempts
      attempts.set(name, { ...counts, [outcome]: counts[outcome] + 1 })
    },
    waits({ subscriber: { name }, resource: { path } }, since) {
      const times = waiting.get(name) ?? new Map<string, number>()
      waiting.set(name, times)
      if (since === undefined) times.delete(path)
      else times.set(path, since)
    },
    failed(error) {
      if (!isDown) warn(`Webhooks wait for the database: ${(error as Error).message}`)
      isDown = true
    },
    version: (stream) =>
      tablesOf(stream)
        .map((resource) => versions.get(resource))
        .join(),
    async changed(stream, version, signal) {
      while (parts.version(stream) === version) await once(checks, 'checked', { signal })
    },
  }

  const start = (stream: Stream, digest: string): Running => {
    const { name } = stream.subscriber
    attempts.set(name, attempts.get(name) ?? noAttempts)
    const controller = new AbortController()
    const ended = runStream(stream, parts, controller.signal)
    return {
      digest,
      stop() {
        controller.abort()
        return ended
      },
    }
  }

  /** Runs these streams and no others; one whose entry has changed begins again. */
  const runAll = async (wanted: readonly Stream[]): Promise<void> => {
    const keyed = new Map(
      wanted.map((stream) => [JSON.stringify([stream.subscriber.name, stream.resource.path]), stream]),
    )
    const stopped = [...running].filter(([key, { digest }]) => keyed.get(key)?.subscriber.digest !== digest)
    await Promise.all(stopped.map(([, stream]) => stream.stop()))
    for (const [key] of stopped) running.delete(key)
    for (const [key, stream] of keyed) if (!running.has(key)) running.set(key, start(stream, stream.subscriber.digest))
  }

  const subscribeAll = async (): Promise<void> => {
    for (const stream of streams()) await subscribe(storage, stream)
  }

  const check = async (): Promise<void> => {
    const wanted = streams()
    try {
      if (wanted.length > 0) await lease.renew()
      if (lease.isHeld()) {
        versions = await storage.versions([...new Set(wanted.flatMap(tablesOf))])
        checks.emit('checked')
      }
      isDown = false
    } catch (error) {
      parts.failed(error)
    }
    await runAll(lease.isHeld() ? wanted : [])
  }

  const run = async (): Promise<void> => {
    const { signal } = stopping
    while (!signal.aborted) {
      await check()
      await sleep(checkMs, undefined, { signal, ref: false }).catch(() => {})
    }
    await runAll([])
    await lease.release().catch(() => {})
  }

  let ended: Promise<void> | undefined
  return {
    /** Begins; resolves once all that changes from now on is told. */
    async start(): Promise<void> {
      await subscribeAll().catch(parts.failed)
      ended = run()
    },
    /** Has those told who are new among the subscribers. */
    refresh(): void {
      void subscribeAll().catch(parts.failed)
    },
    stats: (): WebhookStats => ({
      attempts: [...attempts].flatMap(([subscriber, counts]) =>
        Object.entries(counts).map(([outcome, count]) => [{ subscriber, outcome }, count] as const),
      ),
      lags: [...waiting].map(([subscriber, times]) => {
        const first = Math.min(...times.values(), Date.now())
        return [{ subscriber }, (Date.now() - first) / 1_000] as const
      }),
    }),
    /** Gives up what is being delivered, which follows later; resolves when nothing needs the database any more. */
    async stop(): Promise<void> {
      stopping.abort()
      await ended
    },
  }
}

export type Sender = ReturnType<typeof createSender>
