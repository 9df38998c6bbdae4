/** Finds out at start how to reach the server: with or without TLS, directly or through a pooler, and what the pooler supports. */
import { Client, type ClientConfig } from 'pg'
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

const pidSql = 'select pg_backend_pid() as pid'

/** The server process; a transaction through a pooler may run in another one than the last. */
const pidOf = async (client: Client, name?: string): Promise<number> =>
  (await client.query({ ...(name && { name }), text: pidSql })).rows[0].pid

/** Databases that speak PostgreSQL's protocol, but lack what the triggers use. */
const refuseOthers = async (client: Client): Promise<void> => {
  const { version } = (await client.query('select version() as version')).rows[0]
  const [name] = /CockroachDB|-YB-/.exec(version) ?? []
  if (!name) return
  const product = name === '-YB-' ? 'YugabyteDB' : name
  throw new Error(
    `it is ${product}, which has no statement triggers with transition tables. Use PostgreSQL 15 or newer.`,
  )
}

/** Whether the reported process id is that of the server process: a pooler reports one that it made up. */
const isDirect = (config: ClientConfig): Promise<boolean> =>
  connected(config, async (client) => {
    await refuseOthers(client)
    return (await pidOf(client)) === (client as { processID?: number }).processID
  }).catch((error) => {
    if (refusesSettings(error)) return false
    throw error
  })

/** The first of the TLS options that the server accepts, and whether it is reached directly. */
const choose = async (address: Address, waitMs: number): Promise<{ tls: Tls; isDirect: boolean }> => {
  let refusal: unknown
  for (const tls of address.tls) {
    try {
      const config = { ...address.config(tls, { extra_float_digits: '1' }), connectionTimeoutMillis: waitMs }
      return { tls, isDirect: await isDirect(config) }
    } catch (error) {
      if (!refusesTls(error)) throw error
      refusal ??= error
    }
  }
  throw refusal
}

/** How often to test prepared statements: other clients of a busy pooler may take the process that we try to occupy. */
const attempts = 5

/** The name of a prepared statement is unknown to this server process, or known to it from another client. */
const isNotKept = /^(?:26000|42P05)$/

/**
 * Whether a pooler lets later transactions execute a prepared statement. A second client occupies the server process that prepared it,
 * so that the first one gets another process.
 */
const keepsStatements = async (client: Client, other: Client): Promise<boolean> => {
  for (let left = attempts; left > 0; left--) {
    const preparedBy = await pidOf(client, 'registry_probe')
    await other.query('begin')
    await pidOf(other)
    const executedBy = await pidOf(client, 'registry_probe')
    await other.query('commit')
    if (executedBy !== preparedBy) return true
  }
  // Every client has its own server process: the pooler is in session mode.
  return true
}

/** Tries transactions and prepared statements; throws if transactions are not possible. */
const probePooler = (config: ClientConfig): Promise<boolean> =>
  connected(config, (client) =>
    connected(config, async (other) => {
      await refuseOthers(other)
      await other.query('begin')
      await other.query('commit')
      return keepsStatements(client, other).catch((error: Error) => {
        // After a timeout, all connections of the pooler are in use, and nothing is known.
        if (isNotKept.test(codeOf(error)) || /timeout/.test(error.message)) return false
        throw error
      })
    }),
  ).catch((error: Error) => {
    if (!/statement pooling/.test(error.message)) throw error
    throw new Error('the pooler is in statement mode. Use pool_mode = transaction or session.')
  })

/** Finds out what a pooler supports; throws if the service cannot work through it. */
const throughPooler = async (
  address: Address,
  tls: Tls,
  { pool: { waitMs, preparedStatements = 'auto' }, warn }: ServerOptions,
): Promise<Server> => {
  if (address.options) {
    throw new Error('the pooler does not support "options" in the URL. Use ALTER ROLE … SET instead.')
  }
  const config = () => address.config(tls, {})
  const isKept = await probePooler({ ...config(), connectionTimeoutMillis: waitMs, query_timeout: waitMs })
  const advice = 'Set max_prepared_statements in PgBouncer 1.21 or newer, or use session mode.'
  if (!isKept && preparedStatements === 'on') {
    throw new Error(`PREPARED_STATEMENTS is on, but the pooler does not support prepared statements. ${advice}`)
  }
  if (!isKept && preparedStatements === 'auto') {
    warn(`The server parses every statement again because the pooler does not support prepared statements. ${advice}`)
  }
  return { config, isDirect: false, keepsStatements: isKept && preparedStatements !== 'off' }
}

/** Connects to the server and finds out how; an error's message completes the sentence "The database … cannot be used: …". */
export const reachServer = async (url: string, options: ServerOptions): Promise<Server> => {
  const address = addressOf(url)
  const { tls, isDirect } = await choose(address, options.pool.waitMs)
  if (!isDirect) return throughPooler(address, tls, options)
  return {
    config: (settings) => address.config(tls, settings),
    isDirect,
    keepsStatements: options.pool.preparedStatements !== 'off',
  }
}
