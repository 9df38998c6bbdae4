/** Starts the service: reads the settings, opens the database, builds the app, listens, and drains on SIGTERM. */
import cluster from 'node:cluster'
import { basePath } from './engine/contract/service.js'
import { loadRegistry } from './engine/descriptor/load.js'
import { nearest } from './engine/descriptor/nearest.js'
import type { Registry } from './engine/descriptor/registry.js'
import { RegistryError } from './engine/descriptor/registryError.js'
import { createApp } from './engine/http/app.js'
import { docsPath } from './engine/http/docs.js'
import { listen } from './engine/http/listen.js'
import { createLogger } from './engine/log.js'
import { notices } from './engine/notices.js'
import {
  publicDatabaseUrl,
  readSettings,
  type Settings,
  SettingsError,
  settingNames,
  settingsHelp,
  settingWarnings,
} from './engine/settings.js'
import { onStopSignal } from './engine/stopSignals.js'
import { openStorage } from './engine/storage/open.js'
import type { Opened } from './engine/storage/options.js'
import { type Storage, StorageError } from './engine/storage/storage.js'
import { freePort, supervise } from './engine/supervise.js'
import { folders, middleware, product } from './product.js'
import { runCommand } from './support/options.js'

/** Reports the progress of indexing existing rows, at most once per second. */
let lastReport = 0
const reportIndexing = (table: string, done: number, total: number): void => {
  if (total < 100_000 || Date.now() - lastReport < 1000) return
  lastReport = Date.now()
  const message = `Indexing ${table}: ${done.toLocaleString('en')} of ${total.toLocaleString('en')} rows`
  notices.info(message, { table, done, total })
}

const reportOpened = (url: string, { created, demo }: Opened): void => {
  const database = publicDatabaseUrl(url)
  const what = url.startsWith('sqlite:') ? `the database ${database}` : `the tables in ${database}`
  const message = created
    ? `Created ${what}, ${demo ? 'with the demo data' : 'without demo data'}.`
    : `Opened the database ${database}${demo ? ', which was empty, and loaded the demo data' : ''}.`
  notices.info(message, { database, created, demo })
}

const open = (registry: Registry, settings: Settings): Promise<Storage> =>
  openStorage(registry, settings.DATABASE_URL, {
    demo: settings.DEMO_DATA,
    cacheBytes: settings.CACHE_MB * 1024 * 1024,
    readTimeoutMs: settings.READ_TIMEOUT_MS,
    pool: {
      size: settings.POOL_SIZE,
      waitMs: settings.POOL_WAIT_MS,
      idleMs: settings.POOL_IDLE_MS,
      statementMs: settings.READ_TIMEOUT_MS,
    },
    progress: reportIndexing,
    warn: notices.warn,
    // The supervisor has opened the database before its workers, and reported it.
    opened: (event) => cluster.isPrimary && reportOpened(settings.DATABASE_URL, event),
  })

/** Loaded only if METRICS_PORT is set. */
const loadMetrics = () => import('./engine/http/metrics.js')

/** An error of listening, with the setting that caused it. */
interface ListenError extends Error {
  readonly code?: string
  readonly port?: number
  setting?: 'PORT' | 'METRICS_PORT'
}

const withSetting = (setting: ListenError['setting'] & string) => (error: ListenError) => {
  throw Object.assign(error, { setting })
}

/** Shorter tokens can be guessed by brute force. */
const minTokenLength = 16

const reportReady = async (address: string, { API_TOKEN, METRICS_PORT, HOST }: Settings): Promise<void> => {
  if (METRICS_PORT !== undefined) {
    const { serveMetrics } = await loadMetrics()
    const url = await serveMetrics(HOST, METRICS_PORT).catch(withSetting('METRICS_PORT'))
    notices.info(`Metrics at ${url}`, { metrics: url })
  }
  const writes = API_TOKEN === undefined ? 'disabled (set API_TOKEN to enable them)' : 'enabled'
  notices.info(`Ready at ${address}${basePath} · docs at ${address}${docsPath} · writes ${writes}`, { address })
}

const reportWarnings = ({ API_TOKEN }: Settings): void => {
  for (const warning of settingWarnings(process.env)) notices.warn(warning)
  if (API_TOKEN !== undefined && API_TOKEN.length < minTokenLength) {
    notices.warn(`API_TOKEN has fewer than ${minTokenLength} characters and is easy to guess; use a longer one.`)
  }
}

/** Kills this process: process.exit() waits for worker threads, and one in a long query does not stop. */
const exitNow = (): never => {
  // Flushes the log.
  process.emit('exit', 1)
  process.kill(process.pid, 'SIGKILL')
  throw new Error('unreachable')
}

/** Serves in this process until a signal stops it; resolves with its address. */
const serve = async (registry: Registry, settings: Settings): Promise<string> => {
  const storage = await open(registry, settings)
  const service = { product, registry, storage, token: settings.API_TOKEN, middleware }
  const onRequest = settings.METRICS_PORT === undefined ? undefined : (await loadMetrics()).requestMetrics(storage)
  const app = createApp(service, createLogger(settings.LOG_LEVEL), onRequest)
  const { address, stop } = await listen(app, { host: settings.HOST, port: settings.PORT }).catch(withSetting('PORT'))
  const drain = async () => {
    const { DRAIN_TIMEOUT_MS } = settings
    setTimeout(() => {
      notices.error(`The process did not stop within ${DRAIN_TIMEOUT_MS} ms (DRAIN_TIMEOUT_MS); killing it.`)
      exitNow()
    }, DRAIN_TIMEOUT_MS)
    await stop()
    await storage.close()
    process.exit(0)
  }
  // Ctrl+C reaches workers and supervisor alike; the supervisor then sends SIGTERM to its workers.
  if (cluster.isWorker) process.on('SIGINT', () => {})
  onStopSignal(cluster.isWorker ? ['SIGTERM'] : ['SIGTERM', 'SIGINT'], drain, exitNow)
  return address
}

const start = async (): Promise<void> => {
  const settings = readSettings(process.env)
  const registry = await loadRegistry(folders)
  if (cluster.isWorker) return void (await serve(registry, settings))
  reportWarnings(settings)
  if (settings.WORKERS === 1) return reportReady(await serve(registry, settings), settings)
  // Creates missing tables and indexes once, before the workers open the database.
  await (await open(registry, settings)).close()
  const port = settings.PORT === 0 ? await freePort(settings.HOST).catch(withSetting('PORT')) : settings.PORT
  const { WORKERS: count, DRAIN_TIMEOUT_MS: drainMs } = settings
  await supervise({ module: import.meta.filename, count, port, drainMs })
  const host = settings.HOST.includes(':') ? `[${settings.HOST}]` : settings.HOST
  await reportReady(`http://${host}:${port}`, settings)
}

/** The message for an error at start: one line if the operator can fix it, otherwise the stack. */
const explain = (error: ListenError): string => {
  const { code, port, setting } = error
  if (setting && code === 'EADDRINUSE')
    return `Port ${port} is in use; set ${setting} to another port, or to 0 for any free port.`
  if (setting && code === 'EACCES') return `This user may not listen on port ${port}; set ${setting} to another port.`
  if (setting && (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')) {
    return 'HOST is not an address of this machine; use 127.0.0.1 or 0.0.0.0.'
  }
  const isExpected = error instanceof SettingsError || error instanceof RegistryError || error instanceof StorageError
  return isExpected ? error.message : (error.stack ?? error.message)
}

await runCommand(
  {
    name: 'npm start',
    about: 'Starts the service.',
    options: {},
    notes: `Settings are environment variables:\n${settingsHelp()}`,
    example: 'PORT=4000 API_TOKEN=demo-token-0123456789 npm start',
    hint(option) {
      const setting = nearest(option.toUpperCase().replaceAll('-', '_'), settingNames) ?? 'PORT'
      return `Settings are environment variables: ${setting}=… npm start`
    },
  },
  () =>
    start().catch((error: Error) => {
      console.error(explain(error))
      process.exit(1)
    }),
)
