/** The settings of a deployment, read once from the environment; all invalid values are reported at once. */

import { existsSync } from 'node:fs'
import { z } from 'zod'
import { editDistance, nearest } from '../descriptor/nearest.js'
import { commandLine } from './commandLine.js'
import { defaultDatabaseUrl, publicDatabaseUrl, sqliteUrl, withPasswordFile } from './databaseUrl.js'
import { isSafeUrl } from './safeUrl.js'

const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .refine((value) => value >= min && value <= max)

const port = { schema: integer(0, 65_535), expected: 'a port number from 0 (any free port) to 65535' }
const optionalPort = {
  schema: port.schema.or(z.literal('').transform(() => undefined)),
  expected: `${port.expected}, or empty for no metrics`,
}
const host = { schema: z.string().min(1), expected: 'a host name or an IP address' }
const token = { schema: z.string().transform((text) => text.trim() || undefined), expected: 'any text' }
const databaseUrl = {
  schema: z.string().refine((url) => sqliteUrl.test(url) || /^postgres(?:ql)?:\/\/./s.test(url)),
  expected: 'sqlite:PATH, sqlite::memory: or postgres://USER:PASSWORD@HOST:PORT/NAME',
}
const postgresUrls = {
  schema: z
    .string()
    .transform((text) => text.split(',').filter(Boolean))
    .refine((urls) => urls.every((url) => /^postgres(?:ql)?:\/\/./s.test(url))),
  expected: 'postgres://USER:PASSWORD@HOST:PORT/NAME, or several separated by commas',
}
const optionalText = { schema: z.string().transform((text) => text || undefined), expected: 'any text' }
const secret = {
  schema: z
    .string()
    .refine((text) => text === '' || Buffer.byteLength(text) >= 32)
    .transform((text) => text || undefined),
  expected: 'a secret of at least 32 bytes',
}
const issuer = {
  schema: z
    .string()
    .refine((text) => text === '' || isSafeUrl(text))
    .transform((text) => text || undefined),
  expected: 'an https: address, or an http: one on this machine',
}
const readableFile = {
  schema: z.string().refine((path) => path === '' || existsSync(path)),
  expected: 'the path of a file that exists',
}
const boolean = {
  schema: z.enum(['true', 'false']).transform((word) => word === 'true'),
  expected: 'true or false',
}
const preparedStatements = {
  schema: z.enum(['auto', 'on', 'off']),
  expected: 'auto (on unless a pooler does not support them), on or off',
}
const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const logLevel = { schema: z.enum(levels), expected: `one of ${levels.join(', ')}` }
const amount = (unit: string, min: number, max: number) => ({
  schema: integer(min, max),
  expected: `a number of ${unit} from ${min} to ${max}`,
})
const milliseconds = (max: number, min = 1) => amount('milliseconds', min, max)
const [hourMs, dayMs] = [3_600_000, 86_400_000]

/** `expected` completes the sentence "it must be …". */
const variable = <T>(about: string, preset: string, type: { schema: z.ZodType<T, string>; expected: string }) => ({
  about,
  preset,
  ...type,
})

const variables = {
  PORT: variable('port to listen on', '3000', port),
  HOST: variable('address to listen on', '127.0.0.1', host),
  API_TOKEN: variable('write token, without which writes are disabled', '', token),
  API_KEYS_FILE: variable(`file with the API keys, to which \`${commandLine('key')}\` adds one`, '', readableFile),
  JWT_ISSUER: variable('issuer whose tokens are accepted, found by OpenID discovery', '', issuer),
  JWT_SECRET: variable('secret with which tokens are signed (HS256), instead of an issuer', '', secret),
  JWT_AUDIENCE: variable('audience that tokens must name, required with an issuer or a secret', '', optionalText),
  JWT_ROLES_CLAIM: variable(
    'claim with the roles of a token, a name or a path with dots (by default roles)',
    '',
    optionalText,
  ),
  SESSION_SECRET: variable(
    'secret that seals the sessions of the explorer, by default a new one at each start',
    '',
    secret,
  ),
  DATABASE_URL: variable('database to use', defaultDatabaseUrl, databaseUrl),
  DATABASE_PASSWORD_FILE: variable('PostgreSQL: file with the password, read at each new connection', '', readableFile),
  DATABASE_READ_URL: variable('PostgreSQL: replicas to read from', '', postgresUrls),
  DATABASE_WAIT_MS: variable(
    'PostgreSQL: longest wait of a start for a server that is down or silent',
    '60000',
    milliseconds(dayMs, 0),
  ),
  DEMO_DATA: variable('whether to load the demo data into a database whose tables are all empty', 'true', boolean),
  DERIVED_OBJECTS: variable('PostgreSQL: whether triggers and functions maintain totals and searches', 'true', boolean),
  EXPLORER: variable('whether to serve the explorer at /, which otherwise redirects to the docs', 'true', boolean),
  LOG_LEVEL: variable('lowest level that is logged', 'info', logLevel),
  METRICS_PORT: variable('port on which /metrics has the Prometheus metrics', '', optionalPort),
  POOL_SIZE: variable(
    'PostgreSQL: connections per process, beside one for version checks',
    '10',
    amount('connections', 1, 1_000),
  ),
  POOL_WAIT_MS: variable(
    'PostgreSQL: longest wait of a request for a connection or a lock',
    '3000',
    milliseconds(600_000),
  ),
  POOL_IDLE_MS: variable('PostgreSQL: how long an idle connection stays open', '30000', milliseconds(dayMs)),
  PREPARED_STATEMENTS: variable('PostgreSQL: whether statements are prepared', 'auto', preparedStatements),
  CACHE_MB: variable('memory per process for cached responses, or 0 for none', '32', amount('megabytes', 0, 65_536)),
  READ_TIMEOUT_MS: variable('time limit of a read, after which the response is 503', '10000', milliseconds(hourMs)),
  CHANGES_DAYS: variable(
    'how long the changes of resources with changes: true are kept',
    '30',
    amount('days', 1, 36_500),
  ),
  WEBHOOKS_FILE: variable('file with the subscribers that are told of changes', '', readableFile),
  WEBHOOKS_ALLOW_PRIVATE: variable(
    'whether subscribers may have private addresses, and http: instead of https:',
    'false',
    boolean,
  ),
  MAX_DOWNLOADS: variable(
    'downloads and large pages that a process sends at the same time, before more get 503',
    '1000',
    amount('downloads', 1, 100_000),
  ),
  KEEP_ALIVE_S: variable('how long an idle connection stays open', '65', amount('seconds', 1, 86_400)),
  DRAIN_DELAY_MS: variable(
    'when stopping: how long to keep serving while /readyz is 503',
    '0',
    milliseconds(hourMs, 0),
  ),
  DRAIN_TIMEOUT_MS: variable(
    'time limit for finishing requests when stopping, after which they are cut off',
    '10000',
    milliseconds(hourMs),
  ),
  WORKERS: variable('processes that share the port', '1', amount('processes', 1, 256)),
}

type Variables = typeof variables
export type Settings = { [Name in keyof Variables]: z.output<Variables[Name]['schema']> }

type Environment = Readonly<Record<string, string | undefined>>

const entries = Object.entries(variables)

export const settingNames: readonly string[] = Object.keys(variables)

export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

const publicValue = (name: string, value: string): string => {
  // What should be a path may be the password itself.
  if (/PASSWORD|SECRET|TOKEN|KEYS|ISSUER/.test(name)) return '"…"'
  return JSON.stringify(name.endsWith('_URL') ? value.split(',').map(publicDatabaseUrl).join() : value)
}

/** What a project says about its settings, in `product.ts`. */
interface ProjectDefaults {
  /** The default of DATABASE_URL. */
  readonly database?: string | undefined
  /** The default of API_KEYS_FILE, which need not exist yet. */
  readonly keysFile?: string | undefined
}

/** Reads the settings, with the defaults of the project. */
export const readSettings = (
  environment: Environment,
  { database = defaultDatabaseUrl, keysFile = '' }: ProjectDefaults = {},
): Settings => {
  const settings: Record<string, unknown> = {}
  const errors: string[] = []
  for (const [name, { schema, preset, expected }] of entries) {
    const text = environment[name] || (name === 'DATABASE_URL' ? database : preset)
    const result = schema.safeParse(text)
    if (result.success) settings[name] = result.data
    else errors.push(`${name} is ${publicValue(name, text)}, but it must be ${expected}`)
  }
  if (settings['DATABASE_URL'] === 'sqlite::memory:' && Number(settings['WORKERS']) > 1) {
    errors.push('WORKERS is more than 1, but sqlite::memory: cannot be shared between processes; use a file')
  }
  if (String(settings['DATABASE_READ_URL'] ?? '') !== '' && String(settings['DATABASE_URL']).startsWith('sqlite:')) {
    errors.push('DATABASE_READ_URL names replicas of PostgreSQL, but DATABASE_URL is a SQLite database')
  }
  const [hasIssuer, hasSecret] = [environment['JWT_ISSUER'], environment['JWT_SECRET']].map(Boolean)
  if (hasIssuer && hasSecret) errors.push('JWT_ISSUER and JWT_SECRET are both set; tokens come from one of the two')
  if ((hasIssuer || hasSecret) && !environment['JWT_AUDIENCE'])
    errors.push('JWT_AUDIENCE is missing; it is the audience that tokens must name')
  if (!hasIssuer && !hasSecret && environment['JWT_AUDIENCE'])
    errors.push('JWT_AUDIENCE is set, but neither JWT_ISSUER nor JWT_SECRET is')
  if (errors.length > 0) throw new SettingsError(errors.join('\n'))
  const { DATABASE_URL, DATABASE_READ_URL, DATABASE_PASSWORD_FILE: file, ...otherSettings } = settings as Settings
  return {
    ...otherSettings,
    API_KEYS_FILE: otherSettings.API_KEYS_FILE || keysFile,
    DATABASE_PASSWORD_FILE: file,
    DATABASE_URL: withPasswordFile(DATABASE_URL, file),
    DATABASE_READ_URL: DATABASE_READ_URL.map((url) => withPasswordFile(url, file)),
  }
}

/** The largest edit distance that counts as a typo; short names such as PORT resemble too many other variables. */
const tolerance = (name: string): number => (name.length >= 10 ? 2 : name.length >= 7 ? 1 : 0)

const letters = (name: string): string => name.toUpperCase().replaceAll('_', '')

/** Whether two neighbouring letters are swapped, as in PROT. */
const isSwapped = (word: string, name: string): boolean => {
  const [a, b] = [letters(word), letters(name)]
  return a.length === b.length && [...a].sort().join() === [...b].sort().join() && editDistance(a, b) === 1
}

const isTypo = (word: string, name: string): boolean =>
  editDistance(letters(word), letters(name)) <= tolerance(name) || isSwapped(word, name)

/** Shorter tokens can be guessed by brute force. */
const minTokenLength = 16

export const settingWarnings = (environment: Environment): string[] => {
  const warnings: string[] = []
  for (const unknown of Object.keys(environment).filter((name) => !settingNames.includes(name))) {
    // If the setting itself is present, a similar name is another program's; no program has one with swapped letters.
    const meant = settingNames.find((name) => (environment[name] ? isSwapped(unknown, name) : isTypo(unknown, name)))
    if (meant) warnings.push(`${unknown} is not a setting. Did you mean ${meant}?`)
  }
  const tokenLength = environment['API_TOKEN']?.trim().length ?? 0
  if (tokenLength > 0 && tokenLength < minTokenLength) {
    warnings.push(`API_TOKEN has fewer than ${minTokenLength} characters and is easy to guess; use a longer one.`)
  }
  return warnings
}

/** What each setting is, for the help and the documentation. */
export const settingRows = entries.map(([name, { about, preset, expected }]) => ({ name, about, preset, expected }))

export const settingsHelp = (): string => {
  const width = Math.max(...settingNames.map((name) => name.length))
  const lines = settingRows.map(
    ({ name, about, preset, expected }) =>
      `  ${name.padEnd(width)}  ${about}: ${expected} (default: ${preset || 'not set'})`,
  )
  return lines.join('\n')
}

/** The advice for a command-line option: settings are environment variables. */
export const settingHint = (option: string): string => {
  const setting = nearest(option.toUpperCase().replaceAll('-', '_'), settingNames) ?? 'PORT'
  return `Settings are environment variables: ${setting}=… ${commandLine('start')}`
}

/** Explains why the service cannot listen, and which setting to change. */
export const explainListenError =
  (setting: 'PORT' | 'METRICS_PORT') =>
  (error: Error & { readonly code?: string; readonly port?: number }): never => {
    const { code = '', port } = error
    const unknownHost = 'HOST is not an address of this machine; use 127.0.0.1 or 0.0.0.0.'
    const messages: Readonly<Record<string, string>> = {
      EADDRINUSE: `Port ${port} is in use; set ${setting} to another port, or to 0 for any free port.`,
      EACCES: `This user may not listen on port ${port}; set ${setting} to another port.`,
      EADDRNOTAVAIL: unknownHost,
      ENOTFOUND: unknownHost,
    }
    throw messages[code] ? new SettingsError(messages[code]) : error
  }
