/** Starts the service: reads the settings, opens the database, builds the app, listens, and drains when told to stop. */
import cluster from 'node:cluster'
import { basePath } from './engine/contract/service.js'
import { RegistryError } from './engine/descriptor/fault.js'
import { loadRegistry } from './engine/descriptor/load.js'
import type { Registry } from './engine/descriptor/registry.js'
import { createApp } from './engine/http/app.js'
import { docsPath } from './engine/http/docs.js'
import { listen } from './engine/http/listen.js'
import { createLogger } from './engine/log.js'
import { readSettings, type Settings, SettingsError } from './engine/settings.js'
import { openStorage } from './engine/storage/open.js'
import { type Storage, StorageError } from './engine/storage/storage.js'
import { freePort, supervise } from './engine/supervise.js'
import { folders, middleware, product } from './product.js'

/** Says, at most once a second, how far the indexing of rows from before has come. */
let lastSaid = 0
const indexingLine = (table: string, done: number, total: number): void => {
  if (total < 100_000 || Date.now() - lastSaid < 1000) return
  lastSaid = Date.now()
  console.log(`Indexing ${table}: ${done.toLocaleString('en')} of ${total.toLocaleString('en')} rows`)
}

const open = (registry: Registry, settings: Settings): Promise<Storage> =>
  openStorage(registry, settings.DATABASE_URL, {
    demo: settings.DEMO_DATA,
    readyBytes: settings.READY_MB * 1024 * 1024,
    pool: {
      size: settings.POOL_SIZE,
      waitMs: settings.POOL_WAIT_MS,
      idleMs: settings.POOL_IDLE_MS,
      statementMs: settings.STATEMENT_TIMEOUT_MS,
    },
    progress: indexingLine,
    warn: console.warn,
  })

/** Loaded only where they are wanted. */
const metrics = () => import('./engine/http/metrics.js')

/** A token that is shorter can be guessed by asking often enough. */
const shortToken = 16

const sayReady = async (address: string, { API_TOKEN, METRICS_PORT, HOST }: Settings): Promise<void> => {
  if (METRICS_PORT !== undefined) {
    console.log(`Metrics at ${await (await metrics()).serveMetrics(HOST, METRICS_PORT)}`)
  }
  if (API_TOKEN !== undefined && API_TOKEN.length < shortToken) {
    console.warn(`API_TOKEN has fewer than ${shortToken} characters, which is easily guessed; take a longer one.`)
  }
  const writes = API_TOKEN === undefined ? 'disabled (set API_TOKEN to enable them)' : 'enabled'
  console.log(`Ready at ${address}${basePath} · docs at ${address}${docsPath} · writes ${writes}`)
}

/** Serves in this process until it is told to stop; answers with its address. */
const serve = async (registry: Registry, settings: Settings): Promise<string> => {
  const storage = await open(registry, settings)
  const service = { product, registry, storage, token: settings.API_TOKEN, middleware }
  const record = settings.METRICS_PORT === undefined ? undefined : (await metrics()).requestMetrics(storage)
  const app = createApp(service, createLogger(settings.LOG_LEVEL), record)
  const { address, stop } = await listen(app, { host: settings.HOST, port: settings.PORT })
  let stopping = false
  const drain = async () => {
    // Whoever asks twice does not want to wait.
    if (stopping) process.exit(1)
    stopping = true
    await stop()
    await storage.close()
    process.exit(0)
  }
  process.on('SIGTERM', drain)
  // A terminal interrupts workers together with their supervisor, which is the one to tell them.
  process.on('SIGINT', cluster.isWorker ? () => {} : drain)
  return address
}

const start = async (): Promise<void> => {
  const settings = readSettings(process.env)
  const registry = await loadRegistry(folders)
  if (cluster.isWorker) {
    await serve(registry, settings)
  } else if (settings.WORKERS === 1) {
    await sayReady(await serve(registry, settings), settings)
  } else {
    // What the database lacks is made once, before the workers open it.
    await (await open(registry, settings)).close()
    const port = settings.PORT === 0 ? await freePort(settings.HOST) : settings.PORT
    await supervise(settings.WORKERS, port)
    await sayReady(`http://${settings.HOST.includes(':') ? `[${settings.HOST}]` : settings.HOST}:${port}`, settings)
  }
}

/** What stops a start and can be mended by whoever started it, in one clear message. */
const explain = (error: Error & { code?: string; port?: number }): string => {
  if (error.code === 'EADDRINUSE')
    return `Port ${error.port} is in use; set PORT to another one, or to 0 for any free one.`
  if (error.code === 'EACCES')
    return `Port ${error.port} needs rights that this user does not have; set PORT to another one.`
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return 'HOST is no address of this machine; 127.0.0.1 or 0.0.0.0 are.'
  }
  const known = error instanceof SettingsError || error instanceof RegistryError || error instanceof StorageError
  return known ? error.message : (error.stack ?? error.message)
}

start().catch((error: Error) => {
  console.error(explain(error))
  process.exit(1)
})
