/** The Prometheus metrics of this process or of all workers, and the port that serves them. Those of the engine begin with `registry_`. */
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, register } from 'prom-client'
import type { PoolStats, ReplicaState, Storage } from '../storage/storage.js'
import { type InFlight, type OnRequest, reasons } from './requestLog.js'

export const serveMetrics = async (host: string, port: number, read = () => register.metrics()): Promise<string> => {
  const server = createServer(async ({ url, method }, response) => {
    if (url !== '/metrics' || (method !== 'GET' && method !== 'HEAD')) return void response.writeHead(404).end()
    try {
      const text = await read()
      response.writeHead(200, { 'Content-Type': register.contentType }).end(text)
    } catch {
      response.writeHead(503).end()
    }
  })
  server.unref()
  server.listen(port, host)
  await once(server, 'listening')
  const { port: bound } = server.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${bound}/metrics`
}

const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** How long the metrics wait for the row counts, in milliseconds; without a response there are no samples. */
const countTimeoutMs = 100

/** How long the metrics wait for the database, in milliseconds. */
const pingTimeoutMs = 500

type Samples = Iterable<readonly [labels: Readonly<Record<string, string>>, value: number]>

interface Measured {
  /** The folder of the SQLite file. */
  readonly folder?: string | undefined
  readonly storage: Storage
  readonly inFlight: InFlight
  readonly webhooks?: { stats(): Readonly<Record<'attempts' | 'lags', Samples>> } | undefined
  readonly build: Readonly<Record<string, string>>
}

/** A metric whose values are read when it is scraped; those of several workers are added, unless the first has them all. */
const readMetric = (
  name: string,
  help: string,
  read: () => number | Samples | Promise<Samples>,
  labelNames: readonly string[] = [],
  aggregator: 'sum' | 'first' | 'min' = 'sum',
): void => {
  const Metric = name.endsWith('_total') ? Counter : Gauge
  new Metric({
    name,
    help,
    labelNames,
    aggregator,
    async collect(this: Counter | Gauge) {
      this.reset()
      const samples = await read()
      for (const [labels, value] of typeof samples === 'number' ? [[{}, samples] as const] : samples) {
        this.inc(labels, value)
      }
    },
  })
}

/** Counts workers that died, by kind; the supervisor counts processes, and each process its threads. */
const registerRestarts = (read: () => Readonly<Partial<Record<'process' | 'thread', number>>>): void =>
  readMetric(
    'registry_worker_restarts_total',
    'Workers that died and were replaced, by kind: process or thread.',
    () => Object.entries(read()).map(([kind, count]) => [{ kind }, count]),
    ['kind'],
  )

const registerStorage = ({ storage }: Measured): void => {
  const cache = () => storage.stats().cache
  readMetric('registry_cache_hits_total', 'Reads answered from the response cache.', () => cache().hits)
  readMetric('registry_cache_misses_total', 'Reads not answered from the response cache.', () => cache().misses)
  readMetric('registry_cache_entries', 'Responses in the cache.', () => cache().entries)
  readMetric('registry_cache_bytes', 'Memory of the cached responses, about.', () => cache().bytes)
  const pool = (name: string, what: string, read: (pool: PoolStats) => number) => {
    const help = `PostgreSQL: ${what}, by part: requests, or checks of table versions; those of replicas have their number.`
    const samples = () => storage.stats().pools.map((stats) => [{ part: stats.part }, read(stats)] as const)
    readMetric(name, help, samples, ['part'])
  }
  pool('registry_pool_size', 'most connections', ({ size }) => size)
  pool('registry_pool_open', 'open connections', ({ open }) => open)
  pool('registry_pool_in_use', 'connections in use', ({ inUse }) => inUse)
  pool('registry_pool_waiting', 'statements that wait for a connection', ({ waiting }) => waiting)
  readMetric(
    'registry_database_reads_total',
    'PostgreSQL: reads, by the server that answered.',
    () => [...(storage.stats().reads ?? [])].map(([server, count]) => [{ server }, count]),
    ['server'],
  )
  const replica = (name: string, help: string, read: (state: ReplicaState) => number) => {
    const samples = () =>
      [...(storage.stats().replicas ?? [])].map(([server, state]) => [{ server }, read(state)] as const)
    readMetric(name, `PostgreSQL: ${help}, by replica.`, samples, ['server'])
  }
  replica('registry_replica_used', 'processes that use it for reads, 0 or 1 without WORKERS', ({ isUsed }) =>
    Number(isUsed),
  )
  replica('registry_replica_failures_total', 'how often it became unusable', ({ failures }) => failures)
  let running: ReturnType<Storage['counts']> | undefined
  const rows = async () => {
    running ??= storage.counts().finally(() => {
      running = undefined
    })
    const timeout = setTimeout(countTimeoutMs, undefined, { ref: false })
    const counts = (await Promise.race([running, timeout]).catch(() => undefined)) ?? []
    return [...counts].map(([{ path }, count]) => [{ resource: path }, count] as const)
  }
  readMetric('registry_rows', 'Rows, by resource.', rows, ['resource'], 'first')
}

const registerWebhooks = ({ webhooks }: Measured): void => {
  readMetric(
    'registry_webhook_attempts_total',
    'Attempts to deliver a webhook, by subscriber and outcome: delivered, failed, ended.',
    () => webhooks?.stats().attempts ?? [],
    ['subscriber', 'outcome'],
  )
  readMetric(
    'registry_webhook_lag_seconds',
    'For how long the first change waits that a subscriber has not been told of.',
    () => webhooks?.stats().lags ?? [],
    ['subscriber'],
  )
}

/** What an alert needs: whether the database responds, and how much room its disk has. */
const registerHealth = ({ storage, folder }: Measured): void => {
  let running: Promise<number> | undefined
  const isUp = async () => {
    running ??= storage
      .ping()
      .then(
        () => 1,
        () => 0,
      )
      .finally(() => {
        running = undefined
      })
    return [[{}, await Promise.race([running, setTimeout(pingTimeoutMs, 0, { ref: false })])]] as const
  }
  readMetric('registry_database_up', 'Whether the database responds: 1 or 0.', isUp, [], 'min')
  if (folder === undefined) return
  const disk = (name: string, help: string, blocks: (disk: StatsFs) => number) =>
    readMetric(
      name,
      help,
      async () => {
        const stats = await statfs(folder).catch(() => undefined)
        return stats ? [[{}, blocks(stats) * stats.bsize] as const] : []
      },
      [],
      'first',
    )
  disk('registry_disk_free_bytes', 'SQLite: free space of the disk with the database.', ({ bavail }) => bavail)
  disk('registry_disk_size_bytes', 'SQLite: size of that disk.', ({ blocks }) => blocks)
}

const registerProcess = ({ storage, inFlight, build }: Measured): void => {
  const help = 'Always 1; the labels describe the build.'
  readMetric('registry_build_info', help, () => [[build, 1]], Object.keys(build), 'first')
  readMetric(
    'registry_http_requests_in_flight',
    'Requests without a complete response, except those that wait for changes.',
    () => inFlight.count - inFlight.waiting,
  )
  readMetric('registry_waiting_clients', 'Requests that wait for changes.', () => inFlight.waiting)
  readMetric('registry_workers', 'Processes that serve.', () => 1)
  registerRestarts(() => ({ thread: storage.stats().threadRestarts, process: 0 }))
}

export const registerMetrics = (measured: Measured): OnRequest => {
  collectDefaultMetrics()
  registerProcess(measured)
  registerStorage(measured)
  registerHealth(measured)
  registerWebhooks(measured)
  const requests = new Counter({
    name: 'registry_http_requests_total',
    help: 'Requests, by operation and status.',
    labelNames: ['operation', 'status'],
  })
  const durations = new Histogram({
    name: 'registry_http_request_duration_seconds',
    help: 'Time from a request to its response, by operation.',
    labelNames: ['operation'],
    buckets,
  })
  const creates = new Counter({
    name: 'registry_creates_total',
    help: 'Rows created, by operation.',
    labelNames: ['operation'],
  })
  const unavailable = new Counter({
    name: 'registry_unavailable_total',
    help: 'Responses with 503, by reason.',
    labelNames: ['reason'],
  })
  // An increase from nothing to one is none to Prometheus.
  for (const reason of reasons) unavailable.inc({ reason }, 0)
  return ({ operation, status, duration, replayed, reason = 'unavailable' }) => {
    requests.inc({ operation, status })
    if (status === 503) unavailable.inc({ reason })
    durations.observe({ operation }, duration / 1000)
    if (status === 201 && !replayed) creates.inc({ operation })
  }
}

type Metrics = Awaited<ReturnType<typeof register.getMetricsAsJSON>>

const question = 'registry:metrics'

/** How long a worker may take to reply, in milliseconds; after that, its last known metrics are used. */
const replyTimeoutMs = 1_000

export const replyToSupervisor = (): void => {
  process.on('message', async (message) => {
    if (message === question) process.send?.({ metrics: await register.getMetricsAsJSON() })
  })
}

const sumMetrics = (metrics: readonly Metrics[]) => AggregatorRegistry.aggregate(metrics as never)

/** Counters and histograms, which never decrease. */
const isCumulative = ({ type }: { type: unknown }): boolean => type === 'counter' || type === 'histogram'

/**
 * Makes the function that returns the metrics of all workers as text; `restarts` is how many were replaced. Not prom-client's own
 * clusterMetrics(): it forgets the counts of dead workers, and a worker that hangs fails the whole scrape.
 */
export const workerMetrics = (restarts: () => number): (() => Promise<string>) => {
  registerRestarts(() => ({ process: restarts() }))
  const newest = new Map<number, Metrics>()
  /** The counts of workers that have died: without them the sums would decrease, and rates would show a peak. */
  let ended: Promise<Metrics> = Promise.resolve([])
  const add = async (before: Promise<Metrics>, last: Metrics): Promise<Metrics> =>
    sumMetrics([await before, last.filter(isCumulative)]).getMetricsAsJSON()
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
    const primaryMetrics = await register.getMetricsAsJSON()
    // Taken together, so that a worker that dies now is counted once.
    const [before, alive] = [ended, [...newest.values()]]
    return sumMetrics([await before, ...alive, primaryMetrics]).metrics()
  }
}
