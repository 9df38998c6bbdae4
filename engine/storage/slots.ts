/**
 * Shares a bounded number of slots, such as reader threads or connections, between reads and writes. Quick and slow reads wait in
 * lanes of bounded length, in which callers take turns; who finds a lane full is refused at once.
 */
import { LRUCache } from 'lru-cache'
import { Busy, Unavailable } from './failures.js'
import type { Caller } from './storage.js'
import { clientGone, withTimeout } from './withTimeout.js'

/** A read that takes longer than this, in milliseconds, is slow. */
export const quickMs = 50

/** How much the last run counts in the average of several tasks. */
const lastWeight = 0.2

/** The most characters of keys whose times are remembered. */
const rememberedLength = 500_000

/** How many reads may wait for each slot of their lane: of one caller, and of all. */
const laneLengths = { quick: { ofCaller: 250, all: 1_000 }, slow: { ofCaller: 16, all: 32 } }

/** How long a read waits at most, in milliseconds: a fifth of the time that it may take, but no less than this. */
const minWaitMs = 500
export const readWaitMs = (timeoutMs: number): number => Math.max(minWaitMs, timeoutMs / 5)

export interface Task {
  readonly isWrite?: boolean
  readonly table: string
  readonly caller?: Caller | undefined
  /** What the time of a read depends on: the values it looks for, if they matter, then what others share with it. */
  readonly keys?: readonly string[]
  /** Whether a read is slow as long as nothing is known. */
  readonly isLong?: boolean
  /** Whether the response has begun, so that the task is not refused. */
  readonly isBegun?: boolean
}

/** The keys of a read whose time may depend on the values it looks for. */
export const latencyKeys = (statement: string, { values, isScan }: { values?: string; isScan?: boolean }): string[] =>
  values === undefined || isScan ? [statement] : [`${statement} ${values}`, statement]

export interface Place {
  readonly isSlow: boolean
  /** The task has ended; with how many milliseconds it took, if that tells how long the next one takes. */
  leave(tookMs?: number): void
}

interface Entry {
  readonly kind: 'quick' | 'slow' | 'write'
  readonly table: string
  /** Whoever has many reads delays himself: the name of a caller, or the address of a client without one. */
  readonly caller: string
  readonly start: () => void
}

const oneFewer = (count: number): number => (count > 2 ? count - 1 : count)

/**
 * Slow reads take half of the slots, so that writes and quick reads never wait for them alone. A locked table, or a standby that does
 * not confirm commits, stops any statement, so one table leaves a third of the slots to the others, and writes leave some to reads.
 */
const createLimits = (size: number) => {
  const [half, most] = [Math.ceil(size / 2), Math.ceil((size * 2) / 3)]
  return {
    quick: { all: oneFewer(size), ofTable: most },
    slow: { all: half, ofTable: oneFewer(half) },
    write: { all: most, ofTable: half },
    any: { all: size, ofTable: most },
  }
}

/** How long tasks took, by key. */
const createLatencies = () => {
  const latencies = new LRUCache<string, number>({ maxSize: rememberedLength, sizeCalculation: (_, key) => key.length })
  return {
    average: (keys: readonly string[]): number | undefined =>
      keys.map((key) => latencies.get(key)).find((ms) => ms !== undefined),
    record(keys: readonly string[], ms: number): void {
      for (const key of keys) {
        const before = latencies.get(key) ?? ms
        // The first of several is of these values alone; the same again will take as long.
        latencies.set(key, keys.length > 1 && key === keys[0] ? ms : before + lastWeight * (ms - before))
      }
    },
  }
}

/** What does not wait for slow reads may wait longer for a database server; if it does so in vain, the server does not respond. */
export const createSlots = (size: number, maxWaitMs: number, maxServerWaitMs?: number) => {
  const limits = createLimits(size)
  const latencies = createLatencies()
  const running = new Set<Entry>()
  /** What waits, oldest first, by caller; the next caller's turn first. */
  const queues = new Map<string, Set<Entry>>()

  const count = (entries: Iterable<Entry>, kind: Entry['kind']): number =>
    [...entries].filter((entry) => entry.kind === kind).length
  function* waiting(): Generator<Entry> {
    for (const queue of queues.values()) yield* queue
  }
  const hasRoom = ({ kind, table }: Entry): boolean => {
    const ofTable = [...running].filter((other) => other.table === table)
    return (
      running.size < size &&
      ofTable.length < limits.any.ofTable &&
      count(running, kind) < limits[kind].all &&
      count(ofTable, kind) < limits[kind].ofTable
    )
  }
  const next = (): Entry | undefined => {
    const full = new Set<string>()
    for (const entry of waiting()) {
      const key = `${entry.kind} ${entry.table}`
      if (full.has(key)) continue
      if (hasRoom(entry)) return entry
      full.add(key)
    }
    return undefined
  }
  /** Takes an entry out of its queue; the others of its caller wait for the other callers. */
  const dequeue = (entry: Entry): void => {
    const queue = queues.get(entry.caller)
    if (!queue?.delete(entry)) return
    queues.delete(entry.caller)
    if (queue.size > 0) queues.set(entry.caller, queue)
  }
  const admit = (): void => {
    for (let entry = next(); entry; entry = next()) {
      dequeue(entry)
      running.add(entry)
      entry.start()
    }
  }
  const isFull = (lane: 'quick' | 'slow', caller: string): boolean => {
    const { ofCaller, all } = laneLengths[lane]
    const slots = limits[lane].all
    return count(queues.get(caller) ?? [], lane) > ofCaller * slots || count(waiting(), lane) > all * slots
  }

  return {
    /** Waits for a slot. Rejects if its lane is full, if it has waited for long, or if its client leaves. */
    async enter({ isWrite = false, table, caller, keys = [], isLong = false, isBegun = false }: Task): Promise<Place> {
      if (caller?.closed) throw clientGone()
      const latency = latencies.average(keys)
      const isSlow = !isWrite && (latency === undefined ? isLong : latency > quickMs)
      const lane = isSlow ? 'slow' : 'quick'
      let start = () => {}
      const entered = new Promise<void>((resolve) => {
        start = resolve
      })
      const name = caller?.callerName ?? caller?.socket?.remoteAddress ?? ''
      const entry: Entry = { kind: isWrite ? 'write' : lane, table, caller: name, start }
      queues.set(name, (queues.get(name) ?? new Set()).add(entry))
      const leave = (tookMs?: number): void => {
        dequeue(entry)
        if (!running.delete(entry)) return
        if (tookMs !== undefined) latencies.record(keys, tookMs)
        admit()
      }
      const busy = (): Error => new Busy('too many reads wait')
      const noConnection = (): Error => new Unavailable(`no connection was free within ${maxServerWaitMs} ms`)
      admit()
      try {
        if (!running.has(entry)) {
          if (!isWrite && !isBegun && isFull(lane, name)) throw busy()
          if (isBegun) await withTimeout(Number.POSITIVE_INFINITY, entered, caller, busy)
          else if (maxServerWaitMs === undefined || (isSlow && count(running, 'slow') > 0))
            await withTimeout(maxWaitMs, entered, caller, busy)
          else await withTimeout(maxServerWaitMs, entered, caller, noConnection)
        }
        return { isSlow, leave }
      } catch (error) {
        leave()
        throw error
      }
    },
    waiting: (): number => [...waiting()].length,
  }
}

export type Slots = ReturnType<typeof createSlots>
