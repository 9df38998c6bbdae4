/** Parses a field of the command line: `title:text!`, `organization_id:organizations`, `status:text,filter=Planned`. */

import { isName } from '../../engine/descriptor/identifiers.js'
import { foreignKinds } from '../../engine/descriptor/importError.js'
import { didYouMean } from '../../engine/descriptor/nearest.js'
import type { Registry, Value } from '../../engine/descriptor/registry.js'
import { UsageError } from '../../support/options.js'
import type { Clock, NewField } from './plan.js'

/** The types that are not references, and their options in a descriptor. */
const types = {
  text: { kind: 'text' },
  integer: { kind: 'integer' },
  number: { kind: 'number' },
  date: { kind: 'text', format: 'date' },
  timestamp: { kind: 'text', format: 'timestamp' },
  today: { kind: 'text', managed: 'today' },
  now: { kind: 'text', managed: 'now' },
} as const satisfies Record<string, Partial<NewField>>

type TypeName = keyof typeof types

/** Types of other systems, and what to write here. */
const foreignTypes: Readonly<Record<string, string>> = {
  ...foreignKinds,
  json: 'text',
  boolean: 'integer (1 or 0)',
  bool: 'integer (1 or 0)',
  datetime: 'timestamp',
}

const optionNames = ['filter', 'unique', 'redacted']

const clocks = {
  date: { clock: 'today', format: (time: string) => time.slice(0, 10), expected: 'today or a date such as 2026-01-31' },
  timestamp: {
    clock: 'now',
    format: (time: string) => `${time.slice(0, 19)}Z`,
    expected: 'now or a time such as 2026-01-31T09:30:00Z',
  },
} as const satisfies Record<string, { clock: Clock; format: (time: string) => string; expected: string }>

const parseDefault = (type: string, text: string): NewField['default'] => {
  const refuse = (expected: string): never => {
    throw new UsageError(`the default is "${text}", but it must be ${expected}`)
  }
  if (text === '') throw new UsageError('the default is empty; leave out the "=" or write a value after it')
  if (type === 'text') return text.isWellFormed() ? text : refuse('valid Unicode')
  if (type === 'date' || type === 'timestamp') {
    const { clock, format, expected } = clocks[type]
    if (text === clock) return { clock }
    const time = Date.parse(text)
    // Date.parse() accepts 2026-02-31, and other forms of a date.
    const isDate = !Number.isNaN(time) && format(new Date(time).toISOString()) === text
    return isDate ? text : refuse(expected)
  }
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN
  if (type === 'number') return Number.isFinite(value) ? value : refuse('a finite number')
  return Number.isSafeInteger(value) ? value : refuse('an integer between -9007199254740991 and 9007199254740991')
}

const checkName = (name: string): void => {
  if (isName(name)) return
  throw new UsageError(
    `the name "${name}" must be at most 60 lower-case letters, digits and underscores, such as from_date`,
  )
}

/** The type, or the reference to another resource or to the new one itself. */
const parseType = (type: string, registry: Registry, ownPath: string): Partial<NewField> & Pick<NewField, 'kind'> => {
  if (Object.hasOwn(types, type)) return types[type as TypeName]
  const paths = [...registry.map(({ path }) => path), ownPath]
  // Every reference is also a filter.
  if (paths.includes(type)) return { kind: 'integer', references: type, isFilter: true }
  const unknown = `unknown type "${type}"`
  if (Object.hasOwn(foreignTypes, type)) throw new UsageError(`${unknown}; use ${foreignTypes[type]}`)
  const byTable = registry.find(({ table }) => table === type)
  if (byTable) throw new UsageError(`"${type}" is a table; to reference its rows, write ${byTable.path}`)
  const all = [...Object.keys(types), ...paths]
  throw new UsageError(
    `${unknown}${didYouMean(type, all) || `; it must be ${Object.keys(types).join(', ')} or the path of a resource`}`,
  )
}

const checkOptions = (options: readonly string[], kind: NewField['kind']): void => {
  for (const option of options) {
    if (!optionNames.includes(option)) {
      const hint = didYouMean(option, optionNames) || `; it must be ${optionNames.join(', ')}`
      throw new UsageError(`unknown option "${option}"${hint}`)
    }
    if (kind === 'number' && option !== 'redacted') throw new UsageError(`a number cannot have the option ${option}`)
  }
}

const checkReference = (value: Value, path: string, registry: Registry): void => {
  const rows = registry.find((resource) => resource.path === path)?.demo ?? []
  if (rows.some(({ id }) => id === value)) return
  throw new UsageError(`the default is ${value}, but there is no demo row of ${path} with this id`)
}

const parse = (argument: string, registry: Registry, ownPath: string): NewField => {
  const equals = argument.indexOf('=')
  const head = equals === -1 ? argument : argument.slice(0, equals)
  const [name = '', described, ...excess] = head.split(':')
  if (!described || excess.length > 0) throw new UsageError('a field is NAME:TYPE, such as title:text')
  checkName(name)
  const isRequired = described.includes('!')
  const [type = '', ...options] = described.replaceAll('!', '').split(',')
  const parsed = parseType(type, registry, ownPath)
  checkOptions(options, parsed.kind)
  if (parsed.managed && equals !== -1) throw new UsageError('the service sets the value, so it cannot have a default')
  const preset = equals === -1 ? undefined : parseDefault(type, argument.slice(equals + 1))
  if (parsed.references && typeof preset === 'number') checkReference(preset, parsed.references, registry)
  return {
    ...parsed,
    name,
    // A text named status is always a filter.
    isFilter: parsed.isFilter || options.includes('filter') || (name === 'status' && parsed.kind === 'text'),
    isUnique: options.includes('unique'),
    isRedacted: options.includes('redacted'),
    isRequired: isRequired || parsed.managed !== undefined,
    ...(preset !== undefined && { default: preset }),
  }
}

/** Parses one field; throws a UsageError that quotes it. */
const parseField = (argument: string, registry: Registry, ownPath: string): NewField => {
  try {
    return parse(argument, registry, ownPath)
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`"${argument}": ${error.message}.`.replace('?.', '?'))
    throw error
  }
}

/** Parses all fields; throws a UsageError with the errors of all of them. */
export const parseFields = (given: readonly string[], registry: Registry, ownPath: string): NewField[] => {
  const problems: string[] = []
  const fields = new Map<string, NewField>()
  for (const argument of given) {
    try {
      const field = parseField(argument, registry, ownPath)
      if (fields.has(field.name)) problems.push(`"${argument}": the field "${field.name}" is given twice.`)
      fields.set(field.name, field)
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      problems.push(error.message)
    }
  }
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return [...fields.values()]
}

/** The syntax, for the help. */
export const fieldSyntax = `A field is NAME:TYPE, with "!" if it is required, options after "," and a default after "=":
  title:text!                    a required text
  hours:number                   a number; also integer, date and timestamp
  organization_id:organizations  a reference to a row of that resource, and a filter
  code:text!,unique              options: ${optionNames.join(', ')}
  status:text=Planned            a default; a date may be =today and a timestamp =now
  created:now                    set by the service; also today`
