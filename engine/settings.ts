/** The settings of a deployment, read once from the environment; every wrong value is reported at once. */
import { z } from 'zod'
import { editDistance } from './descriptor/nearest.js'

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

const whole = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .refine((value) => value >= least && value <= most)

/** What a variable is for, how it is read, its default, what it takes, and the name it had before. */
interface Variable {
  readonly about: string
  readonly read: z.ZodType<unknown, string>
  readonly default: string
  readonly takes: string
  readonly formerly?: string
}

const variables = {
  PORT: {
    about: 'port to listen on',
    read: whole(0, 65_535),
    default: '3000',
    takes: 'a port number from 0 (any free port) to 65535',
  },
  HOST: {
    about: 'address to listen on',
    read: z.string().min(1),
    default: '127.0.0.1',
    takes: 'a host name or address to listen on',
  },
  API_TOKEN: {
    about: 'write token; without one writes are disabled',
    read: z.string().transform((token) => token.trim() || undefined),
    default: '',
    takes: 'the write token',
  },
  DATABASE_URL: {
    about: 'database',
    read: z.string().regex(/^(?:sqlite:|postgres(?:ql)?:\/\/).+$/s),
    default: 'sqlite:data/workforce.sqlite',
    takes: 'sqlite:PATH, sqlite::memory: or postgres://USER:PASSWORD@HOST:PORT/NAME',
  },
  DEMO_DATA: {
    about: 'whether the demo data is loaded into an empty database',
    read: z.enum(['true', 'false']).transform((word) => word === 'true'),
    default: 'true',
    takes: 'true or false',
  },
  LOG_LEVEL: {
    about: 'least level that is logged',
    read: z.enum(logLevels),
    default: 'info',
    takes: `one of ${logLevels.join(', ')}`,
  },
  METRICS_PORT: {
    about: 'port of the Prometheus metrics',
    read: z
      .string()
      .regex(/^\d{0,5}$/)
      .transform((port) => (port === '' ? undefined : Number(port)))
      .refine((port) => port === undefined || port <= 65_535),
    default: '',
    takes: 'a port number from 0 (any free port) to 65535, or nothing for no metrics',
  },
  POOL_SIZE: {
    about: 'PostgreSQL: connections of a process',
    read: whole(1, 1_000),
    default: '10',
    takes: 'a number of connections from 1 to 1000',
  },
  POOL_WAIT_MS: {
    about: 'PostgreSQL: longest wait for a connection',
    read: whole(1, 600_000),
    default: '3000',
    takes: 'a number of milliseconds from 1 to 600000',
  },
  POOL_IDLE_MS: {
    about: 'PostgreSQL: how long an unused connection is kept',
    read: whole(1, 86_400_000),
    default: '30000',
    takes: 'a number of milliseconds from 1 to 86400000',
  },
  CACHE_MB: {
    about: 'memory for cached responses of a process',
    read: whole(0, 65_536),
    default: '32',
    takes: 'a number of megabytes from 0 to 65536',
    formerly: 'READY_MB',
  },
  READ_TIMEOUT_MS: {
    about: 'longest time of a read',
    read: whole(1, 3_600_000),
    default: '10000',
    takes: 'a number of milliseconds from 1 to 3600000',
    formerly: 'STATEMENT_TIMEOUT_MS',
  },
  DRAIN_TIMEOUT_MS: {
    about: 'longest time to finish requests when stopping',
    read: whole(1, 3_600_000),
    default: '10000',
    takes: 'a number of milliseconds from 1 to 3600000',
  },
  WORKERS: {
    about: 'processes that share the port',
    read: whole(1, 256),
    default: '1',
    takes: 'a number of processes from 1 to 256',
  },
} satisfies Readonly<Record<string, Variable>>

type Variables = typeof variables
export type Settings = { [Name in keyof Variables]: z.output<Variables[Name]['read']> }

type Environment = Readonly<Record<string, string | undefined>>

const entries = Object.entries(variables) as [keyof Variables, Variable][]

export const settingNames: readonly string[] = Object.keys(variables)

/** Wrong settings, a line each. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/** The address of a database as it can be shown: without the user, the password and the parameters. */
export const shownDatabase = (url: string): string => {
  if (url.startsWith('sqlite:')) return url
  if (!URL.canParse(url)) return url.replace(/\/\/.*@/s, '//').replace(/\?.*$/s, '')
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname}`
}

/** A wrong value as it can be shown: a secret stays one. */
const shownValue = (name: string, value: string): string =>
  JSON.stringify(name === 'DATABASE_URL' ? shownDatabase(value) : value)

/** The settings of an environment, or a SettingsError that names every wrong one. */
export const readSettings = (environment: Environment): Settings => {
  const settings: Record<string, unknown> = {}
  const problems: string[] = []
  for (const [name, { read, default: preset, takes, formerly = name }] of entries) {
    const used = environment[name] ? name : formerly
    const given = environment[used] || preset
    const result = read.safeParse(given)
    if (result.success) settings[name] = result.data
    else problems.push(`${used} is ${shownValue(name, given)}, but it takes ${takes}`)
  }
  if (settings['DATABASE_URL'] === 'sqlite::memory:' && Number(settings['WORKERS']) > 1) {
    problems.push('WORKERS is more than 1, but sqlite::memory: belongs to one process; name a file')
  }
  if (problems.length > 0) throw new SettingsError(problems.join('\n'))
  return settings as Settings
}

/** How many letters may differ between a name and the setting that was meant: names as short as PORT are near to too many others. */
const tolerance = (name: string): number => (name.length >= 10 ? 2 : name.length >= 7 ? 1 : 0)

const isTypoOf = (given: string, name: string): boolean => {
  const [bare, wanted] = [given.toUpperCase().replaceAll('_', ''), name.replaceAll('_', '')]
  if (Math.abs(bare.length - wanted.length) > 2) return false
  const isSwapped = bare.length === wanted.length && [...bare].sort().join() === [...wanted].sort().join()
  const distance = editDistance(bare, wanted)
  return distance <= tolerance(name) || (isSwapped && distance === 1)
}

/** What in an environment is probably not meant as it is: a variable that is a typo away from a setting, and a former name. */
export const settingWarnings = (environment: Environment): string[] => {
  const names = entries.flatMap(([name, { formerly }]) => (formerly ? [name, formerly] : [name]))
  const former = entries.flatMap(([name, { formerly }]) =>
    formerly && environment[formerly] ? [`${formerly} is now called ${name}; the old name will stop working.`] : [],
  )
  const typos = Object.keys(environment).flatMap((given) => {
    if (names.includes(given)) return []
    // Whoever has set the right one has meant something else by the other.
    const meant = settingNames.find((name) => !environment[name] && isTypoOf(given, name))
    return meant ? [`${given} is not a setting. Did you mean ${meant}?`] : []
  })
  return [...former, ...typos]
}

/** The settings as a table for people. */
export const settingsHelp = (): string => {
  const width = Math.max(...settingNames.map((name) => name.length))
  const lines = entries.map(([name, { about, default: preset, takes }]) => {
    const shown = preset === '' ? 'not set' : preset
    return `  ${name.padEnd(width)}  ${about}: ${takes} (default: ${shown})`
  })
  return lines.join('\n')
}
