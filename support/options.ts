/** The command line of a script: its options, `--help`, and one-line errors that name the nearest known option. */
import { parseArgs } from 'node:util'
import { RegistryError } from '../engine/descriptor/registryError.js'
import { nearest } from '../engine/descriptor/nearest.js'
import { SettingsError } from '../engine/settings.js'
import { StorageError } from '../engine/storage/storage.js'
import { isInterrupted } from './cleanup.js'

export interface Option<T> {
  readonly about: string
  /** What stands for the value in the help; a flag has none. */
  readonly placeholder?: string
  readonly default: T
  /** The default as the help shows it. */
  readonly shown?: string | undefined
  /** What the value must be, for the message where it is not. */
  readonly takes: string
  /** Reads the value; undefined where it is wrong. */
  readonly read: (text: string) => T | undefined
}

interface Bounds {
  readonly least?: number
  readonly most?: number
  readonly shown?: string
}

/** An option that takes a whole number. */
export const wholeNumber = (
  about: string,
  preset: number,
  { least = 1, most = 10 ** 10, shown = String(preset) }: Bounds = {},
): Option<number> => ({
  about,
  placeholder: 'N',
  default: preset,
  shown,
  takes: `a whole number from ${least} to ${most}`,
  read(text) {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= least && value <= most ? value : undefined
  },
})

/** An option that takes a text; without a default it is required. */
export const text = (about: string, placeholder: string, preset?: string): Option<string> => ({
  about,
  placeholder,
  default: preset ?? '',
  shown: preset,
  takes: 'a value',
  read: (given) => given || undefined,
})

/** An option without a value. */
export const flag = (about: string): Option<boolean> => ({
  about,
  default: false,
  takes: 'no value',
  read: () => true,
})

type Options = Readonly<Record<string, Option<unknown>>>
type Values<O extends Options> = { readonly [Name in keyof O]: O[Name] extends Option<infer T> ? T : never }

export interface Command<O extends Options> {
  /** How it is called: `npm run seed`. */
  readonly name: string
  readonly about: string
  /** The one argument that is not an option. */
  readonly argument?: { readonly name: string; readonly about: string; readonly required: boolean }
  readonly options: O
  /** What else the help says. */
  readonly notes?: string
  readonly example: string
  /** What to say about an unknown option for which no known one is near. */
  readonly hint?: (name: string) => string
}

/** The command line is wrong; the message is one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command cannot do what it was asked to; the message is one line for whoever asked. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** The text that `--help` prints. */
export const helpOf = ({ name, about, argument, options, notes, example }: Command<Options>): string => {
  const optionLines = Object.entries(options).map(([option, { placeholder, about: what, shown }]): [string, string] => [
    `--${option}${placeholder ? ` ${placeholder}` : ''}`,
    shown === undefined ? what : `${what} (default: ${shown})`,
  ])
  const lines: [string, string][] = [
    ...(argument ? [[argument.name, argument.about] as [string, string]] : []),
    ...optionLines,
    ['--help', 'show this help'],
  ]
  const width = Math.max(...lines.map(([left]) => left.length))
  const isEmpty = optionLines.length === 0
  const shape = argument && (argument.required ? argument.name : `[${argument.name}]`)
  const call = [name, '--', shape, !isEmpty && '[options]'].filter(Boolean).join(' ')
  return [
    `Usage: ${isEmpty && !argument ? name : call}`,
    about,
    lines.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n'),
    ...(notes ? [notes] : []),
    `Example: ${example}`,
  ].join('\n\n')
}

const wantsHelp = (args: readonly string[]): boolean => {
  const [beforeRest] = [args.slice(0, args.includes('--') ? args.indexOf('--') : args.length)]
  return beforeRest.includes('--help') || beforeRest.includes('-h')
}

/** The values of a command line, or undefined where it asks for help; throws a UsageError where it is wrong. */
export const parseCommand = <O extends Options>(
  { argument, options, hint }: Command<O>,
  args: readonly string[],
): { values: Values<O>; argument: string | undefined } | undefined => {
  if (wantsHelp(args)) return undefined
  const types = Object.fromEntries(
    Object.entries(options).map(([name, { placeholder }]) => [name, { type: placeholder ? 'string' : 'boolean' }]),
  ) as Record<string, { type: 'string' | 'boolean' }>
  const { tokens } = parseArgs({ args: [...args], options: types, strict: false, allowPositionals: true, tokens: true })
  const values: Record<string, unknown> = {}
  let given: string | undefined
  for (const token of tokens) {
    if (token.kind === 'positional') {
      if (!argument || given !== undefined) throw new UsageError(`Unexpected argument "${token.value}". See --help.`)
      if (token.value.startsWith('-')) {
        throw new UsageError(`${argument.name} is "${token.value}", but it must not begin with "-".`)
      }
      given = token.value
    }
    if (token.kind !== 'option') continue
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined
    if (!option) {
      const near = nearest(token.name, [...Object.keys(options), 'help'])
      const advice = near ? `Did you mean --${near}?` : (hint?.(token.name) ?? 'See --help.')
      throw new UsageError(`Unknown option ${token.rawName}. ${advice}`)
    }
    const { value, inlineValue: isInline } = token
    const isMissing = option.placeholder && (value === undefined || (!isInline && value.startsWith('-')))
    if (isMissing) throw new UsageError(`--${token.name} needs a value: ${option.takes}.`)
    if (!option.placeholder && value !== undefined) throw new UsageError(`--${token.name} takes no value.`)
    const read = option.read(value ?? '')
    if (read === undefined) throw new UsageError(`--${token.name} is "${value}", but it must be ${option.takes}.`)
    values[token.name] = read
  }
  if (argument?.required && !given) throw new UsageError(`${argument.name} is missing. See --help.`)
  for (const [name, option] of Object.entries(options)) {
    values[name] ??= option.default
    if (option.placeholder && values[name] === '') throw new UsageError(`--${name} is missing. See --help.`)
  }
  return { values: values as Values<O>, argument: given }
}

const isExpected = (error: unknown): error is Error =>
  [UsageError, CommandError, SettingsError, RegistryError, StorageError].some((kind) => error instanceof kind)

/** Runs a command with its values; prints the help instead where that is asked for, and an expected error without its stack. */
export const runCommand = async <O extends Options>(
  command: Command<O>,
  run: (values: Values<O>, argument: string | undefined) => Promise<void>,
): Promise<void> => {
  try {
    const parsed = parseCommand(command, process.argv.slice(2))
    if (parsed) await run(parsed.values, parsed.argument)
    else console.log(helpOf(command))
  } catch (error) {
    if (isInterrupted()) return
    console.error(isExpected(error) ? error.message : error)
    process.exit(error instanceof UsageError ? 2 : 1)
  }
}
