/** A service made of a project's folder and settings, for custom servers and tests. */
import { once } from 'node:events'
import { existsSync, realpathSync } from 'node:fs'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { isAbsolute, join, resolve } from 'node:path'
import * as nodeStream from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { setTimeout as delay } from 'node:timers/promises'
import type Koa from 'koa'
import type { Product } from './contract/service.js'
import type { Identity } from './descriptor/access.js'
import { loadRegistry } from './descriptor/load.js'
import { didYouMean } from './descriptor/nearest.js'
import type { Registry } from './descriptor/registry.js'
import { listen } from './http/listen.js'
import { loadCode, openApp, openCredentials, openDatabase, openWebhooks, statementTrace } from './open.js'
import { sqlitePath } from './process/databaseUrl.js'
import { createLogger } from './process/log.js'
import { explainListenError, readSettings, type Settings, SettingsError, settingNames } from './process/settings.js'
import { loadProduct } from './product.js'

export interface ServiceOptions {
  /** The folder of the project, with `resources/`. */
  readonly folder: string
  /** The settings of the service, by their names; nothing is read from the environment. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface Service {
  /** The app, for a custom server; the middleware of `product.ts` is in it. */
  readonly app: Koa
  /** Answers a request without a port. */
  fetch(request: Request): Promise<Response>
  /** Listens at HOST and PORT; resolves with the address, such as `http://127.0.0.1:3000`. */
  listen(): Promise<string>
  /** Lets the requests in progress finish, and closes the database. */
  close(): Promise<void>
}

/** The settings of a service inside another program, whose paths are relative to the folder of the project. */
const readServiceSettings = (
  folder: string,
  given: Readonly<Record<string, string>>,
  { database, keysFile }: Product,
): Settings => {
  const unknown = Object.keys(given).find((name) => !settingNames.includes(name))
  if (unknown !== undefined)
    throw new SettingsError(
      `${unknown} is not a setting${didYouMean(unknown, settingNames) || '; docs/operations.md lists them'}`,
    )
  const within = (path: string | undefined) => (path && !isAbsolute(path) ? join(folder, path) : (path ?? ''))
  const paths = {
    API_KEYS_FILE: within(given['API_KEYS_FILE']),
    DATABASE_PASSWORD_FILE: within(given['DATABASE_PASSWORD_FILE']),
    WEBHOOKS_FILE: within(given['WEBHOOKS_FILE']),
  }
  const settings = readSettings({ ...given, ...paths }, { database, keysFile: within(keysFile) })
  if (settings.WORKERS > 1)
    throw new SettingsError('WORKERS is more than 1, but a service inside another program has one process')
  if (settings.METRICS_PORT !== undefined)
    throw new SettingsError(
      'METRICS_PORT is set, but the metrics are those of a process that only serves; leave it out',
    )
  const path = sqlitePath(settings.DATABASE_URL)
  return path === undefined || path === ':memory:' ? settings : { ...settings, DATABASE_URL: `sqlite:${within(path)}` }
}

/** Statuses whose responses have no body. */
const bodiless = new Set([204, 205, 304])

const responseFrom = (message: IncomingMessage, method: string): Response => {
  const headers = new Headers()
  for (let n = 0; n < message.rawHeaders.length; n += 2)
    headers.append(message.rawHeaders[n] as string, message.rawHeaders[n + 1] as string)
  const { statusCode: status = 0, statusMessage: statusText = '' } = message
  const hasBody = method !== 'HEAD' && !bodiless.has(status)
  if (!hasBody) message.resume()
  const body = hasBody ? (nodeStream.Readable.toWeb(message) as unknown as ReadableStream<Uint8Array>) : null
  return new Response(body as never, { status, statusText, headers })
}

/** In-memory connections: the server parses requests and writes responses as on a socket. */
const { duplexPair } = nodeStream as unknown as { duplexPair(): [nodeStream.Duplex, nodeStream.Duplex] }

/** Both sides of a connection; like a socket, each is closed with the other. */
const connect = (): [client: nodeStream.Duplex, server: nodeStream.Duplex] => {
  const [client, server] = duplexPair()
  client.once('close', () => server.destroy())
  server.once('close', () => client.destroy())
  return [client, server]
}

/** What tests replace of a project. */
interface Replacements {
  readonly registry?: (registry: Registry) => Registry
  /** Finds the caller with a key by the digest of the key. */
  readonly findCaller?: (digest: string) => Identity | undefined
}

/** Opens a project as a service; throws if its files, its settings or its database cannot be used. */
export const createService = (options: ServiceOptions): Promise<Service> => openService(options)

export const openService = async (
  { folder: given, settings: strings = {} }: ServiceOptions,
  { registry: replace = (registry) => registry, findCaller }: Replacements = {},
): Promise<Service> => {
  // Node names the files of a folder behind a link by their real paths.
  const folder = existsSync(given) ? realpathSync(given) : resolve(given)
  const file = await loadProduct(folder)
  const settings = readServiceSettings(folder, strings, file.product)
  const logger = createLogger(settings.LOG_LEVEL)
  const warn = (message: string) => logger.warn(message)
  const registry = replace(await loadRegistry(folder, warn))
  const project = { ...file, ...(await loadCode(folder, registry)), settings, registry }
  const credentials = findCaller ? { keys: { find: findCaller, close() {} } } : openCredentials(settings, warn)
  const storage = await openDatabase(project, { progress: () => {}, warn, trace: statementTrace(logger) })
  const webhooks = await openWebhooks(project, storage, warn).catch(async (error) => {
    await storage.close()
    throw error
  })
  let closing: Promise<void> | undefined
  const parts = { storage, credentials, logger, isStopping: () => closing !== undefined }
  const app = openApp(project, parts)
  const inMemory = createServer({ requireHostHeader: false }, (request, response) => {
    response.once('prefinish', () => request.socket.emit('answered'))
    app.handle(request, response)
  })
  /** The requests without a port that need the database still. */
  const inProgress = new Set<Promise<unknown>>()
  let listening: ReturnType<typeof listen> | undefined

  const fetch = (request: Request): Promise<Response> =>
    new Promise((resolveResponse, reject) => {
      const { pathname, search, host } = new URL(request.url)
      const [client, server] = connect()
      const answer = Promise.race([once(server, 'answered'), once(server, 'close')])
      inProgress.add(answer)
      void answer.finally(() => inProgress.delete(answer))
      const headers = { host, connection: 'close', ...Object.fromEntries(request.headers) }
      const outgoing = httpRequest({
        method: request.method,
        path: `${pathname}${search}`,
        headers,
        createConnection: () => client as never,
      })
      outgoing.on('response', (message) => resolveResponse(responseFrom(message, request.method)))
      outgoing.on('error', reject)
      const giveUp = () => outgoing.destroy(request.signal.reason as Error)
      if (request.signal.aborted) giveUp()
      else request.signal.addEventListener('abort', giveUp, { once: true })
      inMemory.emit('connection', server)
      if (request.body)
        nodeStream.Readable.fromWeb(request.body as unknown as ReadableStream)
          .on('error', reject)
          .pipe(outgoing)
      else outgoing.end()
    })

  return {
    app: app.koa,
    fetch: (request) => (closing ? Promise.reject(new Error('The service is closed.')) : fetch(request)),
    async listen() {
      if (closing) throw new Error('The service is closed.')
      if (listening) throw new Error('The service listens already.')
      listening = listen(app, { host: settings.HOST, port: settings.PORT, keepAliveMs: settings.KEEP_ALIVE_S * 1000 })
      listening.catch(() => {
        listening = undefined
      })
      return (await listening.catch(explainListenError('PORT'))).address
    },
    close() {
      closing ??= (async () => {
        app.stop()
        await Promise.all([webhooks?.stop(), (await listening?.catch(() => undefined))?.stop()])
        // The program may never read the rest of a download.
        const limit = new AbortController()
        const late = delay(settings.DRAIN_TIMEOUT_MS, undefined, { signal: limit.signal }).catch(() => {})
        await Promise.race([Promise.all(inProgress), late])
        limit.abort()
        await storage.close()
      })()
      return closing
    },
  }
}
