/** Deletes what the log need not keep any longer, a little at a time, while the service runs. */
import { isLogged, type Registry } from '../descriptor/registry.js'
import type { Storage } from './storage.js'

/** When it begins after a start, how long it pauses while there is more, and when it looks again, in milliseconds. */
const defaultTimes = { startMs: 30_000, pauseMs: 1_000, againMs: 3_600_000 }
export type PruningTimes = typeof defaultTimes

/** Processes that start together do not prune together. */
const spread = (ms: number): number => ms * (0.5 + Math.random())

interface Options {
  readonly storage: Pick<Storage, 'pruneLog'>
  readonly registry: Registry
  readonly warn: (message: string) => void
}

/** Begins to prune the log, if any resource has one; returns what ends it. */
export const pruneRegularly = ({ storage, registry, warn }: Options, times = defaultTimes): (() => void) => {
  const { startMs, pauseMs, againMs } = times
  if (!registry.some(isLogged)) return () => {}
  let isStopped = false
  let timer: NodeJS.Timeout
  const prune = async (): Promise<void> => {
    const hasMore = await storage.pruneLog().catch((error: Error) => {
      if (!isStopped) warn(`The log of changes could not be pruned, and will be later: ${error.message}`)
      return false
    })
    if (!isStopped) plan(hasMore ? pauseMs : spread(againMs))
  }
  const plan = (ms: number) => {
    timer = setTimeout(prune, ms).unref()
  }
  plan(spread(startMs))
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}
