/** The command line of a script: its options, `--help`, and one-line errors that name the nearest known option. */
import { parseArgs } from 'node:util'
import { nearest } from '../engine/descriptor/nearest.js'
import { RegistryError } from '../engine/descriptor/registryError.js'
import { commandLine } from '../engine/process/commandLine.js'
import { publicDatabaseUrl } from '../engine/process/databaseUrl.js'
import { endProgressLine } from '../engine/process/progress.js'
import { SettingsError } from '../engine/process/settings.js'
import { SettingFileError } from '../engine/process/watchedFile.js'
import { StorageError } from '../engine/storage/failures.js'
import { isInterrupted } from './cleanup.js'
import './closedOutput.js'
import { describeFailure } from './failures.js'
import { stopWithShell } from './stopWithShell.js'

export interface Option<T> {
  readonly about: string
  /** The value's name in the help; a flag has none. */
  readonly placeholder?: string
  readonly default: T
  /** The default as the help shows it. */
  readonly shownDefault?: string | undefined
  /** Completes the sentence "it must be …". */
  readonly expected: string
  /** Returns undefined if the value is invalid. */
  readonly parse: (text: string) => T | undefined
  /** Whether it may be given several times; its values are then joined. */
  readonly isRepeated?: boolean
}

interface Bounds {
  readonly min?: number
  readonly max?: number
  readonly shownDefault?: string
}

export const integer = (
  about: string,
  preset: number,
  { min = 1, max = 10 ** 10, shownDefault = String(preset) }: Bounds = {},
): Option<number> => ({
  about,
  placeholder: 'N',
  default: preset,
  shownDefault,
  expected: `an integer from ${min} to ${max}`,
  parse(text) {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max ? value : undefined
  },
})

/** Required if it has no default. */
export const text = (about: string, placeholder: string, preset?: string): Option<string> => ({
  about,
  placeholder,
  default: preset ?? '',
  shownDefault: preset,
  expected: 'a text',
  parse: (value) => value || undefined,
})

export const optionalText = (
  about: string,
  placeholder: string,
  shownDefault?: string,
): Option<string | undefined> => ({
  ...text(about, placeholder),
  default: undefined,
  shownDefault,
})

/** May be given several times. */
export const texts = (about: string, placeholder: string): Option<readonly string[]> => ({
  about,
  placeholder,
  default: [],
  expected: 'a text',
  parse: (value) => (value ? [value] : undefined),
  isRepeated: true,
})

export const flag = (about: string): Option<boolean> => ({
  about,
  default: false,
  expected: 'omitted',
  parse: () => true,
})

type Options = Readonly<Record<string, Option<unknown>>>
type OptionValues<O extends Options> = { readonly [Name in keyof O]: O[Name] extends Option<infer T> ? T : never }

export interface Definition<O extends Options> {
  /** `seed`, which `npm run seed` and `npx resource-registry-engine seed` run. */
  readonly name: string
  readonly about: string
  /** The first argument that is not an option. */
  readonly argument?: { readonly name: string; readonly about: string; readonly required: boolean }
  /** The arguments after the first, any number of them. */
  readonly moreArguments?: { readonly name: string; readonly about: string }
  readonly options: O
  /** More text for the help. */
  readonly notes?: string
  /** The arguments of an example, and the settings before it. */
  readonly example: string
  readonly exampleSettings?: string
  /** The advice for an unknown option that resembles no known one. */
  readonly hint?: (name: string) => string
}

/** The command line is invalid; the message is one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command cannot be carried out; the message is one line for the user. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** Prints a warning below a line of progress. */
export const warnUser = (message: string): void => {
  endProgressLine()
  console.warn(message)
}

/** Lines of two columns. */
export const alignedLines = (lines: readonly (readonly [left: string, right: string])[]): string => {
  const width = Math.max(...lines.map(([left]) => left.length))
  return lines.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n')
}

/** The arguments of a command: `RESOURCE [FILE …]`. */
const argumentNames = ({ argument, moreArguments }: Definition<Options>): string[] => [
  ...(argument ? [argument.required ? argument.name : `[${argument.name}]`] : []),
  ...(moreArguments ? [`[${moreArguments.name} …]`] : []),
]

/** A command with its arguments: `import RESOURCE [FILE …]`. */
export const callOf = (definition: Definition<Options>): string =>
  [definition.name, ...argumentNames(definition)].join(' ')

/** The options of a command as they are written: `--rows N`. */
export const optionCalls = ({ options }: Definition<Options>): string[] =>
  Object.entries(options).map(([name, { placeholder }]) => `--${name}${placeholder ? ` ${placeholder}` : ''}`)

export const formatHelp = (definition: Definition<Options>): string => {
  const { name, about, argument, moreArguments, options, notes, example, exampleSettings } = definition
  const calls = optionCalls(definition)
  const optionLines = Object.values(options).map(({ about: what, shownDefault }, index): [string, string] => [
    calls[index] as string,
    shownDefault === undefined ? what : `${what} (default: ${shownDefault})`,
  ])
  const lines: [string, string][] = [
    ...[argument, moreArguments].flatMap((described): [string, string][] =>
      described ? [[described.name, described.about]] : [],
    ),
    ...optionLines,
    ['--help', 'show this help'],
  ]
  const usage = [...argumentNames(definition), ...(calls.length > 0 ? ['[options]'] : [])]
  return [
    `Usage: ${commandLine(name, usage.join(' '))}`,
    about,
    alignedLines(lines),
    ...(notes ? [notes] : []),
    `Example: ${[exampleSettings, commandLine(name, example)].filter(Boolean).join(' ')}`,
  ].join('\n\n')
}

const wantsHelp = (args: readonly string[]): boolean => {
  const end = args.indexOf('--')
  const options = end === -1 ? args : args.slice(0, end)
  return options.includes('--help') || options.includes('-h')
}

/** A value of the command line as messages print it: a URL may have a password. */
const safeValue = (value: string): string => (/:\/|@|password=/i.test(value) ? publicDatabaseUrl(value) : value)

/** Returns the values of a command line, or undefined if it asks for help; throws a UsageError if it is invalid. */
export const parseCommand = <O extends Options>(
  { argument, moreArguments, options, hint }: Definition<O>,
  args: readonly string[],
): { values: OptionValues<O>; argument: string | undefined; more: string[] } | undefined => {
  if (wantsHelp(args)) return undefined
  const types = Object.fromEntries(
    Object.entries(options).map(([name, { placeholder }]) => [name, { type: placeholder ? 'string' : 'boolean' }]),
  ) as Record<string, { type: 'string' | 'boolean' }>
  const { tokens } = parseArgs({ args: [...args], options: types, strict: false, allowPositionals: true, tokens: true })
  const values: Record<string, unknown> = {}
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') {
      const expected = positionals.length === 0 ? argument : moreArguments
      if (!expected) throw new UsageError(`Unexpected argument "${safeValue(token.value)}". See --help.`)
      if (token.value.startsWith('-')) {
        throw new UsageError(`${expected.name} is "${token.value}", but it must not begin with "-".`)
      }
      positionals.push(token.value)
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
    if (isMissing) throw new UsageError(`--${token.name} needs a value: ${option.expected}.`)
    if (!option.placeholder && value !== undefined) throw new UsageError(`--${token.name} does not accept a value.`)
    const before = values[token.name]
    if (before !== undefined && !option.isRepeated)
      throw new UsageError(`--${token.name} is given twice; give it once.`)
    const parsed = option.parse(value ?? '')
    if (parsed === undefined) {
      throw new UsageError(`--${token.name} is "${safeValue(value ?? '')}", but it must be ${option.expected}.`)
    }
    values[token.name] = option.isRepeated ? [...((before ?? []) as unknown[]), ...(parsed as unknown[])] : parsed
  }
  const [first, ...more] = positionals
  if (argument?.required && !first) throw new UsageError(`${argument.name} is missing. See --help.`)
  for (const [name, option] of Object.entries(options)) {
    values[name] ??= option.default
    if (option.placeholder && values[name] === '') throw new UsageError(`--${name} is missing. See --help.`)
  }
  return { values: values as OptionValues<O>, argument: first, more }
}

const isExpected = (error: unknown): error is Error =>
  [UsageError, CommandError, SettingsError, SettingFileError, RegistryError, StorageError].some(
    (kind) => error instanceof kind,
  )

type Run<O extends Options> = (
  values: OptionValues<O>,
  argument: string | undefined,
  more: readonly string[],
) => Promise<void>

/** A command: what its help says, and what it does with the values of a command line. */
export interface Command {
  readonly definition: Definition<Options>
  run(args: readonly string[]): Promise<void>
}

export const defineCommand = <O extends Options>(definition: Definition<O>, work: Run<O>): Command => ({
  definition,
  async run(args) {
    const parsed = parseCommand(definition, args)
    if (parsed) await work(parsed.values, parsed.argument, parsed.more)
    else console.log(formatHelp(definition))
  },
})

/** Runs a command; prints expected errors without their stack. */
export const runCommand = async ({ run }: Pick<Command, 'run'>, args = process.argv.slice(2)): Promise<void> => {
  stopWithShell()
  try {
    await run(args)
  } catch (error) {
    endProgressLine()
    if (isInterrupted()) return
    console.error(isExpected(error) ? error.message : (describeFailure(error) ?? error))
    process.exit(error instanceof UsageError ? 2 : 1)
  }
}
