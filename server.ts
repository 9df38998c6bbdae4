/** Starts the service: settings → database → app → listen → drain. */
import cluster from 'node:cluster'
import { basename, dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { basePath, docsPath } from './engine/contract/service.js'
import { loadRegistry } from './engine/descriptor/load.js'
import { loadOperations } from './engine/descriptor/operationFiles.js'
import type { Registry } from './engine/descriptor/registry.js'
import { createApp } from './engine/http/app.js'
import type { Credentials } from './engine/http/callers.js'
import { openKeys } from './engine/http/keys.js'
import { listen } from './engine/http/listen.js'
import { currentRequest, type InFlight, type OnRequest } from './engine/http/requestLog.js'
import { tokenVerifier } from './engine/http/tokens.js'
import { sqlitePath } from './engine/process/databaseUrl.js'
import { createLogger, notices } from './engine/process/log.js'
import {
  explainListenError,
  readSettings,
  type Settings,
  settingHint,
  settingsHelp,
  settingWarnings,
} from './engine/process/settings.js'
import { reportIndexing, reportOpened, reportUnfilled } from './engine/process/startReports.js'
import { onStopSignal } from './engine/process/stopSignals.js'
import { supervise } from './engine/process/supervise.js'
import { openStorage } from './engine/storage/open.js'
import { emptyResources, type Storage } from './engine/storage/storage.js'
import type { Trace } from './engine/storage/trace.js'
import { folders, middleware, product } from './product.js'
import { runCommand } from './support/options.js'

const openDatabase = async (registry: Registry, settings: Settings, trace?: Trace): Promise<Storage> => {
  const storage = await openStorage(registry, settings.DATABASE_URL, {
    demo: settings.DEMO_DATA,
    cacheBytes: settings.CACHE_MB * 1024 * 1024,
    readTimeoutMs: settings.READ_TIMEOUT_MS,
    pool: {
      size: settings.POOL_SIZE,
      waitMs: settings.POOL_WAIT_MS,
      idleMs: settings.POOL_IDLE_MS,
      statementMs: settings.READ_TIMEOUT_MS,
      preparedStatements: settings.PREPARED_STATEMENTS,
    },
    derivedObjects: settings.DERIVED_OBJECTS,
    readUrls: settings.DATABASE_READ_URL,
    startWaitMs: settings.DATABASE_WAIT_MS,
    progress: reportIndexing,
    warn: (message) => notices.warn(message),
    trace,
    // The supervisor has opened the database before its workers, and reported it.
    opened: (event) => cluster.isPrimary && reportOpened(settings.DATABASE_URL, event),
  })
  if (cluster.isPrimary && settings.DEMO_DATA) reportUnfilled(await emptyResources(storage, registry))
  return storage
}

/** Registers the metrics of this process. prom-client is loaded only if METRICS_PORT is set. */
const startMetrics = async (storage: Storage, inFlight: InFlight, { DATABASE_URL }: Settings): Promise<OnRequest> => {
  const { registerMetrics, replyToSupervisor } = await import('./engine/http/metrics.js')
  if (cluster.isWorker) replyToSupervisor()
  const database = DATABASE_URL.startsWith('sqlite:') ? 'sqlite' : 'postgres'
  // The build's folder is named after the digest of its sources.
  const build = { version: product.version, build: basename(import.meta.dirname), node: process.version, database }
  const path = sqlitePath(DATABASE_URL)
  const folder = path === undefined || path === ':memory:' ? undefined : dirname(path)
  return registerMetrics({ storage, inFlight, build, folder })
}

let restarts = 0

/** Serves the metrics of this process, or of its workers. */
const serveMetrics = async ({ HOST, METRICS_PORT = 0, WORKERS }: Settings): Promise<void> => {
  const server = await import('./engine/http/metrics.js')
  const ofWorkers = WORKERS > 1 ? server.workerMetrics(() => restarts) : undefined
  const metrics = await server.serveMetrics(HOST, METRICS_PORT, ofWorkers).catch(explainListenError('METRICS_PORT'))
  notices.info({ metrics }, `Metrics at ${metrics}`)
}

/** Whether clients can write, in words. */
const describeWrites = async (
  storage: Storage,
  { API_TOKEN, API_KEYS_FILE, JWT_AUDIENCE }: Settings,
): Promise<string> => {
  if (!API_TOKEN && !API_KEYS_FILE && !JWT_AUDIENCE) return 'disabled (set API_TOKEN to enable them)'
  const { isReadOnly, mayWrite = true } = await storage.ping()
  if (isReadOnly) return 'disabled (the database is read-only)'
  return mayWrite ? 'enabled' : 'disabled (the role in DATABASE_URL may only read)'
}

interface Started {
  readonly address: string
  readonly writes: string
}

/** Where callers other than the one with the write token are known from; throws if the file of keys cannot be used. */
const openCredentials = ({
  API_KEYS_FILE,
  JWT_ISSUER,
  JWT_SECRET,
  JWT_AUDIENCE,
  JWT_ROLES_CLAIM,
}: Settings): Credentials => {
  const warn = (message: string) => notices.warn(message)
  const options = { issuer: JWT_ISSUER, secret: JWT_SECRET, audience: JWT_AUDIENCE ?? '', rolesClaim: JWT_ROLES_CLAIM }
  return {
    ...(API_KEYS_FILE !== '' && { keys: openKeys(API_KEYS_FILE, warn) }),
    ...((JWT_ISSUER ?? JWT_SECRET) && { verifyToken: tokenVerifier(options, warn), settings: JSON.stringify(options) }),
  }
}

/** Serves in this process until a signal stops it. */
const serve = async (registry: Registry, settings: Settings): Promise<Started> => {
  const operations = await loadOperations(folders.operations, registry)
  const logger = createLogger(settings.LOG_LEVEL)
  const trace: Trace | undefined = logger.isLevelEnabled('debug')
    ? (message, fields) => logger.debug({ id: currentRequest.getStore(), ...fields }, message)
    : undefined
  const credentials = openCredentials(settings)
  const storage = await openDatabase(registry, settings, trace)
  const writes = await describeWrites(storage, settings)
  const inFlight = { count: 0 }
  const onRequest = settings.METRICS_PORT === undefined ? undefined : await startMetrics(storage, inFlight, settings)
  const { API_TOKEN: token, EXPLORER: explorer, MAX_DOWNLOADS: maxDownloads, SESSION_SECRET: sessionSecret } = settings
  let isStopping = false
  const isStopped = () => isStopping
  const access = { token, credentials, sessionSecret }
  const service = {
    product,
    registry,
    storage,
    operations,
    ...access,
    explorer,
    maxDownloads,
    middleware,
    isStopping: isStopped,
  }
  const app = createApp(service, logger, onRequest, inFlight)
  const target = { host: settings.HOST, port: settings.PORT, keepAliveMs: settings.KEEP_ALIVE_S * 1000 }
  const { address, stop } = await listen(app, target).catch(explainListenError('PORT'))
  onStopSignal(settings, async () => {
    isStopping = true
    // Load balancers see that /readyz fails and stop sending requests; until then, requests are served.
    if (settings.DRAIN_DELAY_MS > 0) await sleep(settings.DRAIN_DELAY_MS)
    await stop()
    await storage.close()
    if (cluster.isPrimary) notices.info('Stopped; every request has its response.')
    process.exit(0)
  })
  return { address, writes }
}

/** Serves in several processes, each of which runs this file. */
const serveInWorkers = async (registry: Registry, settings: Settings): Promise<Started> => {
  // Creates missing tables and indexes once, before the workers open the database.
  const storage = await openDatabase(registry, settings)
  const writes = await describeWrites(storage, settings)
  await storage.close()
  const countRestart = () => restarts++
  const address = await supervise(import.meta.filename, settings, countRestart).catch(explainListenError('PORT'))
  return { address, writes }
}

const start = async (): Promise<void> => {
  // First, because a misspelt setting may be why another one is invalid.
  if (cluster.isPrimary) for (const warning of settingWarnings(process.env)) notices.warn(warning)
  const settings = readSettings(process.env, product.database)
  const registry = await loadRegistry(folders, (message) => cluster.isPrimary && notices.warn(message))
  const serveAll = cluster.isPrimary && settings.WORKERS > 1 ? serveInWorkers : serve
  const { address, writes } = await serveAll(registry, settings)
  if (cluster.isWorker) return

  if (settings.METRICS_PORT !== undefined) await serveMetrics(settings)
  const explorer = settings.EXPLORER ? ` · explorer at ${address}` : ''
  notices.info(
    { address },
    `Ready at ${address}${basePath} · docs at ${address}${docsPath}${explorer} · writes ${writes}`,
  )
}

const command = {
  name: 'npm start',
  about: 'Starts the service.',
  options: {},
  notes: `Settings are environment variables:\n${settingsHelp()}`,
  example: 'PORT=4000 API_TOKEN=demo-token-0123456789 npm start',
  hint: settingHint,
}

await runCommand(command, start)
