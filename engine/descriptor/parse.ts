/** Parses the default export of a resource file into a descriptor and reports every syntax error. */
import type { Descriptor, Fields } from './define.js'
import { type FieldSpec, type Kind, optionNames } from './fields.js'
import { didYouMean } from './nearest.js'
import { formatValue } from './registryError.js'

type Report = (message: string, field?: string) => void
type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string' && value.trim() !== ''
const isNames: Check = (value) => Array.isArray(value) && value.every((name) => typeof name === 'string')
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

interface Property {
  readonly valid: Check
  /** Completes the sentence "it must be …". */
  readonly expected: string
  readonly optional?: true
}

const properties: Record<keyof Descriptor, Property> = {
  name: { valid: isText, expected: 'a string such as "Leave request"' },
  plural: { valid: isText, expected: 'a string such as "Leave requests"', optional: true },
  area: { valid: isText, expected: 'a string such as "People"' },
  about: { valid: isText, expected: 'a sentence', optional: true },
  table: {
    valid: (value) => typeof value === 'string' && /^(?!sqlite_|registry_)[a-z][a-z0-9_]{0,59}$/.test(value),
    expected:
      'lower-case letters, digits and underscores, such as "leave_requests", and must not begin with sqlite_ or registry_',
  },
  fields: { valid: isObject, expected: 'an object with a property for each field, such as { name: text() }' },
  required: { valid: isNames, expected: 'a list of field names, such as ["name"], or [] if every field may be null' },
  create: { valid: (value) => typeof value === 'boolean', expected: 'true or false' },
}

const isTrue: Check = (value) => value === true
const optionChecks: Record<string, Property> = {
  about: { valid: isText, expected: 'a sentence' },
  managed: {
    valid: (value) => value === true || typeof value === 'function',
    expected: 'true or a function such as now',
  },
  redacted: { valid: isTrue, expected: 'true or omitted' },
  filter: { valid: isTrue, expected: 'true or omitted' },
  unique: { valid: (value) => value === true || isNames(value), expected: 'true or a list of field names' },
  format: { valid: (value) => value === 'date' || value === 'timestamp', expected: '"date" or "timestamp"' },
  references: { valid: isText, expected: 'the path of a resource, such as "employees"' },
}

/** Returns the valid options and reports the others. */
const parseOptions = (
  name: string,
  kind: Kind,
  options: Record<string, unknown>,
  report: Report,
): Record<string, unknown> => {
  const valid: Record<string, unknown> = {}
  for (const [option, value] of Object.entries(options)) {
    const check = optionChecks[option]
    if (!optionNames[kind].includes(option)) {
      const hint = didYouMean(option, optionNames[kind]) || `; the options are ${optionNames[kind].join(', ')}`
      report(`unknown option "${option}" of ${kind}()${hint}`, name)
    } else if (check && value !== undefined && !check.valid(value)) {
      report(`${option} is ${formatValue(value)}, but it must be ${check.expected}`, name)
    } else valid[option] = value
  }
  return valid
}

const isSpec = (spec: unknown): spec is { kind: Kind; options: Record<string, unknown> } =>
  isObject(spec) && typeof spec['kind'] === 'string' && spec['kind'] in optionNames && isObject(spec['options'])

const parseFields = (fields: Record<string, unknown>, report: Report): Fields => {
  if (Object.keys(fields).length === 0) report('fields is empty; a resource needs at least one field besides id')
  const parsed = Object.entries(fields).map(([name, spec]): [string, FieldSpec] => {
    if (isSpec(spec)) return [name, { kind: spec.kind, options: parseOptions(name, spec.kind, spec.options, report) }]
    report(`is ${formatValue(spec)}, but it must be integer(), number() or text()`, name)
    return [name, { kind: 'text', options: {} }]
  })
  return Object.fromEntries(parsed)
}

/** Replaces invalid properties, so that the rest of the descriptor can be verified in the same run. */
const placeholder: Descriptor = { name: '', area: '', table: '', fields: {}, required: [], create: false }

/** Returns a descriptor made of the valid properties, or undefined if the export is not an object. */
export const parseDescriptor = (exported: unknown, report: Report): Descriptor | undefined => {
  if (!isObject(exported)) {
    report('the default export is not a descriptor; write "export default defineResource({ … })"')
    return undefined
  }
  for (const key of Object.keys(exported)) {
    if (!(key in properties)) report(`unknown property "${key}"${didYouMean(key, Object.keys(properties))}`)
  }
  const parsed: Record<string, unknown> = { ...placeholder }
  for (const [key, { valid, expected, optional }] of Object.entries(properties)) {
    const value = exported[key]
    if (value === undefined) {
      if (!optional) report(`${key} is missing; it must be ${expected}`)
    } else if (!valid(value)) report(`${key} is ${formatValue(value)}, but it must be ${expected}`)
    else parsed[key] = key === 'fields' ? parseFields(value as Record<string, unknown>, report) : value
  }
  // Without fields, every name in required would be reported as a second error.
  if (Object.keys(parsed['fields'] as object).length === 0) parsed['required'] = []
  return parsed as unknown as Descriptor
}
