/** The URL of a PostgreSQL server: its connection parameters, and how it is shown without a password. */
import type { ClientConfig } from 'pg'
import { StorageError } from '../storage.js'

const modes = ['disable', 'require', 'verify-ca', 'verify-full']

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
  const { searchParams } = address
  const mode = searchParams.get('sslmode') ?? 'disable'
  if (!modes.includes(mode)) throw new StorageError(`sslmode is "${mode}"; it must be one of ${modes.join(', ')}`)
  // The driver then gives sslmode the meaning that libpq does.
  searchParams.set('uselibpqcompat', 'true')
  const given = searchParams.get('options')
  searchParams.delete('options')
  return {
    connectionString: address.href,
    ssl: false,
    options: [asOptions(settings), given].filter(Boolean).join(' '),
    application_name: 'resource-registry-engine',
    keepAlive: true,
  }
}
