/** The settings of a deployment, read once from the environment; every wrong value is reported at once. */
import { z } from 'zod'
import { editDistance } from './descriptor/nearest.js'

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .refine((value) => value >= min && value <= max)

interface Variable {
  readonly about: string
  readonly schema: z.ZodType<unknown, string>
  readonly default: string
  /** Completes the sentence "it must be …". */
  readonly expected: string
  /** A former name, which still works. */
  readonly alias?: string
}

const variables = {
  PORT: {
    about: 'port to listen on',
    schema: integer(0, 65_535),
    default: '3000',
    expected: 'a port number from 0 (any free port) to 65535',
  },
  HOST: {
    about: 'address to listen on',
    schema: z.string().min(1),
    default: '127.0.0.1',
    expected: 'a host name or an IP address',
  },
  API_TOKEN: {
    about: 'write token; without one writes are disabled',
    schema: z.string().transform((token) => token.trim() || undefined),
    default: '',
    expected: 'any text',
  },
  DATABASE_URL: {
    about: 'database to use',
    schema: z.string().regex(/^(?:sqlite:|postgres(?:ql)?:\/\/).+$/s),
    default: 'sqlite:data/workforce.sqlite',
    expected: 'sqlite:PATH, sqlite::memory: or postgres://USER:PASSWORD@HOST:PORT/NAME',
  },
  DEMO_DATA: {
    about: 'whether to load the demo data into an empty database',
    schema: z.enum(['true', 'false']).transform((word) => word === 'true'),
    default: 'true',
    expected: 'true or false',
  },
  LOG_LEVEL: {
    about: 'lowest level that is logged',
    schema: z.enum(logLevels),
    default: 'info',
    expected: `one of ${logLevels.join(', ')}`,
  },
  METRICS_PORT: {
    about: 'port of the Prometheus metrics',
    schema: z
      .string()
      .regex(/^\d{0,5}$/)
      .transform((port) => (port === '' ? undefined : Number(port)))
      .refine((port) => port === undefined || port <= 65_535),
    default: '',
    expected: 'a port number from 0 (any free port) to 65535, or empty for no metrics',
  },
  POOL_SIZE: {
    about: 'PostgreSQL: connections per process',
    schema: integer(1, 1_000),
    default: '10',
    expected: 'a number of connections from 1 to 1000',
  },
  POOL_WAIT_MS: {
    about: 'PostgreSQL: longest wait for a connection',
    schema: integer(1, 600_000),
    default: '3000',
    expected: 'a number of milliseconds from 1 to 600000',
  },
  POOL_IDLE_MS: {
    about: 'PostgreSQL: how long an idle connection stays open',
    schema: integer(1, 86_400_000),
    default: '30000',
    expected: 'a number of milliseconds from 1 to 86400000',
  },
  CACHE_MB: {
    about: 'memory per process for cached responses',
    schema: integer(0, 65_536),
    default: '32',
    expected: 'a number of megabytes from 0 to 65536',
    alias: 'READY_MB',
  },
  READ_TIMEOUT_MS: {
    about: 'time limit of a read',
    schema: integer(1, 3_600_000),
    default: '10000',
    expected: 'a number of milliseconds from 1 to 3600000',
    alias: 'STATEMENT_TIMEOUT_MS',
  },
  DRAIN_TIMEOUT_MS: {
    about: 'time limit for finishing requests when stopping',
    schema: integer(1, 3_600_000),
    default: '10000',
    expected: 'a number of milliseconds from 1 to 3600000',
  },
  WORKERS: {
    about: 'processes that share the port',
    schema: integer(1, 256),
    default: '1',
    expected: 'a number of processes from 1 to 256',
  },
} satisfies Readonly<Record<string, Variable>>

type Variables = typeof variables
export type Settings = { [Name in keyof Variables]: z.output<Variables[Name]['schema']> }

type Environment = Readonly<Record<string, string | undefined>>

const entries = Object.entries(variables) as [keyof Variables, Variable][]

export const settingNames: readonly string[] = Object.keys(variables)

/** Lists every invalid setting, one per line. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/** A database URL without its user, password and parameters, safe to print. */
export const publicDatabaseUrl = (url: string): string => {
  if (url.startsWith('sqlite:')) return url
  if (!URL.canParse(url)) return url.replace(/\/\/.*@/s, '//').replace(/\?.*$/s, '')
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname}`
}

const publicValue = (name: string, value: string): string =>
  JSON.stringify(name === 'DATABASE_URL' ? publicDatabaseUrl(value) : value)

/** Parses the environment; throws a SettingsError that names every invalid setting. */
export const readSettings = (environment: Environment): Settings => {
  const settings: Record<string, unknown> = {}
  const problems: string[] = []
  for (const [name, { schema, default: preset, expected, alias = name }] of entries) {
    const used = environment[name] ? name : alias
    const given = environment[used] || preset
    const result = schema.safeParse(given)
    if (result.success) settings[name] = result.data
    else problems.push(`${used} is ${publicValue(name, given)}, but it must be ${expected}`)
  }
  if (settings['DATABASE_URL'] === 'sqlite::memory:' && Number(settings['WORKERS']) > 1) {
    problems.push('WORKERS is more than 1, but sqlite::memory: cannot be shared between processes; use a file')
  }
  if (problems.length > 0) throw new SettingsError(problems.join('\n'))
  return settings as Settings
}

/** The largest edit distance of a typo; short names such as PORT resemble too many other variables. */
const tolerance = (name: string): number => (name.length >= 10 ? 2 : name.length >= 7 ? 1 : 0)

const isTypoOf = (given: string, name: string): boolean => {
  const [a, b] = [given.toUpperCase().replaceAll('_', ''), name.replaceAll('_', '')]
  if (Math.abs(a.length - b.length) > 2) return false
  const isSwapped = a.length === b.length && [...a].sort().join() === [...b].sort().join()
  const distance = editDistance(a, b)
  return distance <= tolerance(name) || (isSwapped && distance === 1)
}

/** Warns of former names of settings, and of variables that are probably misspelt settings. */
export const settingWarnings = (environment: Environment): string[] => {
  const names = entries.flatMap(([name, { alias }]) => (alias ? [name, alias] : [name]))
  const former = entries.flatMap(([name, { alias }]) =>
    alias && environment[alias] ? [`${alias} is now called ${name}; the old name will stop working.`] : [],
  )
  const typos = Object.keys(environment).flatMap((given) => {
    if (names.includes(given)) return []
    // If the setting itself is present, the similar name is another program's.
    const meant = settingNames.find((name) => !environment[name] && isTypoOf(given, name))
    return meant ? [`${given} is not a setting. Did you mean ${meant}?`] : []
  })
  return [...former, ...typos]
}

/** The table of settings in `npm start -- --help`. */
export const settingsHelp = (): string => {
  const width = Math.max(...settingNames.map((name) => name.length))
  const lines = entries.map(([name, { about, default: preset, expected }]) => {
    const shown = preset === '' ? 'not set' : preset
    return `  ${name.padEnd(width)}  ${about}: ${expected} (default: ${shown})`
  })
  return lines.join('\n')
}
