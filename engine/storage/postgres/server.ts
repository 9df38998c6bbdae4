/** Finds out at start how to reach the server: with or without TLS, directly or through a pooler. */
import { Client, type ClientBase, type ClientConfig } from 'pg'
import type { PoolOptions, StorageOptions } from '../options.js'
import { type Address, addressOf, type SessionSettings, type Tls } from './address.js'
import { codeOf } from './errors.js'

/** How to connect to a server and run statements on it. */
export interface Server {
  /** The driver's configuration of a connection. Settings are part of it if the connection keeps them. */
  config(settings: SessionSettings): ClientConfig
  /** Whether a connection is one session of the server. Through a pooler, each transaction may run in another session. */
  readonly isDirect: boolean
  /** Whether prepared statements can be executed in later transactions. */
  readonly keepsStatements: boolean
}

interface ServerOptions extends Pick<StorageOptions, 'warn'> {
  readonly pool: Pick<PoolOptions, 'waitMs' | 'preparedStatements'>
}

/** A pooler refuses session settings with a protocol violation. */
const refusesSettings = (error: unknown): boolean =>
  codeOf(error) === '08P01' && /startup parameter/.test((error as Error).message)

const noOptions = () => new Error('the pooler does not support "options" in the URL. Use ALTER ROLE … SET instead.')

/** The server refused this connection because it was encrypted, or because it was not. */
const refusesTls = (error: unknown): boolean =>
  codeOf(error) === '28000' || /SSL connection/.test((error as Error).message)

/** Connects, works and disconnects. */
const connected = async <T>(config: ClientConfig, work: (client: Client) => Promise<T>): Promise<T> => {
  const client = new Client(config)
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end()
  }
}

/** The server process of a connection, which the driver's types leave out. A pooler reports one that it made up. */
export const processOf = (client: ClientBase): number | undefined => (client as { processID?: number }).processID

/** Databases that speak PostgreSQL's protocol, but lack what the triggers use. */
const refuseOthers = (version: string): void => {
  const [name] = /CockroachDB|-YB-/.exec(version) ?? []
  if (!name) return
  const product = name === '-YB-' ? 'YugabyteDB' : name
  throw new Error(
    `it is ${product}, which has no statement triggers with transition tables. Use PostgreSQL 15 or newer.`,
  )
}

/** Tries a transaction; returns whether the connection is one session of the server. */
const probe = (config: ClientConfig): Promise<boolean> =>
  connected(config, async (client) => {
    await client.query('begin')
    const { version, pid } = (await client.query('select version(), pg_backend_pid() as pid')).rows[0]
    await client.query('commit')
    refuseOthers(version)
    return pid === processOf(client)
  }).catch((error: Error) => {
    if (!/statement pooling/.test(error.message)) throw error
    throw new Error('the pooler is in statement mode. Use pool_mode = transaction or session.')
  })

/** The first of the TLS options that the server accepts, and whether it is reached directly. */
const choose = async (address: Address, waitMs: number): Promise<{ tls: Tls; isDirect: boolean }> => {
  const limits = { connectionTimeoutMillis: waitMs, query_timeout: waitMs }
  let refusal: unknown
  for (const tls of address.tls) {
    try {
      const isDirect = await probe({ ...address.config(tls, { extra_float_digits: '1' }), ...limits }).catch(
        (error) => {
          if (refusesSettings(error) && !address.options) return probe({ ...address.config(tls, {}), ...limits })
          throw error
        },
      )
      return { tls, isDirect }
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
  const address = addressOf(url)
  const { tls, isDirect } = await choose(address, waitMs)
  if (isDirect) {
    const config = (settings: SessionSettings) => address.config(tls, settings)
    return { config, isDirect, keepsStatements: preparedStatements !== 'off' }
  }
  if (address.options) throw noOptions()
  if (preparedStatements === 'auto') {
    warn(
      'The server parses every statement again, because it is reached through a pooler. If that supports prepared statements (PgBouncer 1.21 or newer with max_prepared_statements, or session mode), set PREPARED_STATEMENTS=on; otherwise off.',
    )
  }
  return { config: () => address.config(tls, {}), isDirect, keepsStatements: preparedStatements === 'on' }
}
