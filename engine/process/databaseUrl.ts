/** Parses PostgreSQL URLs as libpq does, and formats database URLs without user, password and parameters. */

/** Unless `product.ts` names another. */
export const defaultDatabaseUrl = 'sqlite:data/registry.sqlite'

/**
 * The "@" before the host is the last one, so that a password may have others. A "=" in the host or the name is probably one of
 * `host=… password=…`.
 */
const urlParts = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#@=]*)(?:\/([^?#@=]*))?(?:\?([^#]*))?$/s
const hostParts = /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/s

/** If a parameter other than user and password has an "@", it is probably the rest of a password with a "?". */
const isParameter = (pair: string): boolean => /^(?:user|password)=|^[\w.-]+(?:=[^@]*)?$/.test(pair)

/** These messages quote no part of the URL: what looks like a host may be a part of the password. */
const encodingAdvice =
  'In a user name or password, write "@" as %40, "/" as %2F, "?" as %3F, "#" as %23, ":" as %3A and "%" as %25.'

const decoded = (text = ''): string =>
  text.replaceAll(/(?:%[\da-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded)
    } catch {
      return encoded
    }
  })

const fileParameter = 'password_file'

/** A PostgreSQL URL with the file that has its password; other URLs as they are. */
export const withPasswordFile = (url: string, file: string): string =>
  file === '' || url.startsWith('sqlite:')
    ? url
    : `${url}${url.includes('?') ? '&' : '?'}${fileParameter}=${encodeURIComponent(file)}`

/** Parses the URL; throws an error whose message completes the sentence "The database … cannot be used: …". */
export const parsePostgresUrl = (url: string) => {
  const parts = urlParts.exec(url.trim())
  const [, login = '', hosts = '', database, query = ''] = parts ?? []
  if (!parts || !query.split('&').filter(Boolean).every(isParameter)) {
    throw new Error(`its URL does not look like postgres://USER:PASSWORD@HOST:5432/NAME. ${encodingAdvice}`)
  }
  const {
    host,
    port,
    user,
    password,
    dbname,
    [fileParameter]: passwordFile,
    ...parameters
  } = Object.fromEntries(new URLSearchParams(query))
  if (`${host ?? hosts}${port ?? ''}`.includes(',')) {
    throw new Error(
      'its URL names several hosts. Name one, such as a DNS name or a proxy that always leads to the primary.',
    )
  }
  const [, address, name, givenPort = ''] = hostParts.exec(hosts) ?? []
  const usedPort = port ?? givenPort
  if (usedPort !== '' && !(/^\d{1,5}$/.test(usedPort) && Number(usedPort) > 0 && Number(usedPort) < 65_536)) {
    throw new Error(`the port in its URL is not a number from 1 to 65535. ${encodingAdvice}`)
  }
  const colon = login.includes(':') ? login.indexOf(':') : login.length
  return {
    user: user ?? decoded(login.slice(0, colon)),
    password: password ?? decoded(login.slice(colon + 1)),
    /** The file with the password, if the URL has none itself. */
    ...(passwordFile !== undefined && { passwordFile }),
    /** A host name, an IP address, or the folder of a Unix socket. */
    host: host ?? address ?? decoded(name),
    port: usedPort,
    database: dbname ?? decoded(database),
    parameters,
  }
}

/** The parts of a PostgreSQL URL, decoded; the driver has a default for each missing one. */
export type PostgresUrl = ReturnType<typeof parsePostgresUrl>

const publicPostgresUrl = (url: string): string => {
  try {
    const { host, port, database } = parsePostgresUrl(url)
    const isSocket = host.startsWith('/')
    const publicHost = isSocket ? '' : host.includes(':') ? `[${host}]` : host
    const scheme = url.slice(0, url.indexOf(':'))
    return `${scheme}://${publicHost}${port && `:${port}`}/${database}${isSocket ? `?host=${host}` : ''}`
  } catch {
    return 'postgres://…'
  }
}

/** A path that looks like a URL is refused: it is probably that of a server, with a password. */
export const sqliteUrl = /^sqlite:(?!\s*\w+:\/)./s

/** The path in the URL of an SQLite database, or `:memory:`; undefined if it is the URL of another database. */
export const sqlitePath = (url: string): string | undefined =>
  url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined

/** A database URL that is safe to print; an unknown form is shown only if it cannot contain a password. */
export const publicDatabaseUrl = (url: string): string => {
  if (sqliteUrl.test(url)) return url
  if (/^postgres(?:ql)?:/i.test(url)) return publicPostgresUrl(url)
  return /^(?:\w+:\/\/)?[\w./\\-]*$/.test(url) ? url : '…'
}
