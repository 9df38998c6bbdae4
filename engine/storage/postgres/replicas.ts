/**
 * Reads from replicas, and never older rows than the primary had: a replica serves a read only if it is a standby of the primary's
 * cluster, on the same timeline, and has replayed the log up to where the primary was when the read began. One that fails or is no
 * such standby is left alone until it is one again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { publicDatabaseUrl } from '../../process/databaseUrl.js'
import { Busy, TimedOut } from '../failures.js'
import type { StorageOptions } from '../options.js'
import type { PoolStats, ReplicaState } from '../storage.js'
import { shared } from './attempts.js'
import { type Connections, connectionsTo } from './connections.js'
import { describeError, errorCode, storageError } from './errors.js'
import { prepared } from './prepared.js'
import type { Row } from './run.js'
import { reachServer } from './server.js'

/** How often a replica that was left alone is tried again, in milliseconds. */
const retryMs = 5_000

/** How long a replica is not asked again for a table after it was behind the primary, in milliseconds. */
const lagMs = 100

/** Errors of a statement that a replica cannot run; the replica itself works. */
const failsThere: ReadonlySet<string> = new Set(['40001', '0A000', '25006'])

/** Errors of a server that cannot tell its place: no such function, no right to call it, or itself a standby. */
const hasNoPlace: ReadonlySet<string> = new Set(['42883', '42501', '55000'])

class NoPlace extends Error {}

/** The database, which has the same number on every standby. */
const database = '(select oid from pg_database where datname = current_database())'

/** The place of the primary: its cluster and database, the timeline of its write-ahead log, and the position in that. */
const primaryPlace = prepared(
  `select (select system_identifier from pg_control_system()), ${database},
    ('x' || left(pg_walfile_name(lsn), 8))::bit(32)::int, lsn - '0/0' from pg_current_wal_insert_lsn() as lsn`,
)

/**
 * The place of a standby, the last column null for any other server. The timeline is the one that it receives or, if it receives
 * nothing or this role may not know, that of its control file, which follows a moment later.
 */
const standbyPlace = prepared(
  `select (select system_identifier from pg_control_system()), ${database},
    coalesce((select received_tli from pg_stat_wal_receiver), (select greatest(timeline_id, min_recovery_end_timeline)
      from pg_control_checkpoint(), pg_control_recovery())),
    case when pg_is_in_recovery() then coalesce(pg_last_wal_replay_lsn() - '0/0', 0) end`,
)

type ReadArguments = Parameters<Connections['read']>

/** Throws if a server is no standby of the primary; returns whether it has replayed what the primary has written. */
const isCurrent = (
  [cluster, database, timeline, written]: Row,
  [ofCluster, ofDatabase, ofTimeline, replayed]: Row,
): boolean => {
  if (ofCluster !== cluster)
    throw new Error(`it belongs to another cluster (${ofCluster}) than the primary (${cluster})`)
  if (ofDatabase !== database) throw new Error('its URL names another database than DATABASE_URL')
  if (replayed === null) throw new Error('it is not a standby, or no longer')
  if (ofTimeline !== timeline) throw new Error(`it is on timeline ${ofTimeline}, and the primary is on ${timeline}`)
  return BigInt(String(replayed)) >= BigInt(String(written))
}

/** One replica; it is away until it has answered. `readPlace` reads the place of the primary. */
const replicaAt = (url: string, readPlace: () => Promise<Row>, { pool, warn }: StorageOptions) => {
  const name = publicDatabaseUrl(url)
  let connections: Connections | undefined
  let isDown = true
  let isClosed = false
  let [reads, failures] = [0, 0]
  const closing = new AbortController()
  /** When it may be asked for a table again. */
  const askAt = new Map<string, number>()
  const later = (purpose: ReadArguments[2]) => askAt.set(purpose?.table ?? '', performance.now() + lagMs)

  const connect = async (): Promise<void> => {
    connections ??= connectionsTo(await reachServer(url, { pool, warn }), pool)
    isCurrent(await readPlace(), (await connections.check(standbyPlace))[0] as Row)
    isDown = false
  }
  const stopUsing = (error: Error): void => {
    if (isDown || isClosed) return
    isDown = true
    failures++
    warn(`Reads go to the primary, because the replica ${name} cannot be used: ${describeError(error)}.`)
    retry()
  }
  const retry = async (): Promise<void> => {
    while (isDown && !isClosed) {
      await sleep(retryMs, undefined, { ref: false, signal: closing.signal }).catch(() => {})
      if (isClosed) return
      await connect().catch(() => {})
    }
    warn(`The replica ${name} answers, and serves reads again.`)
  }

  return {
    isUsable: (table: string): boolean => !isDown && (askAt.get(table) ?? 0) <= performance.now(),
    /** Tries it for the first time. */
    async open(): Promise<void> {
      await connect().catch((error) => {
        isDown = false
        stopUsing(error as Error)
      })
    },
    /** The rows, or undefined if it has not what the primary has now, or fails. */
    async read([statement, values, purpose]: ReadArguments): Promise<Row[] | undefined> {
      const place = await readPlace().catch((error) => {
        if (!(error instanceof NoPlace)) throw error
        stopUsing(error)
      })
      if (!place) return undefined
      try {
        const rows = await connections?.readIfCurrent(statement, values, purpose, standbyPlace, (standby) =>
          isCurrent(place, standby),
        )
        if (rows) reads++
        else later(purpose)
        return rows
      } catch (error) {
        // The time limit of the read, or its client, has ended it.
        const cause = storageError(error)
        if (cause instanceof TimedOut) throw cause
        if (cause instanceof Busy) return undefined
        if (failsThere.has(String(errorCode(error)))) later(purpose)
        else stopUsing(error as Error)
        return undefined
      }
    },
    reads: () => reads,
    state: (): ReplicaState => ({ isUsed: !isDown, failures }),
    stats: (): PoolStats[] => connections?.stats() ?? [],
    async close(): Promise<void> {
      isClosed = true
      closing.abort()
      await connections?.close()
    },
  }
}

const nameAt = (n: number): string => `replica ${n + 1}`

/** Opens the replicas; those that cannot be used now are tried again later. */
export const openReplicas = async (primary: Connections, options: StorageOptions) => {
  const readPlace = shared(options.pool.waitMs, async () => {
    const rows = await primary.check(primaryPlace).catch((error: Error) => {
      if (!hasNoPlace.has(errorCode(error))) throw error
      throw new NoPlace(`the primary cannot tell its position in the write-ahead log (${error.message})`)
    })
    return rows[0] as Row
  })
  const replicas = (options.readUrls ?? []).map((url) => replicaAt(url, readPlace, options))
  await Promise.all(replicas.map((replica) => replica.open()))
  let turn = 0
  let primaryReads = 0
  const fromPrimary = (read: ReadArguments): Promise<Row[]> => {
    primaryReads++
    return primary.read(...read)
  }
  return {
    /** Reads from the replicas in turn, or from the primary. */
    async read(...read: ReadArguments): Promise<Row[]> {
      const usable = replicas.filter((replica) => replica.isUsable(read[2]?.table ?? ''))
      return (await usable[turn++ % usable.length]?.read(read)) ?? fromPrimary(read)
    },
    /** How many reads each server has answered. */
    reads: (): ReadonlyMap<string, number> =>
      new Map([['primary', primaryReads], ...replicas.map((replica, n) => [nameAt(n), replica.reads()] as const)]),
    states: (): ReadonlyMap<string, ReplicaState> =>
      new Map(replicas.map((replica, n) => [nameAt(n), replica.state()])),
    stats: (): PoolStats[] =>
      replicas.flatMap((replica, n) => replica.stats().map((pool) => ({ ...pool, part: `${nameAt(n)} ${pool.part}` }))),
    close: (): Promise<unknown> => Promise.all(replicas.map((replica) => replica.close())),
  }
}

export type Reads = Awaited<ReturnType<typeof openReplicas>>
