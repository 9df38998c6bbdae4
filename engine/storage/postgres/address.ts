/** The address of a PostgreSQL server: what it says of the connection, and how it is named without its password. */
import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import type { ClientConfig } from 'pg'
import { StorageError } from '../storage.js'

/** The parameters of an address that are read here, by the meaning libpq gives them, and not by the driver. */
const ownParameters = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'options']

const modes = ['disable', 'require', 'verify-ca', 'verify-full']

/** TLS as `sslmode` asks for it: encrypted, from a known authority, or from that very host too. */
const tlsOf = (parameters: URLSearchParams): ConnectionOptions | false => {
  const mode = parameters.get('sslmode') ?? 'disable'
  if (!modes.includes(mode)) throw new StorageError(`sslmode is "${mode}", but it takes one of ${modes.join(', ')}`)
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

/** Settings of the session, as the server's command line would take them. */
const asOptions = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, String.raw`\$&`)}`)
    .join(' ')

/** The address as it can be shown. */
export const shownAddress = (url: string): string => {
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname}`
}

/** How the driver connects; what the address says of the session comes after our own settings, and so has the last word. */
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
