/** SIGTERM and SIGINT: during the start they end the process; then the first one drains it, and a later one, or the time limit, ends it at once. */
import cluster from 'node:cluster'
import { notices } from './log.js'
import type { Settings } from './settings.js'

/** Ctrl+C reaches a process from the terminal and again through npm; signals within this time are one. */
const repeatMs = 1_000

/** Kills this process. process.exit() would wait for worker threads, even for one in a long query. */
const killProcess = (): void => {
  // Flushes the log.
  process.emit('exit', 1)
  process.kill(process.pid, 'SIGKILL')
}

let onSignal: (() => void) | undefined

/** Makes the signals call a function, instead of the one before. */
const handleSignals = (handle: () => void): void => {
  if (onSignal === undefined) {
    process.on('SIGTERM', () => onSignal?.())
    // Ctrl+C reaches workers and supervisor alike; the supervisor then sends SIGTERM to its workers.
    process.on('SIGINT', () => cluster.isPrimary && onSignal?.())
  }
  onSignal = handle
}

/** Until there is something to drain. Without a handler, the first process of a container ignores SIGTERM; what it has begun in the database is undone. */
export const endDuringStart = (): void =>
  handleSignals(() => {
    if (cluster.isPrimary) notices.info('Stopped during the start.')
    process.exit(0)
  })

type DrainSettings = Pick<Settings, 'DRAIN_DELAY_MS' | 'DRAIN_TIMEOUT_MS'>

/** Calls `drain`, which ends the process, at the first signal; calls `force` if that takes longer than the settings allow. */
export const onStopSignal = (
  { DRAIN_DELAY_MS: delayMs, DRAIN_TIMEOUT_MS: drainMs }: DrainSettings,
  drain: () => unknown,
  force: () => unknown = killProcess,
): void => {
  let first: number | undefined
  const handle = (): void => {
    if (first !== undefined) {
      if (performance.now() - first > repeatMs) force()
      return
    }
    first = performance.now()
    setTimeout(() => {
      notices.error(`The process did not stop within ${drainMs} ms (DRAIN_TIMEOUT_MS); killing it.`)
      force()
    }, delayMs + drainMs)
    drain()
  }
  handleSignals(handle)
}
