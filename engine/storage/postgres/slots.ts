/** Decides which statement gets a connection, so that slow searches or a locked table leave room for the other requests. */
import { LRUCache } from 'lru-cache'
import { fairQueue } from '../fairQueue.js'

/** A read that takes longer than this, in milliseconds, is slow. */
const quickMs = 100

/** How much the last run counts in the average of a statement. */
const lastWeight = 0.2

type Class = 'quick' | 'slow' | 'write'

const oneFewer = (count: number): number => (count > 2 ? count - 1 : count)

/**
 * Slow reads take half of the slots, so that writes and quick reads never wait for them alone. A locked table, or a standby that does
 * not confirm commits, stops any statement, so one table leaves a third of the slots to the others, and writes leave some to reads.
 */
export const createSlots = (size: number) => {
  const [half, most] = [Math.ceil(size / 2), Math.ceil((size * 2) / 3)]
  return fairQueue<Class>(
    { all: size, ofGroup: most },
    {
      quick: { all: oneFewer(size), ofGroup: most },
      slow: { all: half, ofGroup: oneFewer(half) },
      write: { all: most, ofGroup: half },
    },
  )
}

/** A read whose time depends on its values. */
export interface Timed {
  /** What it looks for. The same again will take as long. */
  readonly values: string
  readonly isScan: boolean
}

export const createPaces = () => {
  const times = new LRUCache<string, number>({ max: 2_000 })
  const paceKey = (name: string, { values }: Timed) => `${name} ${values.slice(0, 100)}`
  return {
    isSlow(name: string, timed: Timed): boolean {
      const unknown = timed.isScan ? Number.POSITIVE_INFINITY : 0
      return (times.get(paceKey(name, timed)) ?? times.get(name) ?? unknown) > quickMs
    },
    record(name: string, timed: Timed, ms: number): void {
      // A scan takes the same time whatever it looks for.
      if (!timed.isScan) times.set(paceKey(name, timed), ms)
      const average = times.get(name) ?? ms
      times.set(name, average + lastWeight * (ms - average))
    },
  }
}
