/** The driver's configuration for a PostgreSQL URL. */
import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import type { ClientConfig } from 'pg'
import { type PostgresUrl, parsePostgresUrl } from '../../process/databaseUrl.js'

export type Tls = false | ConnectionOptions

/** Session settings, by name. */
export type SessionSettings = Readonly<Record<string, string>>

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

/** The TLS options to try, in order. */
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

/** Session settings in the form of the server's command line. */
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

export interface Address {
  /** The session options in the URL. */
  readonly options: string
  /** The ways to connect, in the order in which they are tried. */
  readonly tls: readonly Tls[]
  /** The driver's configuration; session options of the URL come last and so override ours. */
  config(tls: Tls, settings: SessionSettings): ClientConfig
}

/** Parses the URL; throws an error whose message completes the sentence "The database … cannot be used: …". */
export const addressOf = (url: string): Address => {
  const { parameters, port, ...target } = parsePostgresUrl(url)
  const { options = '' } = parameters
  const others = Object.fromEntries(Object.entries(parameters).filter(([name]) => passedOn.includes(name)))
  return {
    options,
    tls: tlsChoices(target.host, parameters),
    config: (tls, settings) => ({
      application_name: 'resource-registry-engine',
      keepAlive: true,
      ...others,
      ...target,
      ...(port && { port: Number(port) }),
      ssl: tls,
      options: [asOptions(settings), options].filter(Boolean).join(' '),
    }),
  }
}
