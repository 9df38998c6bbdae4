/**
 * Shares a bounded number of slots, such as reader threads or connections, between reads and writes: callers take turns, slow reads
 * leave room for the others, and a read that cannot start soon is refused.
 */
import { LRUCache } from 'lru-cache'
import { Busy, Unavailable } from './failures.js'
import type { Caller } from './storage.js'
import { clientGone, withTimeout } from './withTimeout.js'

/** A read that takes longer than this, in milliseconds, is slow. */
export const quickMs = 50

/** What a quick and a slow task are expected to take as long as nothing is known, in milliseconds. */
const unknownMs = { quick: 5, slow: 500 }

/** How much the last run counts in the average of several tasks. */
const lastWeight = 0.2

/** The most characters of keys whose times are remembered. */
const rememberedLength = 500_000

/** How long a read may be expected to wait, in milliseconds: a tenth of the time that it may take, but no less than this. */
const minWaitMs = 250
export const readWaitMs = (timeoutMs: number): number => Math.max(minWaitMs, timeoutMs / 10)

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
  /** The address of the client: whoever has many reads delays himself. */
  readonly caller: string
  readonly expectedMs: number
  startedAt: number
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

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** How long tasks took, by key. */
const createLatencies = () => {
  const known = new LRUCache<string, number>({ maxSize: rememberedLength, sizeCalculation: (_, key) => key.length })
  return {
    expected: (keys: readonly string[]): number | undefined =>
      keys.map((key) => known.get(key)).find((ms) => ms !== undefined),
    record(keys: readonly string[], ms: number): void {
      for (const key of keys) {
        const before = known.get(key) ?? ms
        // The first of several is of these values alone; the same again will take as long.
        known.set(key, keys.length > 1 && key === keys[0] ? ms : before + lastWeight * (ms - before))
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

  const isRunning = (kind: Entry['kind']): boolean => [...running].some((entry) => entry.kind === kind)
  const hasRoom = ({ kind, table }: Entry): boolean => {
    const ofTable = [...running].filter((other) => other.table === table)
    return (
      ofTable.length < limits.any.ofTable &&
      [...running].filter((other) => other.kind === kind).length < limits[kind].all &&
      ofTable.filter((other) => other.kind === kind).length < limits[kind].ofTable
    )
  }
  const next = (): Entry | undefined => {
    const full = new Set<string>()
    for (const queue of queues.values()) {
      for (const entry of queue) {
        const key = `${entry.kind} ${entry.table}`
        if (full.has(key)) continue
        if (hasRoom(entry)) return entry
        full.add(key)
      }
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
    while (running.size < size) {
      const entry = next()
      if (!entry) return
      dequeue(entry)
      running.add(entry)
      entry.startedAt = performance.now()
      entry.start()
    }
  }
  /** How long an entry will wait: for what runs, and for as many of each caller as its own caller has before it. */
  const expectedWait = (entry: Entry): number => {
    const { kind } = entry
    const now = performance.now()
    const waiting = [...queues.values()].map((queue) => [...queue].filter((other) => other.kind === kind))
    const place = Math.max(...waiting.map((entries) => entries.indexOf(entry)))
    const before = waiting.flatMap((entries) => entries.slice(0, entries[place] === entry ? place : place + 1))
    const left = [...running]
      .filter((other) => other.kind === kind)
      .map(({ startedAt, expectedMs }) => {
        const ran = now - startedAt
        // One that is late takes as long again.
        return ran < expectedMs ? expectedMs - ran : kind === 'slow' ? ran : 0
      })
    return sum([...before.map(({ expectedMs }) => expectedMs), ...left]) / limits[kind].all
  }

  return {
    /** Waits for a slot. Rejects if the task would wait too long, at once where that is known, or if its client leaves. */
    async enter({ isWrite = false, table, caller, keys = [], isLong = false, isBegun = false }: Task): Promise<Place> {
      if (caller?.closed) throw clientGone()
      const expectedMs = latencies.expected(keys) ?? (isLong ? unknownMs.slow : unknownMs.quick)
      const isSlow = !isWrite && expectedMs > quickMs
      let start = () => {}
      const entered = new Promise<void>((resolve) => {
        start = resolve
      })
      const entry: Entry = {
        kind: isWrite ? 'write' : isSlow ? 'slow' : 'quick',
        table,
        caller: caller?.socket?.remoteAddress ?? '',
        expectedMs,
        startedAt: 0,
        start,
      }
      const queue = queues.get(entry.caller) ?? new Set()
      queues.set(entry.caller, queue.add(entry))
      const leave = (tookMs?: number): void => {
        dequeue(entry)
        if (!running.delete(entry)) return
        if (tookMs !== undefined) latencies.record(keys, tookMs)
        admit()
      }
      const busy = (): Error => new Busy('too many reads wait', Math.max(expectedWait(entry), unknownMs.slow))
      const noConnection = (): Error => new Unavailable(`no connection was free within ${maxServerWaitMs} ms`)
      admit()
      try {
        if (!running.has(entry)) {
          if (!isWrite && !isBegun && expectedWait(entry) > maxWaitMs) throw busy()
          // Estimates are not exact: one that waits is refused only if they were far from it.
          if (isBegun) await withTimeout(Number.POSITIVE_INFINITY, entered, caller, busy)
          else if (maxServerWaitMs === undefined || (isSlow && isRunning('slow')))
            await withTimeout(2 * maxWaitMs, entered, caller, busy)
          else await withTimeout(maxServerWaitMs, entered, caller, noConnection)
        }
        return { isSlow, leave }
      } catch (error) {
        leave()
        throw error
      }
    },
    waiting: (): number => sum([...queues.values()].map((queue) => queue.size)),
  }
}

export type Slots = ReturnType<typeof createSlots>
