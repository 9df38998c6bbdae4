/** How the service does, for Prometheus: on a port of its own, so that who may call and who may watch are kept apart. */
import cluster from 'node:cluster'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, register } from 'prom-client'
import type { Storage } from '../storage/storage.js'
import type { OnRequest } from './requestLog.js'

const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Makes the metrics of this process; the function counts an exchange. */
export const requestMetrics = (storage: Storage): OnRequest => {
  // A worker answers the supervisor, which adds up what all of them have counted.
  if (cluster.isWorker) new AggregatorRegistry()
  collectDefaultMetrics()
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Requests answered, by operation and status.',
    labelNames: ['operation', 'status'],
  })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from a request’s arrival to its answer, by operation.',
    labelNames: ['operation'],
    buckets,
  })
  const creates = new Counter({
    name: 'resource_creates_total',
    help: 'Rows that were stored, by operation.',
    labelNames: ['operation'],
  })
  new Gauge({
    name: 'resource_rows',
    help: 'Rows there are, by resource.',
    labelNames: ['resource'],
    aggregator: 'first',
    async collect() {
      // While the database does not answer, what it last said would be a guess.
      this.reset()
      const counts = await storage.counts().catch(() => new Map())
      for (const [{ path }, rows] of counts) this.set({ resource: path }, rows)
    },
  })
  return ({ operation, status, duration, replayed }) => {
    requests.inc({ operation, status })
    durations.observe({ operation }, duration / 1000)
    if (status === 201 && !replayed) creates.inc({ operation })
  }
}

/** Serves the metrics of this process, or of all workers of this supervisor; answers with their address. */
export const serveMetrics = async (host: string, port: number): Promise<string> => {
  const ofWorkers =
    cluster.isPrimary && Object.keys(cluster.workers ?? {}).length > 0 ? new AggregatorRegistry() : undefined
  const server = createServer(async ({ url, method }, response) => {
    if (url !== '/metrics' || (method !== 'GET' && method !== 'HEAD')) return void response.writeHead(404).end()
    try {
      const text = await (ofWorkers ? ofWorkers.clusterMetrics() : register.metrics())
      response.writeHead(200, { 'Content-Type': register.contentType }).end(text)
    } catch {
      response.writeHead(503).end()
    }
  })
  server.unref()
  server.listen(port, host)
  await once(server, 'listening')
  const { port: taken } = server.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${taken}/metrics`
}
