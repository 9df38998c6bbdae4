/** Opens the parts of a service: its database, its credentials and its app, from a project that is loaded. */
import type { Logger } from 'pino'
import { loadHooks, type NamedHook } from './descriptor/hookFiles.js'
import { loadOperations, type NamedOperation } from './descriptor/operationFiles.js'
import type { Registry } from './descriptor/registry.js'
import { createApp } from './http/app.js'
import type { Credentials } from './http/callers.js'
import { openKeys } from './http/keys.js'
import { currentRequest, type InFlight, type OnRequest } from './http/requestLog.js'
import { tokenVerifier } from './http/tokens.js'
import type { Settings } from './process/settings.js'
import type { ProductFile } from './product.js'
import { loadMigrations, type MigrationFile } from './storage/migration/migrationFiles.js'
import { openStorage } from './storage/open.js'
import type { StorageOptions } from './storage/options.js'
import { pruneRegularly } from './storage/pruning.js'
import type { Storage } from './storage/storage.js'
import { createSender, type Sender } from './webhooks/sender.js'
import { openSubscribers } from './webhooks/subscribers.js'

/** The code of a project: that which runs within its service, and that which runs once on each database. */
interface Code {
  readonly operations: readonly NamedOperation[]
  readonly hooks: readonly NamedHook[]
  readonly migrations: readonly MigrationFile[]
}

/** A project that is loaded: what its files say, and the settings of this deployment. */
export interface Project extends ProductFile, Code {
  readonly registry: Registry
  readonly settings: Settings
}

/** Loads the files in `operations/`, `hooks/` and `migrations/`; throws with the errors of the first of them. */
export const loadCode = async (folder: string, registry: Registry): Promise<Code> => ({
  operations: await loadOperations(folder, registry),
  hooks: await loadHooks(folder, registry),
  migrations: loadMigrations(folder),
})

type Warn = (message: string) => void

export const openDatabase = (
  { registry, settings, migrations }: Project,
  options: Pick<StorageOptions, 'progress' | 'warn' | 'trace' | 'opened'>,
): Promise<Storage> =>
  openStorage(registry, settings.DATABASE_URL, {
    demo: settings.DEMO_DATA,
    cacheBytes: settings.CACHE_MB * 1024 * 1024,
    readTimeoutMs: settings.READ_TIMEOUT_MS,
    changesDays: settings.CHANGES_DAYS,
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
    files: migrations,
    ...options,
  })

/** Where callers other than the one with the write token are known from; throws if the file of keys cannot be used. */
export const openCredentials = (
  { API_KEYS_FILE, JWT_ISSUER, JWT_SECRET, JWT_AUDIENCE, JWT_ROLES_CLAIM }: Settings,
  warn: Warn,
): Credentials => {
  const options = { issuer: JWT_ISSUER, secret: JWT_SECRET, audience: JWT_AUDIENCE ?? '', rolesClaim: JWT_ROLES_CLAIM }
  return {
    ...(API_KEYS_FILE !== '' && { keys: openKeys(API_KEYS_FILE, warn) }),
    ...((JWT_ISSUER ?? JWT_SECRET) && { verifyToken: tokenVerifier(options, warn), settings: JSON.stringify(options) }),
  }
}

export interface Webhooks extends Pick<Sender, 'stats'> {
  /** Resolves when nothing needs the database any more. */
  stop(): Promise<void>
}

/** Begins to tell subscribers of changes, if there are any; throws if their file cannot be used. */
export const openWebhooks = async (
  { registry, settings }: Project,
  storage: Storage,
  warn: Warn,
): Promise<Webhooks | undefined> => {
  const { WEBHOOKS_FILE, WEBHOOKS_ALLOW_PRIVATE: allowPrivate } = settings
  if (WEBHOOKS_FILE === '') return undefined
  const onChange = () => sender.refresh()
  const file = openSubscribers(WEBHOOKS_FILE, { registry, allowPrivate, warn }, onChange)
  const sender = createSender({ storage, registry, subscribers: file.entries, allowPrivate, warn })
  await sender.start()
  return {
    stats: sender.stats,
    async stop() {
      file.close()
      await sender.stop()
    },
  }
}

/** What an app needs beside its project. */
interface AppParts {
  readonly storage: Storage
  readonly credentials: Credentials
  readonly logger: Logger
  readonly isStopping: () => boolean
  readonly onRequest?: OnRequest | undefined
  readonly inFlight?: InFlight
}

export const openApp = (
  project: Project,
  { storage, credentials, logger, isStopping, onRequest, inFlight }: AppParts,
) => {
  const { product, middleware, registry, operations, hooks, settings } = project
  const service = {
    product,
    registry,
    storage,
    operations,
    hooks,
    token: settings.API_TOKEN,
    credentials,
    sessionSecret: settings.SESSION_SECRET,
    explorer: settings.EXPLORER,
    maxDownloads: settings.MAX_DOWNLOADS,
    middleware,
    isStopping,
  }
  const app = createApp(service, logger, onRequest, inFlight)
  const stopPruning = pruneRegularly({ storage, registry, warn: (message) => logger.warn(message) })
  return {
    ...app,
    /** Ends what would go on by itself; what is asked for is still answered. */
    stop(): void {
      app.stopWaiting()
      stopPruning()
    },
  }
}

/** What a debug log says about each statement. */
export const statementTrace = (logger: Logger): StorageOptions['trace'] =>
  logger.isLevelEnabled('debug')
    ? (message, fields) => logger.debug({ id: currentRequest.getStore(), ...fields }, message)
    : undefined
