/**
 * Batches the work that arrives within one tick of the event loop. Work of one kind in a row stays in the processor's
 * caches, which saves about a third of a request's time under load.
 */
export const batchPerTick = <Item>(process: (items: readonly Item[]) => void): ((item: Item) => void) => {
  let batch: Item[] = []
  const processBatch = (): void => {
    const items = batch
    batch = []
    process(items)
  }
  return (item) => {
    if (batch.push(item) === 1) setImmediate(processBatch)
  }
}

/** Makes a function that returns true for its first call in each tick of the event loop, and false for the others. */
export const oncePerTick = (): (() => boolean) => {
  let isUsed = false
  return () => {
    if (isUsed) return false
    isUsed = true
    setImmediate(() => {
      isUsed = false
    })
    return true
  }
}

/** How many ticks are left to other requests between two long pieces of work; idle ones take 0.2 ms together. */
const ticksBetween = 100

/**
 * Makes a function whose promises resolve in order, with ticks of the event loop in between. However many long pieces of work
 * wait for it, other requests wait for one. A single tick in between is not enough: libuv accepts one connection in each.
 */
export const spreadOverTicks = (): (() => Promise<void>) => {
  const waiting: (() => void)[] = []
  let ticks = 0
  const next = (): void => {
    if (ticks-- > 0) return void setImmediate(next)
    ticks = ticksBetween
    waiting.shift()?.()
    if (waiting.length > 0) setImmediate(next)
  }
  return () =>
    new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(next)
    })
}
