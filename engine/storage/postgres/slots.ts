/**
 * Shares the connections of a pool between statements. A statement that takes long is slow; slow statements take about half of the
 * slots, and those of one table fewer, so that slow searches or a locked table leave room for the other requests.
 */
import { type Caller, TimedOut, Unavailable } from '../storage.js'

/** A statement that takes longer than this, in milliseconds, is slow. */
const quickMs = 250

/** How long a statement is expected to be slow again, in milliseconds. */
const slowForMs = 5_000

/** A statement that needs a slot. */
interface Need {
  /** The name of the statement: other runs of it show whether it is slow. */
  readonly name: string
  readonly table: string
  /** Cancels the statement, because a quick one waits for its slot. */
  preempt(): void
}

/** The statement was cancelled for a quick one, and has done nothing. */
export class Preempted extends Unavailable {}

interface Slot {
  /** The statement starts now. */
  start(): void
  release(): void
}

interface Held extends Need {
  isSlow: boolean
  isLate: boolean
  isPreempted: boolean
}

interface Waiting extends Need {
  readonly since: number
  grant(slot: Slot): void
}

interface Slots {
  /** Waits for a slot; rejects after `waitMs`, or when the caller has gone. */
  take(need: Need, waitMs: number, caller: Caller | undefined): Promise<Slot>
  /** How many statements wait for a slot. */
  waiting(): number
}

export const slotsOf = (size: number): Slots => {
  const mostSlow = Math.ceil(size / 2)
  const mostSlowOfTable = mostSlow > 2 ? mostSlow - 1 : mostSlow
  const held = new Set<Held>()
  /** By statement, because either all waiting runs of one are slow or none is. */
  const queues = new Map<string, Set<Waiting>>()
  const slowUntil = new Map<string, number>()

  const isSlow = ({ name }: Pick<Need, 'name'>): boolean => (slowUntil.get(name) ?? 0) > performance.now()
  const heldBy = (table: string): number => [...held].filter((one) => one.table === table).length
  const hasSlowSlot = (table: string): boolean => {
    const slow = [...held].filter((one) => one.isSlow)
    return slow.length < mostSlow && slow.filter((one) => one.table === table).length < mostSlowOfTable
  }

  /** The next statement to run: of the table that has the fewest slots, the one that has waited longest. */
  const next = (): Waiting | undefined => {
    let found: Waiting | undefined
    let fewest = 0
    for (const [first] of queues.values()) {
      if (!first || (isSlow(first) && !hasSlowSlot(first.table))) continue
      const count = heldBy(first.table)
      if (!found || count < fewest || (count === fewest && first.since < found.since)) [found, fewest] = [first, count]
    }
    return found
  }
  const hold = ({ name, table, preempt, grant }: Waiting): void => {
    const slot: Held = { name, table, preempt, isSlow: false, isLate: false, isPreempted: false }
    slot.isSlow = isSlow(slot)
    held.add(slot)
    let timer: NodeJS.Timeout | undefined
    const onLate = () => {
      slot.isLate = true
      slowUntil.set(name, performance.now() + slowForMs)
      arrange()
    }
    grant({
      start() {
        timer = setTimeout(onLate, quickMs)
      },
      release() {
        clearTimeout(timer)
        held.delete(slot)
        arrange()
      },
    })
  }
  const arrange = (): void => {
    const late = () => [...held].filter((one) => one.isLate && !one.isSlow)
    for (const one of late()) if (!one.isPreempted) one.isSlow = hasSlowSlot(one.table)
    while (held.size < size) {
      const waiting = next()
      if (!waiting) return
      hold(waiting)
    }
    // For each quick statement that waits, one slow statement beyond the share is cancelled.
    let wanted = 0
    for (const [name, queue] of queues) if (!isSlow({ name })) wanted += queue.size
    for (const one of late()) {
      if (wanted-- <= 0) return
      if (one.isPreempted) continue
      one.isPreempted = true
      one.preempt()
    }
  }

  return {
    waiting: () => [...queues.values()].reduce((sum, { size: queued }) => sum + queued, 0),
    take: (need, waitMs, caller) =>
      new Promise((resolve, reject) => {
        const queue = queues.get(need.name) ?? new Set()
        queues.set(need.name, queue)
        let timer: NodeJS.Timeout | undefined
        const leave = () => {
          queue.delete(waiting)
          clearTimeout(timer)
          caller?.off('close', onClose)
        }
        const giveUp = (error: Error) => {
          leave()
          reject(error)
        }
        const onClose = () => giveUp(new TimedOut('the client has gone'))
        const onTimeout = () => giveUp(new Unavailable(`no connection was free within ${Math.round(waitMs)} ms`))
        const grant = (slot: Slot) => {
          leave()
          resolve(slot)
        }
        const waiting: Waiting = { ...need, since: performance.now(), grant }
        queue.add(waiting)
        arrange()
        if (!queue.has(waiting)) return
        if (caller?.closed) return onClose()
        timer = setTimeout(onTimeout, waitMs)
        caller?.once('close', onClose)
      }),
  }
}
