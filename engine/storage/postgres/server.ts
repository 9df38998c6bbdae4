/** Finds out at start how to reach the server: with or without TLS, directly or through a pooler. Waits for one that is down. */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import type { ConnectionOptions } from 'node:tls'
import { Client, type ClientBase, type ClientConfig, DatabaseError } from 'pg'
import { type PostgresUrl, parsePostgresUrl, publicDatabaseUrl } from '../../process/databaseUrl.js'
import type { PoolOptions, StorageOptions } from '../options.js'
import { describeError, errorCode } from './errors.js'

export type SessionSettings = Readonly<Record<string, string>>

export interface Server {
  /** The driver's configuration of a connection. Settings are part of it if the connection keeps them. */
  config(settings: SessionSettings): ClientConfig
  /** Whether a connection is one session of the server. Through a pooler, each transaction may run in another session. */
  readonly isDirect: boolean
  /** Whether it lacks the triggers that derived objects need. */
  readonly isPlain: boolean
  /** Whether Citus has distributed tables, whose foreign keys cannot be deferred. */
  readonly isDistributed: boolean
  /** Whether prepared statements can be executed in later transactions. */
  readonly keepsStatements: boolean
}

interface ServerOptions extends Pick<StorageOptions, 'warn'> {
  readonly pool: Pick<PoolOptions, 'waitMs' | 'preparedStatements'>
}

type Tls = false | ConnectionOptions

/** Encrypted, but not protected against someone who redirects the connection. */
const unverified = { rejectUnauthorized: false }
const withoutHostName = { checkServerIdentity: () => undefined }

/** What each sslmode tries, in order, with the meaning that libpq gives it. */
const modes: Readonly<Record<string, (ca: string | undefined) => readonly Tls[]>> = {
  disable: () => [false],
  allow: () => [false, unverified],
  prefer: () => [unverified, false],
  require: (ca) => [ca ? { ca, ...withoutHostName } : unverified],
  'verify-ca'(ca) {
    if (ca) return [{ ca, ...withoutHostName }]
    throw new Error('sslmode=verify-ca needs sslrootcert, the path of the authority’s certificate. Or use verify-full.')
  },
  'verify-full': (ca) => [ca ? { ca } : {}],
}

const read = (path: string | undefined): string | undefined => (path ? readFileSync(path, 'utf8') : undefined)

const tlsChoices = (host: string, { sslmode, sslrootcert, sslcert, sslkey, ssl }: PostgresUrl['parameters']): Tls[] => {
  const preset = sslrootcert || sslcert || sslkey || ssl === 'true' || ssl === '1' ? 'verify-full' : 'disable'
  const mode = sslmode ?? preset
  const choices = Object.hasOwn(modes, mode) ? modes[mode] : undefined
  if (!choices) throw new Error(`sslmode is "${mode}"; it must be one of ${Object.keys(modes).join(', ')}`)
  // There is no TLS on a Unix socket.
  if (host.startsWith('/')) return [false]
  const [cert, key] = [read(sslcert), read(sslkey)]
  return choices(read(sslrootcert)).map((tls) => tls && { ...tls, ...(cert && { cert }), ...(key && { key }) })
}

const asOptions = (settings: SessionSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, String.raw`\$&`)}`)
    .join(' ')

/** Parameters of the URL that the driver knows by the same name. Others are libpq's or other programs'. */
const passedOn = [
  'application_name',
  'fallback_application_name',
  'client_encoding',
  'sslnegotiation',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
]

/** Editors and `echo` end a file with a line feed, which is not part of the password. */
const readPassword = async (file: string): Promise<string> => (await readFile(file, 'utf8')).replace(/\r?\n$/, '')

/** Parses the URL; throws an error whose message completes the sentence "The database … cannot be used: …". */
const parseAddress = (url: string) => {
  const { parameters, port, passwordFile, ...target } = parsePostgresUrl(url)
  const { options = '' } = parameters
  const passedParameters = Object.fromEntries(Object.entries(parameters).filter(([name]) => passedOn.includes(name)))
  return {
    /** The session options in the URL. */
    options,
    tls: tlsChoices(target.host, parameters),
    /** The driver's configuration; session options of the URL come last and so override ours. */
    config: (tls: Tls, settings: SessionSettings): ClientConfig => ({
      application_name: 'resource-registry-engine',
      keepAlive: true,
      ...passedParameters,
      ...target,
      // Read at each connection, so that a new password needs no restart.
      ...(passwordFile && !target.password && { password: () => readPassword(passwordFile) }),
      ...(port && { port: Number(port) }),
      ssl: tls,
      options: [asOptions(settings), options].filter(Boolean).join(' '),
    }),
  }
}

export const openClient = async (config: ClientConfig): Promise<Client> => {
  const client = new Client(config)
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (error) {
    client.end().catch(() => {})
    throw error
  }
}

/** The server process of a connection, which the driver's types leave out. A pooler reports one that it made up. */
export const serverProcess = (client: ClientBase): number | undefined => (client as { processID?: number }).processID

/** A database that speaks PostgreSQL's protocol, but lacks statement triggers with transition tables. */
const productWithoutTriggers = (version: string): string | undefined => {
  const [name] = /CockroachDB|-YB-|DSQL/.exec(version) ?? []
  return name === '-YB-' ? 'YugabyteDB' : name === 'DSQL' ? 'Aurora DSQL' : name
}

interface Probed {
  /** Whether the connection is one session of the server. */
  readonly isDirect: boolean
  readonly withoutTriggers: string | undefined
  readonly isDistributed: boolean
}

const probeSql = `select version(), pg_backend_pid() as pid, to_regclass('pg_catalog.pg_dist_partition') as citus`

/** A table that Citus manages, which can have no triggers. */
const citusTables = `select 1 from pg_dist_partition join pg_class on pg_class.oid = logicalrelid
  where relnamespace = current_schema()::regnamespace limit 1`

const probe = async (config: ClientConfig): Promise<Probed> => {
  const client = await openClient(config)
  try {
    await client.query('begin')
    const { version, pid, citus } = (await client.query(probeSql)).rows[0]
    const isDistributed = citus !== null && (await client.query(citusTables)).rows.length > 0
    await client.query('commit')
    const withoutTriggers =
      productWithoutTriggers(version) ?? (isDistributed ? 'Citus with distributed tables' : undefined)
    return { isDirect: pid === serverProcess(client), withoutTriggers, isDistributed }
  } catch (error) {
    if (!/statement pooling/.test((error as Error).message)) throw error
    throw new Error('the pooler is in statement mode. Use pool_mode = transaction or session.')
  } finally {
    await client.end()
  }
}

/** A pooler refuses session settings with a protocol violation. */
const refusesSettings = (error: unknown): boolean =>
  errorCode(error) === '08P01' && /startup parameter/.test((error as Error).message)

const noOptions = () => new Error('the pooler does not support "options" in the URL. Use ALTER ROLE … SET instead.')

/** The server refused this connection because it was encrypted, or because it was not. */
const refusesTls = (error: unknown): boolean =>
  errorCode(error) === '28000' || /SSL connection/.test((error as Error).message)

/** The first of the TLS options that the server accepts, and whether it is reached directly. */
const choose = async (
  address: ReturnType<typeof parseAddress>,
  waitMs: number,
): Promise<Probed & { readonly tls: Tls }> => {
  const limits = { connectionTimeoutMillis: waitMs, query_timeout: waitMs }
  let refusal: unknown
  for (const tls of address.tls) {
    try {
      const probed = await probe({ ...address.config(tls, { extra_float_digits: '1' }), ...limits }).catch((error) => {
        if (refusesSettings(error) && !address.options) return probe({ ...address.config(tls, {}), ...limits })
        throw error
      })
      return { tls, ...probed }
    } catch (error) {
      if (refusesSettings(error)) throw noOptions()
      if (!refusesTls(error)) throw error
      refusal ??= error
    }
  }
  throw refusal
}

/** Connects to the server and finds out how; an error's message completes the sentence "The database … cannot be used: …". */
export const reachServer = async (
  url: string,
  { pool: { waitMs, preparedStatements = 'auto' }, warn }: ServerOptions,
): Promise<Server> => {
  const address = parseAddress(url)
  const { tls, isDirect, withoutTriggers, isDistributed } = await choose(address, waitMs)
  if (withoutTriggers) {
    warn(
      `The server is ${withoutTriggers}, which has no statement triggers with transition tables: DERIVED_OBJECTS is false. See docs/postgres.md#without-derived-objects.`,
    )
  }
  if (!isDirect && address.options) throw noOptions()
  if (!isDirect && preparedStatements === 'auto') {
    warn(
      'The server parses every statement again, because it is reached through a pooler. If that supports prepared statements (PgBouncer 1.21 or newer with max_prepared_statements, or session mode), set PREPARED_STATEMENTS=on; otherwise off.',
    )
  }
  return {
    config: (settings) => address.config(tls, isDirect ? settings : {}),
    isDirect,
    isPlain: withoutTriggers !== undefined,
    isDistributed,
    keepsStatements: preparedStatements === 'on' || (isDirect && preparedStatements === 'auto'),
  }
}

/** The first pause between attempts, in milliseconds; each is twice as long as the previous one, up to the longest. */
const [firstPause, maxPause] = [100, 2_000]

/** A server may take this long to answer, in milliseconds, even if the start is to wait for less. */
const minWaitMs = 2_000

/** How long the server may be silent during a start that does not wait, in milliseconds. */
const silenceMs = 30_000

/** How often the wait is reported, in milliseconds. */
const reportMs = 10_000

/** Errors of a host that is down or starting, or whose name cannot be resolved yet. */
const absent =
  /^(?:ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT)$/

/** Whether a later attempt may succeed. A wrong password or an unknown database is a configuration error. */
const mayPass = (error: Error & { code?: string }): boolean => {
  const { code = '', message } = error
  // The server is starting or stopping, has ended the session, or has too many clients.
  if (error instanceof DatabaseError) return /^(?:57P0[1-35]|53300)$/.test(code)
  return absent.test(code) || /^(?:timeout expired|Query read timeout|Connection terminated)/.test(message)
}

/** Whether the server answers; an error of the server is an answer. */
const answers = (server: Server, waitMs: number): Promise<boolean> =>
  openClient({ ...server.config({}), connectionTimeoutMillis: waitMs }).then(
    (client) => {
      client.end().catch(() => {})
      return true
    },
    (error) => error instanceof DatabaseError,
  )

/**
 * Runs work that may take long, such as building an index; rejects once the server has not answered for `waitMs`, because a statement
 * on a network that loses every packet never ends.
 */
const whileAnswering = async <T>(server: Server, waitMs: number, work: Promise<T>): Promise<T> => {
  const ended = new AbortController()
  const watch = async (): Promise<never> => {
    for (let answered = performance.now(); ; ) {
      await setTimeout(waitMs / 4, undefined, { signal: ended.signal })
      const asked = performance.now()
      if (await answers(server, waitMs / 4)) answered = asked
      else if (performance.now() - answered > (waitMs * 3) / 4) {
        throw new Error(`the server has stopped answering during the start; waited ${waitMs} ms (DATABASE_WAIT_MS)`)
      }
    }
  }
  return Promise.race([work, watch()]).finally(() => ended.abort())
}

/**
 * Connects and sets up; repeats both while the server does not accept connections, or ends them. Rejects with the reason if that has
 * not succeeded within `startWaitMs`.
 */
export const retryUntilReachable = async <T>(
  url: string,
  options: StorageOptions,
  work: (server: Server) => Promise<T>,
): Promise<T> => {
  const { startWaitMs = 0, warn } = options
  const until = performance.now() + startWaitMs
  let reportAt = 0
  for (let pause = firstPause; ; pause = Math.min(2 * pause, maxPause)) {
    try {
      const leftMs = Math.max(minWaitMs, until - performance.now())
      const waitMs = startWaitMs === 0 ? options.pool.waitMs : Math.min(leftMs, options.pool.waitMs)
      const server = await reachServer(url, { ...options, pool: { ...options.pool, waitMs } })
      return await whileAnswering(server, Math.max(minWaitMs, startWaitMs || silenceMs), work(server))
    } catch (error) {
      const leftMs = until - performance.now()
      if (!mayPass(error as Error) || leftMs <= 0) throw error
      if (performance.now() >= reportAt) {
        const seconds = Math.ceil(leftMs / 1000)
        const reason = describeError(error as Error)
        warn(`Waiting up to ${seconds} s (DATABASE_WAIT_MS) for the database ${publicDatabaseUrl(url)}: ${reason}`)
        reportAt = performance.now() + reportMs
      }
      await setTimeout(Math.min(pause, leftMs))
    }
  }
}
