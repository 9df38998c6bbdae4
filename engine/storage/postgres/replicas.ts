/**
 * Reads from replicas, and never older rows than the primary had: a replica serves a read only if it has the version of the table that
 * the primary had when the read began. One that fails is left alone until it answers again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { publicDatabaseUrl } from '../../process/databaseUrl.js'
import type { StorageOptions } from '../options.js'
import { type PoolStats, TimedOut } from '../storage.js'
import { type Connections, connectionsTo } from './connections.js'
import { codeOf, messageOf, storageError } from './errors.js'
import { knex, type Prepared, prepared } from './prepared.js'
import type { Row } from './run.js'
import { reachServer } from './server.js'

/** How often a replica that was left alone is tried again, in milliseconds. */
const retryMs = 5_000

/** How long a replica is not asked for a table of which it had an older version, in milliseconds. */
const lagMs = 100

/** A statement was in the way of a change from the primary; the replica itself is well. */
const recoveryConflict = '40001'

const probe = prepared(knex.raw('select 1'))

type ReadArguments = Parameters<Connections['read']>

/** The version of a table: what reads it, and its value on the primary. */
interface Current {
  readonly statement: Prepared
  version(): Promise<string>
}

/** One replica; it is away until it has answered. */
const replicaAt = (url: string, { pool, warn }: StorageOptions) => {
  const name = publicDatabaseUrl(url)
  let connections: Connections | undefined
  let isAway = true
  let isClosed = false
  const closing = new AbortController()
  /** When it may be asked for a table again. */
  const askAt = new Map<string, number>()

  const tryIt = async (): Promise<void> => {
    connections ??= connectionsTo(await reachServer(url, { pool, warn }), pool)
    await connections.check(probe)
    isAway = false
  }
  const leaveAlone = (error: Error): void => {
    if (isAway || isClosed) return
    isAway = true
    warn(`Reads go to the primary, because the replica ${name} cannot be used: ${messageOf(error)}.`)
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
    /** The rows, or undefined if it has another version of the table, or fails. */
    async read([statement, values, purpose]: ReadArguments, version: Prepared, expected: string) {
      try {
        const rows = await connections?.readIfCurrent(statement, values, purpose, version, expected)
        if (rows) this.reads++
        else askAt.set(purpose?.table ?? '', performance.now() + lagMs)
        return rows
      } catch (error) {
        // The time limit of the read, or its client, has ended it.
        const cause = storageError(error)
        if (cause instanceof TimedOut) throw cause
        if (codeOf(error) !== recoveryConflict) leaveAlone(error as Error)
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
    async read(current: Current, ...read: ReadArguments): Promise<Row[]> {
      const usable = replicas.filter((replica) => replica.isUsable(read[2]?.table ?? ''))
      const replica = usable[turn++ % usable.length]
      if (!replica) return fromPrimary(read)
      return (await replica.read(read, current.statement, await current.version())) ?? fromPrimary(read)
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
