/** The Prometheus metrics of this process, and the port that serves them. Those of the engine begin with `registry_`. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { Counter, collectDefaultMetrics, Gauge, Histogram, register } from 'prom-client'
import type { PoolStats, Storage } from '../storage/storage.js'
import type { InFlight, OnRequest } from './requestLog.js'

/** Serves metrics, by default those of this process; returns their address. */
export const serveMetrics = async (
  host: string,
  port: number,
  read: () => Promise<string> = () => register.metrics(),
): Promise<string> => {
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

/** How long the metrics wait for the row counts, in milliseconds. */
const countTimeoutMs = 100
/** How old counts may be, in milliseconds, while the database does not respond: then there is no sample. */
const maxAge = 60_000

type Counts = Awaited<ReturnType<Storage['counts']>>

/** The row counts, or the last known ones if the database does not respond at once. */
const promptCounts = (storage: Storage): (() => Promise<Counts>) => {
  let counts: Counts = new Map()
  let countedAt = Number.NEGATIVE_INFINITY
  let running: Promise<void> | undefined
  const count = async (): Promise<void> => {
    try {
      counts = await storage.counts()
      countedAt = performance.now()
    } catch {
      // The database is not available.
    } finally {
      running = undefined
    }
  }
  return async () => {
    // Does not wait again for a query that has been running since the last scrape.
    if (!running) {
      running = count()
      await Promise.race([running, setTimeout(countTimeoutMs, undefined, { ref: false })])
    }
    return performance.now() - countedAt < maxAge ? counts : new Map()
  }
}

/** What the metrics describe. */
interface Measured {
  readonly storage: Storage
  readonly inFlight: InFlight
  /** The labels of the build info. */
  readonly build: Readonly<Record<string, string>>
}

/** A metric whose value is read when it is scraped; the values of several workers are added. */
const readMetric = (name: string, help: string, read: () => number): void => {
  const Metric = name.endsWith('_total') ? Counter : Gauge
  new Metric({
    name,
    help,
    collect(this: Counter | Gauge) {
      this.reset()
      this.inc(read())
    },
  })
}

const registerCache = ({ storage }: Measured): void => {
  const cache = () => storage.stats().cache
  readMetric('registry_cache_hits_total', 'Reads answered from the response cache.', () => cache().hits)
  readMetric('registry_cache_misses_total', 'Reads not answered from the response cache.', () => cache().misses)
  readMetric('registry_cache_entries', 'Responses in the cache.', () => cache().entries)
  readMetric('registry_cache_bytes', 'Memory of the cached responses, about.', () => cache().bytes)
}

/** A gauge with a label, whose values are read when it is scraped. */
const readGauge = (
  name: string,
  help: string,
  label: string,
  read: () => Iterable<readonly [string, number]> | Promise<Iterable<readonly [string, number]>>,
  aggregator: 'sum' | 'first' = 'sum',
): void => {
  new Gauge({
    name,
    help,
    labelNames: [label],
    aggregator,
    async collect() {
      this.reset()
      for (const [key, value] of await read()) this.set({ [label]: key }, value)
    },
  })
}

const registerPools = ({ storage }: Measured): void => {
  const gauge = (name: string, help: string, read: (pool: PoolStats) => number) =>
    readGauge(name, `${help}, by part: requests, or checks of table versions.`, 'part', () =>
      storage.stats().pools.map((pool) => [pool.part, read(pool)] as const),
    )
  gauge('registry_pool_size', 'PostgreSQL: most connections', ({ size }) => size)
  gauge('registry_pool_open', 'PostgreSQL: open connections', ({ open }) => open)
  gauge('registry_pool_in_use', 'PostgreSQL: connections in use', ({ inUse }) => inUse)
  gauge('registry_pool_waiting', 'PostgreSQL: statements that wait for a connection', ({ waiting }) => waiting)
}

/** Counts workers that died, by kind; the supervisor counts processes, and each process its threads. */
export const registerRestarts = (read: () => Readonly<Partial<Record<'process' | 'thread', number>>>): void => {
  new Counter({
    name: 'registry_worker_restarts_total',
    help: 'Workers that died and were replaced, by kind: process or thread.',
    labelNames: ['kind'],
    collect() {
      this.reset()
      for (const [kind, count] of Object.entries(read())) this.inc({ kind }, count)
    },
  })
}

const registerProcess = ({ storage, inFlight, build }: Measured): void => {
  new Gauge({
    name: 'registry_build_info',
    help: 'Always 1; the labels describe the build.',
    labelNames: Object.keys(build),
    aggregator: 'first',
    collect() {
      this.set(build, 1)
    },
  })
  readMetric('registry_http_requests_in_flight', 'Requests without a complete response.', () => inFlight.count)
  readMetric('registry_workers', 'Processes that serve.', () => 1)
  registerRestarts(() => ({ thread: storage.stats().threadRestarts, process: 0 }))
}

const registerRows = ({ storage }: Measured): void => {
  const counts = promptCounts(storage)
  const rows = async () => [...(await counts())].map(([{ path }, count]) => [path, count] as const)
  readGauge('registry_rows', 'Rows, by resource.', 'resource', rows, 'first')
}

/** Registers the metrics of this process; the returned function counts a request. */
export const registerMetrics = (measured: Measured): OnRequest => {
  collectDefaultMetrics()
  registerProcess(measured)
  registerCache(measured)
  registerPools(measured)
  registerRows(measured)
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
  return ({ operation, status, duration, replayed }) => {
    requests.inc({ operation, status })
    durations.observe({ operation }, duration / 1000)
    if (status === 201 && !replayed) creates.inc({ operation })
  }
}
