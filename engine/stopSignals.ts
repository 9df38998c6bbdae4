/** SIGTERM and SIGINT: the first one drains, a later one stops at once. */

/** Ctrl+C reaches a process from the terminal and again through npm; signals within this time are one. */
const repeatMs = 1_000

/** Calls `drain` at the first of these signals and `force` at one that comes later than a repeat of it. */
export const onStopSignal = (signals: readonly NodeJS.Signals[], drain: () => unknown, force: () => unknown): void => {
  let first: number | undefined
  const handle = (): void => {
    if (first === undefined) {
      first = performance.now()
      drain()
    } else if (performance.now() - first > repeatMs) force()
  }
  for (const signal of signals) process.on(signal, handle)
}
