/** A service on a new database, reached over HTTP; every response is checked against its OpenAPI document. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { Middleware } from 'koa'
import { type Logger, pino } from 'pino'
import { hasAccess } from '../../engine/contract/accessDocuments.js'
import { basePath, type Product } from '../../engine/contract/service.js'
import type { NamedHook } from '../../engine/descriptor/hookFiles.js'
import type { NamedOperation } from '../../engine/descriptor/operationFiles.js'
import type { Registry, Resource, RowValues, Value } from '../../engine/descriptor/registry.js'
import { createApp } from '../../engine/http/app.js'
import type { Credentials } from '../../engine/http/callers.js'
import { listen } from '../../engine/http/listen.js'
import type { OnRequest } from '../../engine/http/requestLog.js'
import { openStorage } from '../../engine/storage/open.js'
import type { PoolOptions } from '../../engine/storage/options.js'
import type { Storage } from '../../engine/storage/storage.js'
import { readBatches } from '../../support/bulkRows.js'
import { conformance, type ReceivedResponse } from '../../support/conformance.js'
import { storageOptions } from '../../support/storageOptions.js'
import { freshUrl } from './database.js'
import { product } from './testedProject.js'

export const token = 'the-write-token-of-the-tests'

/** The headers of a write. */
export const authorized = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }

export interface TestResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any
}

export interface Send {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
}

/** The issues of a 422, each as a text: its type, its place, and its line if it has one. */
export const issuesOf = ({ status, body, text }: TestResponse): string[] => {
  if (status !== 422) throw new Error(`The status is ${status}, not 422: ${text}`)
  const { issues, total = issues.length } = body.detail ? { issues: body.detail } : body.error.details
  if (total < issues.length) throw new Error(`There are ${issues.length} issues, but the total is ${total}.`)
  return issues.map(({ type, loc, line }: { type: string; loc: (string | number)[]; line?: number }) => {
    if (loc.some((part) => typeof part === 'string' && /^\d+$/.test(part)))
      throw new Error(`An index is a text: ${text}`)
    return [type, ...loc, ...(line === undefined ? [] : ['line', line])].join(' ')
  })
}

/** The address of the page that follows one. */
export const nextPage = ({ headers }: TestResponse): string | undefined =>
  /<([^>]*)>; rel="next"/.exec(String(headers['link'] ?? ''))?.[1]

/** Every row of a list, page by page. */
export const followPages = async (
  { send }: TestClient,
  url: string,
  { headers = {}, onPage }: { headers?: Record<string, string>; onPage?: (page: TestResponse) => unknown } = {},
): Promise<RowValues[]> => {
  const rows: RowValues[] = []
  for (let next: string | undefined = url; next !== undefined; ) {
    const page: TestResponse = await send(next, { headers })
    if (page.status !== 200) throw new Error(`${next}: the status is ${page.status}, not 200: ${page.text}`)
    await onPage?.(page)
    rows.push(...page.body.data)
    next = nextPage(page)
  }
  return rows
}

const agent = new Agent({ keepAlive: true })
const decoders: Record<string, (bytes: Buffer) => Buffer> = { br: brotliDecompressSync, gzip: gunzipSync }

/** Sends one request; the path is not normalised. */
const exchange = (address: string, path: string, { method = 'GET', headers = {}, body }: Send): Promise<TestResponse> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(address)
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const options = { hostname, port, path, method, headers: { ...length, ...headers }, agent }
    const sent = request(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      // A response that breaks off never ends.
      response.on('error', reject)
      response.on('end', () => {
        const bytes = Buffer.concat(chunks)
        const decode = bytes.length > 0 ? decoders[response.headers['content-encoding'] ?? ''] : undefined
        const text = (decode?.(bytes) ?? bytes).toString('utf8')
        const isJson = response.headers['content-type']?.startsWith('application/json') && text !== ''
        const parsed = isJson ? JSON.parse(text) : undefined
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parsed })
      })
    })
    sent.on('error', (error: Error & { code?: string }) => {
      // The server may have closed the idle connection just as it was reused.
      if (sent.reusedSocket && error.code === 'ECONNRESET')
        resolve(exchange(address, path, { method, headers, ...(body && { body }) }))
      else reject(error)
    })
    sent.end(body)
  })

/** Requests to a service. */
export interface TestClient {
  /** A request to a path under the host. */
  send(path: string, send?: Send): Promise<TestResponse>
  /** A read of a path under the base path. */
  get(path: string): Promise<TestResponse>
  /** A create with the token; a string is sent as it is. */
  create(resource: string, body: unknown, headers?: Record<string, string>): Promise<TestResponse>
  /** An update of a row, such as `leave/7`. */
  change(row: string, body: unknown, headers?: Record<string, string>): Promise<TestResponse>
  remove(row: string, headers?: Record<string, string>): Promise<TestResponse>
}

export const clientOf = (
  address: string,
  check = (_: ReceivedResponse): void => {},
  implicit: (path: string) => Record<string, string> = () => ({}),
): TestClient => {
  const send: TestClient['send'] = async (path, sent = {}) => {
    const isRead = sent.method === undefined || sent.method === 'GET' || sent.method === 'HEAD'
    const headers = { ...(isRead && implicit(path)), ...sent.headers }
    const response = await exchange(address, path, { ...sent, headers })
    check({
      method: sent.method ?? 'GET',
      path,
      status: response.status,
      header: (name) => response.headers[name],
      text: response.text,
    })
    return response
  }
  const write =
    (method: string) =>
    (path: string, body?: unknown, headers: Record<string, string> = {}) =>
      send(`${basePath}/v1/${path}`, {
        method,
        headers: { ...authorized, ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
  return {
    send,
    get: (path) => send(`${basePath}${path}`),
    create: write('POST'),
    change: write('PATCH'),
    remove: (row, headers) => write('DELETE')(row, undefined, headers),
  }
}

export interface TestService extends TestClient {
  readonly address: string
  /** Stores whole rows, like another program. */
  fill: Storage['fill']
  stats: Storage['stats']
  /** All rows of a table, as they are stored. */
  rows(resource: Resource): Promise<readonly RowValues[]>
  /** Deletes a row that nothing references. */
  erase(resource: Resource, id: Value): Promise<void>
}

const started: (() => Promise<void>)[] = []

/** Ends what a test has opened together with the services. */
export const onClose = (close: () => Promise<void>): void => {
  started.push(close)
}

/** Stops all services, for tests that start many of them. */
export const closeServices = async (): Promise<void> => {
  for (const close of started.splice(0)) await close()
}

const formType = 'application/x-www-form-urlencoded'

/** The cookie of somebody who has signed in to the explorer with a key, by default the write token. */
export const sessionOf = async (address: string, key = token): Promise<string> => {
  const headers = { 'content-type': formType, origin: address }
  const { headers: answered } = await exchange(address, '/explore/sign-in', {
    method: 'POST',
    headers,
    body: String(new URLSearchParams({ key })),
  })
  return String(answered['set-cookie']?.[0]).split(';')[0] as string
}

/** Sends a form of the explorer, as a browser does. */
export const postForm = (
  service: Pick<TestService, 'address' | 'send'>,
  path: string,
  values: Readonly<Record<string, string>>,
  headers: Record<string, string> = {},
): Promise<TestResponse> =>
  service.send(path, {
    method: 'POST',
    headers: { 'content-type': formType, accept: 'text/html', origin: service.address, ...headers },
    body: String(new URLSearchParams(values)),
  })

/** Starts a service, which ends with the test run. */
export const startService = async (
  settings: {
    registry?: Registry
    product?: Product
    token?: string | undefined
    explorer?: boolean
    url?: string
    pool?: PoolOptions
    readUrls?: readonly string[]
    derivedObjects?: boolean
    readTimeoutMs?: number
    maxDownloads?: number
    batch?: boolean
    credentials?: Credentials
    operations?: readonly NamedOperation[]
    hooks?: readonly NamedHook[]
    sessionSecret?: string
    middleware?: readonly Middleware[]
    onRequest?: OnRequest
    logger?: Logger
    warn?: (message: string) => void
    /** What the app gets instead of the storage. */
    wrapStorage?: (storage: Storage) => Storage
  } = {},
): Promise<TestService> => {
  // Most tests have a registry of their own, and need not load this one.
  const served = settings.registry ?? (await import('./tested.js')).registry
  const { pool, readTimeoutMs, warn } = { ...storageOptions, ...settings }
  const storage = await openStorage(served, settings.url ?? (await freshUrl()), {
    ...storageOptions,
    pool,
    readTimeoutMs,
    warn,
    ...(settings.readUrls && { readUrls: settings.readUrls }),
    ...(settings.derivedObjects !== undefined && { derivedObjects: settings.derivedObjects }),
  })
  const { middleware = [], onRequest } = settings
  const service = {
    product: { ...(settings.product ?? product), ...(settings.batch && { batch: true }) },
    registry: served,
    storage: settings.wrapStorage?.(storage) ?? storage,
    token: 'token' in settings ? settings.token : token,
    credentials: settings.credentials,
    operations: settings.operations,
    hooks: settings.hooks,
    sessionSecret: settings.sessionSecret,
    explorer: settings.explorer ?? false,
    maxDownloads: settings.maxDownloads,
    middleware,
  }
  const app = createApp(service, settings.logger ?? pino({ level: 'silent' }), onRequest)
  const { address, stop } = await listen(app, { host: '127.0.0.1', port: 0 })
  started.push(async () => {
    await stop()
    await storage.close()
  })
  const document = await exchange(address, `${basePath}/openapi.json`, {})
  // Whoever tests a resource reads it, whatever its descriptor says about access.
  const isGuarded = hasAccess(served) && settings.credentials === undefined
  const cookie = isGuarded && service.explorer && service.token ? await sessionOf(address) : undefined
  const implicit = (path: string): Record<string, string> => {
    if (!isGuarded) return {}
    return path.startsWith(basePath) ? { authorization: authorized.authorization } : cookie ? { cookie } : {}
  }
  return {
    ...clientOf(address, conformance(document.body, basePath), implicit),
    address,
    fill: (batches) => storage.fill(batches),
    stats: () => storage.stats(),
    rows: async (resource) => {
      const rows: RowValues[] = []
      for await (const batch of readBatches(storage, resource)) rows.push(...(batch.rows as RowValues[]))
      return rows
    },
    erase: async (resource, id) => {
      const outcome = await storage.table(resource).write({ kind: 'delete', id: String(id) })
      if (!('body' in outcome)) throw new TypeError(`${resource.path} ${id} is not deleted: ${JSON.stringify(outcome)}`)
    },
  }
}
