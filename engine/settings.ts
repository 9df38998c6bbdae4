/** The settings of a deployment, read once from the environment; every wrong one is told at once. */
import { z } from 'zod'

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

const whole = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .refine((value) => value >= least && value <= most)

/** Each variable: how it is read, what it is where it is not set, and what it takes. */
const variables = {
  PORT: { read: whole(0, 65_535), default: '3000', takes: 'a port number from 0 (any free port) to 65535' },
  HOST: { read: z.string().min(1), default: '127.0.0.1', takes: 'a host name or address to listen on' },
  API_TOKEN: {
    read: z.string().transform((token) => token.trim() || undefined),
    default: '',
    takes: 'the write token',
  },
  DATABASE_URL: {
    read: z.string().regex(/^(?:sqlite:|postgres(?:ql)?:\/\/).+$/s),
    default: 'sqlite:data/workforce.sqlite',
    takes: 'sqlite:PATH, sqlite::memory: or postgres://USER:PASSWORD@HOST:PORT/NAME',
  },
  DEMO_DATA: {
    read: z.enum(['true', 'false']).transform((word) => word === 'true'),
    default: 'true',
    takes: 'true or false',
  },
  LOG_LEVEL: { read: z.enum(logLevels), default: 'info', takes: `one of ${logLevels.join(', ')}` },
  METRICS_PORT: {
    read: z
      .string()
      .regex(/^\d{0,5}$/)
      .transform((port) => (port === '' ? undefined : Number(port)))
      .refine((port) => port === undefined || port <= 65_535),
    default: '',
    takes: 'a port number from 0 (any free port) to 65535, or nothing for no metrics',
  },
  POOL_SIZE: { read: whole(1, 1_000), default: '10', takes: 'a number of connections from 1 to 1000' },
  POOL_WAIT_MS: { read: whole(1, 600_000), default: '3000', takes: 'a number of milliseconds from 1 to 600000' },
  POOL_IDLE_MS: { read: whole(1, 86_400_000), default: '30000', takes: 'a number of milliseconds from 1 to 86400000' },
  READY_MB: { read: whole(0, 65_536), default: '32', takes: 'a number of megabytes from 0 to 65536' },
  STATEMENT_TIMEOUT_MS: {
    read: whole(1, 3_600_000),
    default: '10000',
    takes: 'a number of milliseconds from 1 to 3600000',
  },
  WORKERS: { read: whole(1, 256), default: '1', takes: 'a number of processes from 1 to 256' },
}

type Variables = typeof variables
export type Settings = { [Name in keyof Variables]: z.output<Variables[Name]['read']> }

/** Wrong settings, a line each. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/** A wrong value as it can be shown: an address may carry a password. */
const shown = (name: string, value: string): string =>
  name === 'DATABASE_URL' ? JSON.stringify(value.replace(/\/\/[^@/]*@/, '//…@')) : JSON.stringify(value)

/** The settings of an environment, or a SettingsError that names every wrong one. */
export const readSettings = (environment: Readonly<Record<string, string | undefined>>): Settings => {
  const settings: Record<string, unknown> = {}
  const faults: string[] = []
  for (const [name, variable] of Object.entries(variables)) {
    const given = environment[name] || variable.default
    const result = variable.read.safeParse(given)
    if (result.success) settings[name] = result.data
    else faults.push(`${name} is ${shown(name, given)}, but it takes ${variable.takes}`)
  }
  if (settings['DATABASE_URL'] === 'sqlite::memory:' && Number(settings['WORKERS']) > 1) {
    faults.push('WORKERS is more than 1, but sqlite::memory: is one process’s own; name a file')
  }
  if (faults.length > 0) throw new SettingsError(faults.join('\n'))
  return settings as Settings
}
