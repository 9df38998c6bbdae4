/** Prometheus metrics, served on a separate port so that API clients cannot read them. */
import cluster from 'node:cluster'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, register } from 'prom-client'
import type { Storage } from '../storage/storage.js'
import type { OnRequest } from './requestLog.js'

const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** How long the metrics wait for the row counts, in milliseconds. */
const patience = 100
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
    // A query that runs since the last scrape is not waited for again.
    if (!running) {
      running = count()
      await Promise.race([running, setTimeout(patience, undefined, { ref: false })])
    }
    return performance.now() - countedAt < maxAge ? counts : new Map()
  }
}

/** Registers the metrics of this process; the returned function counts a request. */
export const requestMetrics = (storage: Storage): OnRequest => {
  // Lets the supervisor collect and add up the metrics of its workers.
  if (cluster.isWorker) new AggregatorRegistry()
  collectDefaultMetrics()
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Requests, by operation and status.',
    labelNames: ['operation', 'status'],
  })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from a request to its response, by operation.',
    labelNames: ['operation'],
    buckets,
  })
  const creates = new Counter({
    name: 'resource_creates_total',
    help: 'Rows created, by operation.',
    labelNames: ['operation'],
  })
  const counts = promptCounts(storage)
  new Gauge({
    name: 'resource_rows',
    help: 'Rows, by resource.',
    labelNames: ['resource'],
    aggregator: 'first',
    async collect() {
      this.reset()
      for (const [{ path }, rows] of await counts()) this.set({ resource: path }, rows)
    },
  })
  return ({ operation, status, duration, replayed }) => {
    requests.inc({ operation, status })
    durations.observe({ operation }, duration / 1000)
    if (status === 201 && !replayed) creates.inc({ operation })
  }
}

/** Serves the metrics of this process, or of all workers of this supervisor; returns their address. */
export const serveMetrics = async (host: string, port: number): Promise<string> => {
  const workerMetrics =
    cluster.isPrimary && Object.keys(cluster.workers ?? {}).length > 0 ? new AggregatorRegistry() : undefined
  const server = createServer(async ({ url, method }, response) => {
    if (url !== '/metrics' || (method !== 'GET' && method !== 'HEAD')) return void response.writeHead(404).end()
    try {
      const text = await (workerMetrics ? workerMetrics.clusterMetrics() : register.metrics())
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
