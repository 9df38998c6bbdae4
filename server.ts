/** Starts the service: settings → database → app → listen → drain. */
import cluster from 'node:cluster'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { basePath, docsPath } from './engine/contract/service.js'
import { loadRegistry } from './engine/descriptor/load.js'
import { parseKeys } from './engine/http/keys.js'
import { listen } from './engine/http/listen.js'
import type { InFlight, OnRequest } from './engine/http/requestLog.js'
import { usedNames } from './engine/http/sessions.js'
import {
  loadCode,
  openApp,
  openCredentials,
  openDatabase,
  openWebhooks,
  type Project,
  statementTrace,
  type Webhooks,
} from './engine/open.js'
import { commandLine } from './engine/process/commandLine.js'
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
import { endDuringStart, onStopSignal } from './engine/process/stopSignals.js'
import { supervise } from './engine/process/supervise.js'
import { loadProduct } from './engine/product.js'
import { emptyResources, type Storage } from './engine/storage/storage.js'
import type { Trace } from './engine/storage/trace.js'
import { defineCommand } from './support/options.js'

/** Opens the database, and reports what happens to it. */
const openReported = async (project: Project, trace?: Trace): Promise<Storage> => {
  const { settings, registry } = project
  const storage = await openDatabase(project, {
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
const startMetrics = async (
  storage: Storage,
  inFlight: InFlight,
  webhooks: Webhooks | undefined,
  { product, settings: { DATABASE_URL } }: Project,
): Promise<OnRequest> => {
  const { registerMetrics, replyToSupervisor } = await import('./engine/http/metrics.js')
  if (cluster.isWorker) replyToSupervisor()
  const database = DATABASE_URL.startsWith('sqlite:') ? 'sqlite' : 'postgres'
  // The folder of a build has its number: build-12.
  const build = { version: product.version, build: basename(import.meta.dirname), node: process.version, database }
  const path = sqlitePath(DATABASE_URL)
  const folder = path === undefined || path === ':memory:' ? undefined : dirname(path)
  return registerMetrics({ storage, inFlight, webhooks, build, folder })
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

const alternatives = new Intl.ListFormat('en', { type: 'disjunction' })

/** Where to look, and how to sign in, for a project that says where its keys are. */
const describeSignIn = (address: string, { registry, operations, settings }: Project): string => {
  const { API_KEYS_FILE, API_TOKEN, JWT_AUDIENCE } = settings
  const roles = [...usedNames({ registry, operations }).usedRoles].filter(
    (role) => !/^(?:public|signed-in)$/.test(role),
  )
  const makeKey = commandLine('key', `NAME --role ${roles[0] ?? 'ROLE'}`)
  const otherRoles = roles.length > 1 ? ` (or ${alternatives.format(roles.slice(1))})` : ''
  const keys = existsSync(API_KEYS_FILE) ? parseKeys(readFileSync(API_KEYS_FILE, 'utf8')) : []
  const names = [...keys.slice(0, 3).map(({ name }) => name), ...(keys.length > 3 ? ['others'] : [])]
  const how =
    keys.length > 0
      ? ` and sign in with the key of ${alternatives.format(names)}, printed when it was made. To make another`
      : `.${API_TOKEN || JWT_AUDIENCE ? '' : ' Nobody can sign in yet.'} To make a key`
  return `Open ${address}${how}: ${makeKey}${otherRoles}`
}

interface Started {
  readonly address: string
  readonly writes: string
}

/** Serves in this process until a signal stops it. */
const serve = async (project: Project): Promise<Started> => {
  // The heap is collected when it has grown by half: 600 slow downloads leave 85 MB less garbage, and requests take no longer.
  setFlagsFromString('--heap-growing-percent=50')
  const { settings } = project
  const logger = createLogger(settings.LOG_LEVEL)
  const credentials = openCredentials(settings, (message) => notices.warn(message))
  const storage = await openReported(project, statementTrace(logger))
  const writes = await describeWrites(storage, settings)
  const inFlight = { count: 0, waiting: 0 }
  const webhooks = await openWebhooks(project, storage, (message) => notices.warn(message))
  const onRequest =
    settings.METRICS_PORT === undefined ? undefined : await startMetrics(storage, inFlight, webhooks, project)
  let isStopping = false
  const app = openApp(project, { storage, credentials, logger, onRequest, inFlight, isStopping: () => isStopping })
  const target = { host: settings.HOST, port: settings.PORT, keepAliveMs: settings.KEEP_ALIVE_S * 1000 }
  const { address, stop } = await listen(app, target).catch(explainListenError('PORT'))
  // Node would end the process, and every request with it, for a promise that code of the project has forgotten.
  process.on('unhandledRejection', (error) => logger.error({ err: error }, 'code failed that nobody waited for'))
  onStopSignal(settings, async () => {
    isStopping = true
    app.stop()
    // Another process goes on with them meanwhile.
    const sent = webhooks?.stop()
    // Load balancers see that /readyz fails and stop sending requests; until then, requests are served.
    if (settings.DRAIN_DELAY_MS > 0) await sleep(settings.DRAIN_DELAY_MS)
    await stop()
    await sent
    await storage.close()
    if (cluster.isPrimary) notices.info('Stopped; every request has its response.')
    process.exit(0)
  })
  return { address, writes }
}

/** Serves in several processes. */
const serveInWorkers = async (project: Project): Promise<Started> => {
  const { settings } = project
  // Creates missing tables and indexes once, before the workers open the database.
  const storage = await openReported(project)
  const writes = await describeWrites(storage, settings)
  await storage.close()
  const countRestart = () => restarts++
  const main = join(import.meta.dirname, 'cli', 'main.js')
  const address = await supervise(main, ['start'], settings, countRestart).catch(explainListenError('PORT'))
  return { address, writes }
}

const start = async (): Promise<void> => {
  endDuringStart()
  // First, because a misspelt setting may be why another one is invalid.
  if (cluster.isPrimary) for (const warning of settingWarnings(process.env)) notices.warn(warning)
  const folder = process.cwd()
  const file = await loadProduct(folder)
  const settings = readSettings(process.env, file.product)
  const registry = await loadRegistry(folder, (message) => cluster.isPrimary && notices.warn(message))
  const project = { ...file, registry, settings, ...(await loadCode(folder, registry)) }
  const serveAll = cluster.isPrimary && settings.WORKERS > 1 ? serveInWorkers : serve
  const { address, writes } = await serveAll(project)
  if (cluster.isWorker) return

  if (settings.METRICS_PORT !== undefined) await serveMetrics(settings)
  const explorer = settings.EXPLORER ? ` · explorer at ${address}` : ''
  notices.info(
    { address },
    `Ready at ${address}${basePath} · docs at ${address}${docsPath}${explorer} · writes ${writes}`,
  )
  if (settings.EXPLORER && file.product.keysFile !== undefined) notices.info(describeSignIn(address, project))
}

const command = {
  name: 'start',
  about: 'Starts the service.',
  options: {},
  notes: `Settings are environment variables:\n${settingsHelp()}`,
  exampleSettings: 'PORT=4000 API_TOKEN=demo-token-0123456789',
  example: '',
  hint: settingHint,
}

export default defineCommand(command, start)
