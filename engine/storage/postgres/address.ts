/** The URL of a PostgreSQL server: its connection parameters, and how it is shown without a password. */
import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import type { ClientConfig } from 'pg'
import { StorageError } from '../storage.js'

/** Parameters that are read here, with the meaning libpq gives them, and not by the driver. */
const ownParameters = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'options']

const modes = ['disable', 'require', 'verify-ca', 'verify-full']

/** TLS as `sslmode` requests it: encrypted, with a verified certificate, or with a verified host name too. */
const tlsOf = (parameters: URLSearchParams): ConnectionOptions | false => {
  const mode = parameters.get('sslmode') ?? 'disable'
  if (!modes.includes(mode)) throw new StorageError(`sslmode is "${mode}"; it must be one of ${modes.join(', ')}`)
  if (mode === 'disable') return false
  const file = (name: string) => {
    const path = parameters.get(name)
    return path === null ? undefined : readFileSync(path, 'utf8')
  }
  const [ca, cert, key] = [file('sslrootcert'), file('sslcert'), file('sslkey')]
  const isVerified = mode !== 'require' || ca !== undefined
  return {
    rejectUnauthorized: isVerified,
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
  }
}

/** Session settings in the form of the server's command line. */
const asOptions = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, String.raw`\$&`)}`)
    .join(' ')

/** The URL without user and password. */
export const shownAddress = (url: string): string => {
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname}`
}

/** The driver's configuration; session options of the URL come last and so override ours. */
export const configOf = (url: string, settings: Readonly<Record<string, string>>): ClientConfig => {
  const address = new URL(url)
  const given = address.searchParams.get('options')
  const ssl = tlsOf(address.searchParams)
  for (const name of ownParameters) address.searchParams.delete(name)
  return {
    connectionString: address.href,
    ssl,
    options: [asOptions(settings), given].filter(Boolean).join(' '),
    application_name: 'resource-registry-engine',
    keepAlive: true,
  }
}
