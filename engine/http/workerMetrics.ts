/**
 * The metrics of all worker processes, added up in their supervisor. Not prom-client's own clusterMetrics(): it forgets the counts of
 * dead workers, and a worker that hangs fails the whole scrape.
 */
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, register } from 'prom-client'
import { registerRestarts } from './metrics.js'

type Metrics = readonly MetricObjectWithValues<MetricValue<string>>[]

const question = 'registry:metrics'

/** How long a worker may take to reply, in milliseconds; after that, its last known metrics are used. */
const replyTimeoutMs = 1_000

export const replyToSupervisor = (): void => {
  process.on('message', async (message) => {
    if (message === question) process.send?.({ metrics: await register.getMetricsAsJSON() })
  })
}

const sumMetrics = (all: readonly Metrics[]) => AggregatorRegistry.aggregate(all as never)

/** Counters and histograms, which never decrease. */
const isCumulative = ({ type }: { type: unknown }): boolean => type === 'counter' || type === 'histogram'

/** Makes the function that returns the metrics of all workers as text; `restarts` is how many were replaced. */
export const workerMetrics = (restarts: () => number): (() => Promise<string>) => {
  registerRestarts(() => ({ process: restarts() }))
  const newest = new Map<number, Metrics>()
  /** The counts of workers that have died: without them the sums would decrease, and rates would show a peak. */
  let ended: Promise<Metrics> = Promise.resolve([])
  const add = async (before: Promise<Metrics>, last: Metrics): Promise<Metrics> =>
    (await sumMetrics([await before, last.filter(isCumulative)]).getMetricsAsJSON()) as Metrics
  cluster.on('exit', ({ id }) => {
    const last = newest.get(id)
    newest.delete(id)
    if (last) ended = add(ended, last)
  })
  cluster.on('message', (worker, { metrics }: { metrics?: Metrics }) => {
    if (metrics) newest.set(worker.id, metrics)
  })

  const ask = async (worker: Worker): Promise<void> => {
    worker.send(question, () => {})
    await once(worker, 'message', { signal: AbortSignal.timeout(replyTimeoutMs) }).catch(() => {})
  }
  return async () => {
    const workers = (Object.values(cluster.workers ?? {}) as Worker[]).filter((worker) => worker.isConnected())
    await Promise.all(workers.map(ask))
    const own = (await register.getMetricsAsJSON()) as Metrics
    // Taken together, so that a worker that dies now is counted once.
    const [before, alive] = [ended, [...newest.values()]]
    return sumMetrics([await before, ...alive, own]).metrics()
  }
}
