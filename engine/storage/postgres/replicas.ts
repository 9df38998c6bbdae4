/**
 * Reads from replicas, and never older rows than the primary had: a replica serves a read only if it has what the primary had when the
 * read began. One that fails is left alone until it answers again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { publicDatabaseUrl } from '../../process/databaseUrl.js'
import type { StorageOptions } from '../options.js'
import { Busy, type PoolStats, TimedOut } from '../storage.js'
import { shared } from './attempts.js'
import { type Connections, connectionsTo } from './connections.js'
import { describeError, errorCode, storageError } from './errors.js'
import { knex, type Prepared, prepared } from './prepared.js'
import type { Row } from './run.js'
import { reachServer } from './server.js'

/** How often a replica that was left alone is tried again, in milliseconds. */
const retryMs = 5_000

/** How long a replica is not asked again for a table after it was behind the primary, in milliseconds. */
const lagMs = 100

/** Errors of a statement that a replica cannot run; the replica itself works. */
const failsThere: ReadonlySet<string> = new Set(['40001', '0A000', '25006'])

/** Errors of a server that cannot tell its position: no such function, no right to call it, or itself a replica. */
const hasNoPosition: ReadonlySet<string> = new Set(['42883', '42501', '55000'])

const probe = prepared(knex.raw('select 1'))

const insertPosition = prepared(knex.raw(`select pg_current_wal_insert_lsn() - '0/0'`))

const replayPosition = prepared(knex.raw(`select pg_last_wal_replay_lsn() - '0/0' where pg_is_in_recovery()`))

type ReadArguments = Parameters<Connections['read']>

/** What tells whether a replica is as new as the primary. */
export interface Freshness {
  /** What the primary has now; undefined if it cannot tell. */
  ofPrimary(): Promise<string | undefined>
  /** What a replica has. */
  readonly ofReplica: Prepared
  isReached(expected: string, found: string): boolean
}

/** The position in the write-ahead log, for tables without a version; a server that is no replica has none. */
export const logPosition = (primary: Connections, waitMs: number): Freshness => ({
  ofPrimary: shared(waitMs, async () => {
    const found = await primary.check(insertPosition).catch((error) => {
      if (!hasNoPosition.has(String(errorCode(error)))) throw error
    })
    return found?.[0]?.[0] ?? undefined
  }),
  ofReplica: replayPosition,
  isReached: (expected, found) => BigInt(found) >= BigInt(expected),
})

/** One replica; it is away until it has answered. */
const replicaAt = (url: string, { pool, warn }: StorageOptions) => {
  const name = publicDatabaseUrl(url)
  let connections: Connections | undefined
  let isAway = true
  let isClosed = false
  const closing = new AbortController()
  /** When it may be asked for a table again. */
  const askAt = new Map<string, number>()
  const later = (purpose: ReadArguments[2]) => askAt.set(purpose?.table ?? '', performance.now() + lagMs)

  const tryIt = async (): Promise<void> => {
    connections ??= connectionsTo(await reachServer(url, { pool, warn }), pool)
    await connections.check(probe)
    isAway = false
  }
  const leaveAlone = (error: Error): void => {
    if (isAway || isClosed) return
    isAway = true
    warn(`Reads go to the primary, because the replica ${name} cannot be used: ${describeError(error)}.`)
    retry()
  }
  const retry = async (): Promise<void> => {
    while (isAway && !isClosed) {
      await sleep(retryMs, undefined, { ref: false, signal: closing.signal }).catch(() => {})
      if (isClosed) return
      await tryIt().catch(() => {})
    }
    warn(`The replica ${name} answers, and serves reads again.`)
  }

  return {
    reads: 0,
    isUsable: (table: string): boolean => !isAway && (askAt.get(table) ?? 0) <= performance.now(),
    /** Tries it for the first time. */
    async open(): Promise<void> {
      await tryIt().catch((error) => {
        isAway = false
        leaveAlone(error as Error)
      })
    },
    /** The rows, or undefined if it is older than expected, or fails. */
    async read([statement, values, purpose]: ReadArguments, { ofReplica, isReached }: Freshness, expected: string) {
      try {
        const isCurrent = (found: string) => isReached(expected, found)
        const rows = await connections?.readIfCurrent(statement, values, purpose, ofReplica, isCurrent)
        if (rows) this.reads++
        else later(purpose)
        return rows
      } catch (error) {
        // The time limit of the read, or its client, has ended it.
        const cause = storageError(error)
        if (cause instanceof TimedOut) throw cause
        if (cause instanceof Busy) return undefined
        if (failsThere.has(String(errorCode(error)))) later(purpose)
        else leaveAlone(error as Error)
        return undefined
      }
    },
    stats: (): PoolStats[] => connections?.stats() ?? [],
    async close(): Promise<void> {
      isClosed = true
      closing.abort()
      await connections?.close()
    },
  }
}

/** Opens the replicas; those that cannot be used now are tried again later. */
export const openReplicas = async (primary: Connections, options: StorageOptions) => {
  const replicas = (options.readUrls ?? []).map((url) => replicaAt(url, options))
  await Promise.all(replicas.map((replica) => replica.open()))
  let turn = 0
  let primaryReads = 0
  const fromPrimary = (read: ReadArguments): Promise<Row[]> => {
    primaryReads++
    return primary.read(...read)
  }
  return {
    /** Reads from the replicas in turn, or from the primary. */
    async read(freshness: Freshness, ...read: ReadArguments): Promise<Row[]> {
      const usable = replicas.filter((replica) => replica.isUsable(read[2]?.table ?? ''))
      const replica = usable[turn++ % usable.length]
      const expected = replica && (await freshness.ofPrimary())
      if (expected === undefined) return fromPrimary(read)
      return (await replica?.read(read, freshness, expected)) ?? fromPrimary(read)
    },
    /** How many reads each server has answered. */
    reads: (): ReadonlyMap<string, number> =>
      new Map([['primary', primaryReads], ...replicas.map(({ reads }, n) => [`replica ${n + 1}`, reads] as const)]),
    stats: (): PoolStats[] =>
      replicas.flatMap((replica, n) =>
        replica.stats().map((pool) => ({ ...pool, part: `replica ${n + 1} ${pool.part}` })),
      ),
    close: (): Promise<unknown> => Promise.all(replicas.map((replica) => replica.close())),
  }
}

export type Reads = Awaited<ReturnType<typeof openReplicas>>
