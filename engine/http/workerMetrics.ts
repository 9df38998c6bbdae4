/** The metrics of all worker processes, added up in their supervisor. */
import cluster, { type Worker } from 'node:cluster'
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, register } from 'prom-client'
import { registerRestarts } from './metrics.js'

type Metrics = readonly MetricObjectWithValues<MetricValue<string>>[]

interface Message {
  readonly type: string
  readonly metrics: Metrics
}

const [requestType, replyType] = ['registry:metrics', 'registry:metrics:reply']

/** How long a worker may take to reply, in milliseconds; after that, its last known metrics are used. */
const replyTimeoutMs = 1_000

/** Replies to the supervisor of this worker. */
export const replyToSupervisor = (): void => {
  process.on('message', async ({ type }: Message) => {
    if (type !== requestType) return
    const metrics = await register.getMetricsAsJSON()
    process.send?.({ type: replyType, metrics } satisfies Message)
  })
}

const sumOf = (all: readonly Metrics[]) => AggregatorRegistry.aggregate(all as never)

/** Counters and histograms, which never decrease. */
const isCumulative = ({ type }: { type: unknown }): boolean => type === 'counter' || type === 'histogram'

/** Makes the function that returns the metrics of all workers as text; `restarts` is how many were replaced. */
export const workerMetrics = (restarts: () => number): (() => Promise<string>) => {
  registerRestarts(() => ({ process: restarts() }))
  /** The last known metrics of each worker. */
  const newest = new Map<number, Metrics>()
  /** The counts of workers that have died: without them the sums would decrease, and rates would show a peak. */
  let ended: Promise<Metrics> = Promise.resolve([])
  const add = async (before: Promise<Metrics>, last: Metrics): Promise<Metrics> =>
    (await sumOf([await before, last.filter(isCumulative)]).getMetricsAsJSON()) as Metrics
  cluster.on('exit', ({ id }) => {
    const last = newest.get(id)
    newest.delete(id)
    if (last) ended = add(ended, last)
  })

  const ask = (worker: Worker): Promise<void> =>
    new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer)
        worker.off('message', onMessage)
        worker.off('exit', finish)
        resolve()
      }
      const onMessage = ({ type, metrics }: Message): void => {
        if (type !== replyType) return
        newest.set(worker.id, metrics)
        finish()
      }
      const timer = setTimeout(finish, replyTimeoutMs)
      worker.on('message', onMessage)
      worker.on('exit', finish)
      worker.send({ type: requestType }, (error) => error && finish())
    })

  return async () => {
    const workers = (Object.values(cluster.workers ?? {}) as Worker[]).filter((worker) => worker.isConnected())
    await Promise.all(workers.map(ask))
    const own = (await register.getMetricsAsJSON()) as Metrics
    // Taken together, so that a worker that dies now is counted once.
    const [before, alive] = [ended, [...newest.values()]]
    return sumOf([await before, ...alive, own]).metrics()
  }
}
